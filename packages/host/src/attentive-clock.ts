/**
 * The clock of the host. It never jumps, and it stops while this process is stopped, collecting garbage or asleep. A worker
 * that was not heard because this process was not listening must not lose its lease (I25). When the process continues, it
 * first reads what arrived meanwhile, and then time continues.
 */
import type { MonoMs } from '@signalbox/engine';
import type { Clock } from './ports.ts';

/** How often the process shows itself that it runs. */
const LOOK_MS = 250;
/** The most that counts of a gap between two readings. */
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
