import type { AttemptSlot, RunRow } from '../../model/ids.ts';
import type { Pace } from './pace.ts';

/** Data about speculative attempts besides their rows. Nothing of it is stored. */
export class Speculation {
  /** How many speculative attempts a run has. */
  private readonly counts = new Map<RunRow, number>();
  /** Attempts that take too long, and since when they are known to: a speculative one begins once a worker has room. */
  readonly wanted = new Map<AttemptSlot, number>();
  /** How long the tasks of a run take: by run, then by number in the spec. */
  readonly paces = new Map<RunRow, Map<number, Pace>>();

  countOf(run: RunRow): number {
    return this.counts.get(run) ?? 0;
  }

  count(run: RunRow, by: 1 | -1): void {
    const count = this.countOf(run) + by;
    if (count === 0) this.counts.delete(run);
    else this.counts.set(run, count);
  }

  /** What is left once nothing runs (I73). */
  get size(): number {
    return this.counts.size + this.wanted.size + this.paces.size;
  }
}
