/**
 * For which windows runs are. Columns, as in the table of runs: a hundred thousand windows may become runs within seconds, and an object
 * and an entry of a Map for each of them took a tenth of the time. They take no room until the first run for a window comes.
 */
import type { Instant, RunRow } from '../../model/ids.ts';
import type { RunWindow } from '../../model/stored.ts';
import { grown, type RunColumn } from '../column.ts';

/** Of a run that is for no window. No window is at this instant. */
const NONE = -1 as Instant;

export class RunWindows {
  /** One more than the instant, so that a fresh column means none. */
  private at: RunColumn = new Float64Array(0);
  private start: RunColumn = new Float64Array(0);
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(run: RunRow): boolean {
    return this.atOf(run) !== NONE;
  }

  get(run: RunRow): RunWindow | undefined {
    const at = this.atOf(run);
    return at === NONE ? undefined : { at, start: this.start[run] as Instant };
  }

  set(run: RunRow, at: Instant, start: Instant): void {
    if (run >= this.at.length) this.extend(run);
    if (this.at[run] === 0) this.count += 1;
    this.at[run] = at + 1;
    this.start[run] = start;
  }

  delete(run: RunRow): void {
    if (!this.has(run)) return;
    this.at[run] = 0;
    this.count -= 1;
  }

  private atOf(run: RunRow): Instant {
    return ((this.at[run] ?? 0) - 1) as Instant;
  }

  private extend(run: RunRow): void {
    const length = Math.max(64, 2 ** Math.ceil(Math.log2(run + 1)));
    this.at = grown(this.at, length);
    this.start = grown(this.start, length);
  }
}
