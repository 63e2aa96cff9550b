/**
 * Tasks that a dag created within a minute. Known in memory only: a new owner begins at 0. A dag of a tenant with a quota of its
 * fan-out is counted in spans that are stored instead.
 */
import { FAN_OUT_MS } from '../../model/halt.ts';

export class FanOut {
  /** Of this minute, which began then by the clock that never jumps, and of the one before. */
  private count = 0;
  private before = 0;
  private since = Number.NEGATIVE_INFINITY;

  /** Counts so many more. Answers how many there are in the last minute: of the minute before, a share by the time that is left of it. */
  add(tasks: number, mono: number): number {
    const passed = mono - this.since;
    if (passed >= FAN_OUT_MS) {
      this.before = passed < 2 * FAN_OUT_MS ? this.count : 0;
      this.count = 0;
      this.since = passed < 2 * FAN_OUT_MS ? this.since + FAN_OUT_MS : mono;
    }
    this.count += tasks;
    return this.count + Math.floor(this.before * (1 - (mono - this.since) / FAN_OUT_MS));
  }

  reset(): void {
    this.count = 0;
    this.before = 0;
  }
}
