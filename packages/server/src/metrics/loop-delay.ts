/** How late the event loop of a thread runs, since the last measurement. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** Seconds. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const RESOLUTION_MS = 20;

export class LoopWatch {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delay.enable();
  }

  seen(): LoopDelay {
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) || 0;
    const { max } = this.#delay;
    const seen = { p50: late(this.#delay.percentile(50)), p99: late(this.#delay.percentile(99)), max: late(max) };
    this.#delay.reset();
    return seen;
  }

  stop(): void {
    this.#delay.disable();
  }
}
