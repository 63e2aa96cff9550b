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

  get isUsed(): boolean {
    return this.waiting.size > 0;
  }

  has(run: RunRow): boolean {
    return this.waiting.has(run);
  }

  add(run: RunRow, waiting: Waiting): void {
    this.waiting.set(run, waiting);
  }

  isOver(run: RunRow, mono: number): boolean {
    return mono >= this.waiting.get(run)!.endsAt;
  }

  /** Not before so long, unless its time is over before. */
  lookAgain(run: RunRow, mono: number, afterMs: number): void {
    const one = this.waiting.get(run)!;
    one.lookAt = Math.min(mono + afterMs, one.endsAt);
  }

  remove(run: RunRow): void {
    this.waiting.delete(run);
  }

  /** When the next one is due; null when none waits. */
  next(): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const { lookAt } of this.waiting.values()) if (lookAt < next) next = lookAt;
    return this.waiting.size === 0 ? null : next;
  }

  /** Those that are due, up to so many. */
  due(mono: number, most: number): readonly RunRow[] {
    const found: RunRow[] = [];
    for (const [run, { lookAt }] of this.waiting) {
      if (lookAt <= mono) found.push(run);
      if (found.length === most) break;
    }
    return found;
  }
}
