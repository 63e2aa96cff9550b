/** Runs that wait until what their windows require is met. They are not among the waiting runs of their dag. */
import type { RunRow } from '../../model/ids.ts';

export class RequiresTable {
  /** By when each is to be looked at next, on the clock that never jumps. */
  private readonly dueAt = new Map<RunRow, number>();

  get isUsed(): boolean {
    return this.dueAt.size > 0;
  }

  has(run: RunRow): boolean {
    return this.dueAt.has(run);
  }

  watch(run: RunRow, at: number): void {
    this.dueAt.set(run, at);
  }

  remove(run: RunRow): void {
    this.dueAt.delete(run);
  }

  /** When the next one is due; null when none waits. */
  next(): number | null {
    return this.dueAt.size === 0 ? null : Math.min(...this.dueAt.values());
  }

  /** Those that are due, up to so many. */
  due(mono: number, most: number): readonly RunRow[] {
    const found: RunRow[] = [];
    for (const [run, at] of this.dueAt) {
      if (at <= mono) found.push(run);
      if (found.length === most) break;
    }
    return found;
  }
}
