/**
 * Who has the keys of a dag that limits its runs by key, and who waits for them. A waiting run whose key is full is *held* here, apart
 * from the other waiting runs of its dag, so that those need not pass it again and again (I47). When a run leaves its key, the oldest
 * one that is held goes back to the waiting runs, where it is looked at again.
 */
import { type DagId, type RunId, type ShardNo, shardOfRun } from '../../model/ids.ts';
import { NumberHeap } from '../timer/number-heap.ts';

export class RunKey {
  /** They have the key. */
  readonly active = new Set<RunId>();
  /** They are open, and wait for it. */
  readonly waiting = new Set<RunId>();
  /** Of those that wait: entries may be out of date. */
  readonly held = new NumberHeap<RunId>();

  hasRoom(limit: number | undefined): boolean {
    return limit === undefined || this.active.size < limit;
  }
}

export class RunKeys {
  private readonly byDag = new Map<DagId, Map<string, RunKey>>();

  find(dagId: DagId, key: string): RunKey | undefined {
    return this.byDag.get(dagId)?.get(key);
  }

  /** Of one dag. */
  of(dagId: DagId): Iterable<readonly [string, RunKey]> {
    return this.byDag.get(dagId) ?? [];
  }

  add(dagId: DagId, key: string, runId: RunId, isActive: boolean): void {
    let ofDag = this.byDag.get(dagId);
    if (ofDag === undefined) this.byDag.set(dagId, (ofDag = new Map()));
    let found = ofDag.get(key);
    if (found === undefined) ofDag.set(key, (found = new RunKey()));
    (isActive ? found.active : found.waiting).add(runId);
    (isActive ? found.waiting : found.active).delete(runId);
  }

  remove(dagId: DagId, key: string, runId: RunId): void {
    const ofDag = this.byDag.get(dagId);
    const found = ofDag?.get(key);
    if (ofDag === undefined || found === undefined) return;
    found.active.delete(runId);
    found.waiting.delete(runId);
    if (found.held.size > 2 * found.waiting.size + 16) found.held.keep((one) => found.waiting.has(one));
    if (found.active.size + found.waiting.size > 0) return;
    ofDag.delete(key);
    if (ofDag.size === 0) this.byDag.delete(dagId);
  }

  /** How many are held, and the oldest of them. */
  heldOf(dagId: DagId): { readonly count: number; readonly oldest: RunId | undefined } {
    let count = 0;
    let oldest: RunId | undefined;
    for (const [, { held }] of this.of(dagId)) {
      count += held.size;
      const first = held.peek();
      if (first !== undefined && (oldest === undefined || first < oldest)) oldest = first;
    }
    return { count, oldest };
  }

  drop(shards: ReadonlySet<ShardNo>): void {
    for (const [dagId, ofDag] of this.byDag) {
      for (const { active, waiting } of ofDag.values()) {
        const [any] = active.size > 0 ? active : waiting;
        if (any !== undefined && shards.has(shardOfRun(any))) this.byDag.delete(dagId);
        break;
      }
    }
  }

  /** Plain values in a fixed order. */
  describe(shard: ShardNo): unknown {
    const rows = [...this.byDag].flatMap(([dagId, ofDag]) =>
      [...ofDag].flatMap(([key, { active, waiting }]) =>
        [...active, ...waiting].map((runId) => [dagId, key, runId, active.has(runId)] as const),
      ),
    );
    return rows.filter(([, , runId]) => shardOfRun(runId) === shard).sort((a, b) => a[2] - b[2]);
  }
}
