/** Events that wait for others: see `decide/trigger/hold-event.ts`. */
import type { Actor, DagId, Instant, RunUid, ShardNo, TenantId } from '../../model/ids.ts';
import { type HeldRef, heldName } from '../../model/trigger/held-ref.ts';

export interface HeldEvents extends HeldRef {
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  /** Of the run that will be. */
  readonly uid: RunUid;
  readonly isDebounced: boolean;
  /** Who sent the first event. */
  readonly actor: Actor;
  /**
   * When the last of them came; when the first came and when the run is made, by the same clock. Each event moves all three to the
   * clock of its own decision, so what is between them holds whatever became of the clock meanwhile.
   */
  heldAt: Instant;
  openedAt: Instant;
  firesAt: Instant;
  eventCount: number;
  /** JSON texts: of all events, or of the last one. */
  params: readonly (string | null)[];
  /** Its number in memory, for timers. */
  readonly no: number;
  /** When the first came, and when its timer is due, by the clock that never jumps. */
  openedMono: number;
  wakeAt: number;
}

export class HeldTable {
  private readonly byName = new Map<string, HeldEvents>();
  private readonly byNo = new Map<number, HeldEvents>();
  private readonly ofDag = new Map<DagId, Set<HeldEvents>>();
  private lastNo = 0;

  get(ref: HeldRef): HeldEvents | undefined {
    return this.byName.get(heldName(ref));
  }

  at(no: number): HeldEvents | undefined {
    return this.byNo.get(no);
  }

  all(): Iterable<HeldEvents> {
    return this.byNo.values();
  }

  /** Oldest first. */
  of(dagId: DagId): readonly HeldEvents[] {
    return [...(this.ofDag.get(dagId) ?? [])];
  }

  countOf(dagId: DagId): number {
    return this.ofDag.get(dagId)?.size ?? 0;
  }

  add(events: Omit<HeldEvents, 'no' | 'openedMono' | 'wakeAt'>): HeldEvents {
    this.lastNo += 1;
    const held: HeldEvents = { ...events, no: this.lastNo, openedMono: 0, wakeAt: 0 };
    this.byName.set(heldName(held), held);
    this.byNo.set(held.no, held);
    const siblings = this.ofDag.get(held.dagId);
    if (siblings === undefined) this.ofDag.set(held.dagId, new Set([held]));
    else siblings.add(held);
    return held;
  }

  remove(held: HeldEvents): void {
    this.byName.delete(heldName(held));
    this.byNo.delete(held.no);
    const siblings = this.ofDag.get(held.dagId);
    siblings?.delete(held);
    if (siblings?.size === 0) this.ofDag.delete(held.dagId);
  }
}
