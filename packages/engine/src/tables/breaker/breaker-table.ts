/** The breakers that hold tasks back, and the counts towards new ones. */

import type { DagId, ShardNo } from '../../model/ids.ts';
import type { Dag } from '../dag/dag.ts';
import type { Breaker } from './breaker.ts';
import { FailureWindows } from './failure-windows.ts';
import { RetryBudget } from './retry-budget.ts';

export class BreakerTable {
  private readonly byDag = new Map<DagId, Map<number, Breaker>>();
  readonly windows = new FailureWindows();
  readonly budget: RetryBudget;
  size = 0;

  constructor(retriesPerSecond: number) {
    this.budget = new RetryBudget(retriesPerSecond);
  }

  /** With 0: the dag's own. */
  get(dagId: DagId, fingerprint: number): Breaker | undefined {
    return this.size === 0 ? undefined : this.byDag.get(dagId)?.get(fingerprint);
  }

  set(breaker: Breaker): void {
    const ofDag = this.byDag.get(breaker.dagId) ?? new Map<number, Breaker>();
    if (!ofDag.has(breaker.fingerprint)) this.size += 1;
    ofDag.set(breaker.fingerprint, breaker);
    this.byDag.set(breaker.dagId, ofDag);
  }

  remove({ dagId, fingerprint }: Pick<Breaker, 'dagId' | 'fingerprint'>): void {
    const ofDag = this.byDag.get(dagId);
    if (ofDag?.delete(fingerprint) !== true) return;
    this.size -= 1;
    if (ofDag.size === 0) this.byDag.delete(dagId);
  }

  *all(): Generator<Breaker> {
    for (const ofDag of this.byDag.values()) yield* ofDag.values();
  }

  dropShard(shard: ShardNo): void {
    for (const breaker of [...this.all()]) if (breaker.shard === shard) this.remove(breaker);
  }

  /** A dag has come into memory: its own breaker, if one is open, holds its lanes. */
  attach(dag: Dag): void {
    dag.gate = this.get(dag.id, 0) ?? null;
  }
}
