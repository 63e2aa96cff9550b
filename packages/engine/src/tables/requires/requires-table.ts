/**
 * Runs that wait until what their windows require is met. They are not among the waiting runs of their dag: others of it may pass them.
 * For `ifRunning` they count as runs that wait. All times are of the clock that never jumps.
 */
import type { DagId, RunRow } from '../../model/ids.ts';

interface Waiting {
  readonly dagId: DagId;
  /** When it is to be looked at next. */
  lookAt: number;
  /** When its time is over. */
  readonly endsAt: number;
}

export class RequiresTable {
  private readonly waiting = new Map<RunRow, Waiting>();
  private readonly ofDags = new Map<DagId, number>();
  /** None is due before this. Each turn asks for it, so it is kept, and found anew only when it has come. */
  private dueFrom = Number.POSITIVE_INFINITY;

  get isUsed(): boolean {
    return this.waiting.size > 0;
  }

  has(run: RunRow): boolean {
    return this.waiting.has(run);
  }

  /** A run of the dag waits. */
  isUsedBy(dagId: DagId): boolean {
    return this.ofDags.has(dagId);
  }

  add(run: RunRow, waiting: Waiting): void {
    this.remove(run);
    this.waiting.set(run, waiting);
    this.ofDags.set(waiting.dagId, (this.ofDags.get(waiting.dagId) ?? 0) + 1);
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
    const known = this.waiting.get(run);
    if (known === undefined) return;
    this.waiting.delete(run);
    const left = this.ofDags.get(known.dagId)! - 1;
    if (left === 0) this.ofDags.delete(known.dagId);
    else this.ofDags.set(known.dagId, left);
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
