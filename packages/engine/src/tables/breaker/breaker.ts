/**
 * One breaker in the working set. Closed ones are not there.
 *
 *   (closed) ── too many failures ──▶ open ── a probe succeeds ──▶ ramping ── nothing held any more ──▶ (closed)
 *                                     │ ▲ ▲                           │
 *                     a probe fails: ─┘ │ └──── it fails again ───────┘
 *                     twice the pause ──┘
 *
 * What it is (open, ramping, since when, with what pause) is stored; what it holds, how many may go and who is the probe is known in
 * memory: after a handover what waits comes to it again, and an attempt that was claimed since it opened was a probe.
 */
import type { BreakerSet } from '../../model/change.ts';
import type { DagId, Instant, RunId, ShardNo, TaskNo, TenantId } from '../../model/ids.ts';

/** A task whose retry waits, by its last attempt: it may have gone its way meanwhile. */
export interface HeldTask {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly fence: number;
}

export class Breaker {
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** 0 for the dag's own. */
  readonly fingerprint: number;
  state: 'open' | 'ramping' = 'open';
  pauseMs = 0;
  openedAt = 0 as Instant;
  /** Since when it is what it is: attempts claimed from here on were let through. */
  since = 0 as Instant;
  /** When it is looked at next, on the clock that never jumps. */
  wakeAt = 0;
  /** How many may go now. */
  allowance = 0;
  /** The task that was let through to see. */
  probe: HeldTask | null = null;
  /** How many seconds it has been letting go. */
  rampSteps = 0;
  /** Pauses in a row with nothing to try. */
  idlePauses = 0;
  private readonly waiting: HeldTask[] = [];
  private taken = 0;

  constructor(change: Pick<BreakerSet, 'shard' | 'tenantId' | 'dagId' | 'fingerprint'>) {
    this.shard = change.shard;
    this.tenantId = change.tenantId;
    this.dagId = change.dagId;
    this.fingerprint = change.fingerprint ?? 0;
  }

  /** Waiting, those that have gone meanwhile included. */
  get heldCount(): number {
    return this.waiting.length - this.taken;
  }

  hold(task: HeldTask): void {
    this.waiting.push(task);
  }

  /** The one that has waited longest. */
  takeNext(): HeldTask | undefined {
    const next = this.waiting[this.taken];
    if (next === undefined) return undefined;
    this.taken += 1;
    // Each entry is moved once for every time the row has doubled.
    if (this.taken > 1_024 && this.taken * 2 > this.waiting.length) {
      this.waiting.splice(0, this.taken);
      this.taken = 0;
    }
    return next;
  }

  /** One goes, if one may. */
  tryPass(): boolean {
    if (this.allowance <= 0) return false;
    this.allowance -= 1;
    return true;
  }

  isProbe(runId: number, taskNo: number): boolean {
    return this.probe !== null && this.probe.runId === runId && this.probe.taskNo === taskNo;
  }
}
