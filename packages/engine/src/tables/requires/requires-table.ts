/**
 * Runs that wait until what their windows require is met. They are not among the waiting runs of their dag. All times are of the
 * clock that never jumps.
 */
import type { RunRow } from '../../model/ids.ts';

interface Waiting {
  /** When it is to be looked at next. */
  lookAt: number;
  /** When its time is over. */
  readonly endsAt: number;
}

export class RequiresTable {
  private readonly waiting = new Map<RunRow, Waiting>();
  /** None is due before this. Each turn asks for it, so it is kept, and found anew only when it has come. */
  private dueFrom = Number.POSITIVE_INFINITY;

  get isUsed(): boolean {
    return this.waiting.size > 0;
  }

  has(run: RunRow): boolean {
    return this.waiting.has(run);
  }

  add(run: RunRow, waiting: Waiting): void {
    this.waiting.set(run, waiting);
    this.dueFrom = Math.min(this.dueFrom, waiting.lookAt);
  }

  isOver(run: RunRow, mono: number): boolean {
    return mono >= this.waiting.get(run)!.endsAt;
  }

  /** Not before so long, unless its time is over before. */
  lookAgain(run: RunRow, mono: number, afterMs: number): void {
    const one = this.waiting.get(run)!;
    one.lookAt = Math.min(mono + afterMs, one.endsAt);
    this.dueFrom = Math.min(this.dueFrom, one.lookAt);
  }

  remove(run: RunRow): void {
    this.waiting.delete(run);
  }

  /** When somebody must look; null when none waits. At that time it may turn out that none is due yet. */
  next(): number | null {
    return this.waiting.size === 0 ? null : this.dueFrom;
  }

  /** Those that are due, up to so many. */
  due(mono: number, most: number): readonly RunRow[] {
    const found: RunRow[] = [];
    if (mono < this.dueFrom) return found;
    let next = Number.POSITIVE_INFINITY;
    for (const [run, { lookAt }] of this.waiting) {
      next = Math.min(next, lookAt);
      if (lookAt <= mono) found.push(run);
      if (found.length === most) return found;
    }
    this.dueFrom = next;
    return found;
  }
}
