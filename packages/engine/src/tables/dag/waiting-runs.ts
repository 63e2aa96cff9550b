/**
 * Runs of a dag that wait to be admitted. Entries may be out of date: a run may have been cancelled since. Those that must have the dag
 * for themselves, as their window's schedule wanted it, are kept apart once that is known, so that the others need not pass them again and
 * again (I47).
 */
import type { RunId } from '../../model/ids.ts';
import { NumberHeap } from '../timer/number-heap.ts';

export class WaitingRuns {
  private readonly any = new NumberHeap<RunId>();
  private readonly alone = new NumberHeap<RunId>();

  get size(): number {
    return this.any.size + this.alone.size;
  }

  push(runId: RunId): void {
    this.any.push(runId);
  }

  /** The oldest one; of those only that may run beside others, as far as that is known, unless the dag has no active run. */
  peek(isDagIdle: boolean): RunId | undefined {
    return this.heap(isDagIdle).peek();
  }

  pop(isDagIdle: boolean): void {
    this.heap(isDagIdle).pop();
  }

  /** The oldest one that may run beside others may not. */
  keepApart(): void {
    const runId = this.any.pop();
    if (runId !== undefined) this.alone.push(runId);
  }

  /** Some of them. */
  first(most: number): readonly RunId[] {
    return [...this.any.first(most), ...this.alone.first(most)];
  }

  /** Drops all others. */
  keep(isWanted: (runId: RunId) => boolean): void {
    this.any.keep(isWanted);
    this.alone.keep(isWanted);
  }

  private heap(isDagIdle: boolean): NumberHeap<RunId> {
    const oldest = isDagIdle ? this.alone.peek() : undefined;
    return oldest !== undefined && oldest < (this.any.peek() ?? Number.POSITIVE_INFINITY) ? this.alone : this.any;
  }
}
