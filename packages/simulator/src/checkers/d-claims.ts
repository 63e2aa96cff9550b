/** What is known of each claim at its worker, for the checkers of dispatch. */
import {
  type ClaimRef,
  NO_TRAITS,
  type NodeId,
  type ReportedOutcome,
  type TenantId,
  type WorkerId,
  type WorkerTraits,
} from '@signalbox/engine';
import type { Happening } from '../world/happening.ts';

const HEARD_KEPT = 20;

interface ClaimSeen {
  readonly workerId: WorkerId;
  startedAt: number | null;
  refusedAt: number | null;
  finished: { readonly outcome: ReportedOutcome; readonly output: string | null } | null;
  verdict: 'accepted' | 'stale' | null;
  /** Nodes that were told, by a heartbeat that reached them, that the worker holds it. */
  readonly shownTo: Map<NodeId, number>;
}

export interface WorkerSeen {
  readonly workerId: WorkerId;
  readonly slots: number;
  readonly queues: readonly string[];
  readonly tenants: readonly TenantId[] | null;
  readonly traits: WorkerTraits;
  end: { readonly what: 'died' | 'left'; readonly at: number } | null;
  drainsSince: number | null;
  /** When nodes heard of it, the last few times each. */
  readonly heardBy: Map<NodeId, number[]>;
}

export class Claims {
  readonly workers = new Map<WorkerId, WorkerSeen>();
  readonly #claims = new Map<string, ClaimSeen>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  of(workerId: WorkerId, { runId, taskNo, fence }: Pick<ClaimRef, 'runId' | 'taskNo' | 'fence'>): ClaimSeen {
    const key = `${workerId} ${runId}/${taskNo}/${fence}`;
    let seen = this.#claims.get(key);
    if (seen === undefined) {
      seen = { workerId, startedAt: null, refusedAt: null, finished: null, verdict: null, shownTo: new Map() };
      this.#claims.set(key, seen);
    }
    return seen;
  }

  see(happening: Happening): void {
    const now = this.#now();
    if (happening.kind === 'heard') {
      const { workerId, nodeId, agoMs, holds } = happening;
      const worker = this.workers.get(workerId);
      if (worker !== undefined) {
        worker.heardBy.set(nodeId, [now - agoMs, ...(worker.heardBy.get(nodeId) ?? [])].slice(0, HEARD_KEPT));
      }
      for (const claim of holds) this.of(workerId, claim).shownTo.set(nodeId, now);
      return;
    }
    if (happening.kind !== 'worker') return;
    const { workerId, claim } = happening;
    if (happening.what === 'began') {
      const { slots, queues, tenants, traits = NO_TRAITS } = happening;
      const worker = { workerId, slots, queues, tenants, traits, end: null, drainsSince: null, heardBy: new Map() };
      this.workers.set(workerId, worker);
    }
    const worker = this.workers.get(workerId);
    if (worker !== undefined && (happening.what === 'died' || happening.what === 'left')) {
      worker.end = { what: happening.what, at: now };
    }
    if (worker !== undefined && happening.what === 'drains') worker.drainsSince = now;
    if (claim === null) return;
    const seen = this.of(workerId, claim);
    if (happening.what === 'started') seen.startedAt = now;
    if (happening.what === 'refused') seen.refusedAt = now;
    if (happening.what === 'finished') seen.finished = { outcome: happening.outcome, output: happening.output };
    if (happening.what === 'verdict') seen.verdict = happening.verdict;
  }
}
