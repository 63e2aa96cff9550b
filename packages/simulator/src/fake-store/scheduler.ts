/**
 * All the time and chance that the fake world has. One seed gives one order of events: nothing in the fake store reads a
 * clock, sets a timer or draws a number in any other way.
 */
export interface SimScheduler {
  /** Milliseconds of simulated time. Never falls. */
  now(): number;
  /** Runs later, in order of time, and among equals in order of calling. `what` is for the trace. */
  after(ms: number, what: string, run: () => void): void;
  /** In [0, 1). */
  random(): number;
}
