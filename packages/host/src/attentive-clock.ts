/**
 * The clock that the host goes by. It never jumps, and stands still while this process does: stopped, collecting, asleep.
 * Whoever was not heard because nobody listened must not lose his lease for it (I25); what reached us meanwhile is read in the
 * moment in which we go on, and time begins to count again with that.
 */
import type { MonoMs } from '@signalbox/engine';
import type { Clock } from './ports.ts';

/** How often the process shows itself that it runs. */
const LOOK_MS = 250;
/** Of a longer gap between two looks only this much counts. */
const LONGEST_GAP_MS = 1_000;

export class AttentiveClock implements Clock {
  private readonly clock: Clock;
  private lastAt: number;
  private lostMs = 0;
  private cancel: (() => void) | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
    this.lastAt = clock.mono();
  }

  start(): void {
    this.cancel = this.clock.after(LOOK_MS, () => {
      this.mono();
      this.start();
    });
  }

  stop(): void {
    this.cancel?.();
  }

  wall(): ReturnType<Clock['wall']> {
    return this.clock.wall();
  }

  mono(): MonoMs {
    const now = this.clock.mono();
    this.lostMs += Math.max(0, now - this.lastAt - LONGEST_GAP_MS);
    this.lastAt = now;
    return (now - this.lostMs) as MonoMs;
  }

  after(delayMs: number, run: () => void): () => void {
    return this.clock.after(delayMs, run);
  }
}
