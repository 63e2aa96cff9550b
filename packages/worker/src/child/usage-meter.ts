/**
 * What attempts that run in this process use, one at a time. Short ones are not measured: to ask costs about as much as they do. The
 * figures before an attempt are at most `STALE_MS` old, so that a stream of short attempts does not ask before each of them.
 */
import type { Used } from '../result.ts';

/** An attempt that is shorter is not measured. */
export const SHORT_MS = 10;
const STALE_MS = 1;

export interface Figures {
  /** Of the process, in microseconds. */
  readonly cpuMicros: number;
  /** The most that the process ever had, in bytes. */
  readonly mostBytes: number;
}

export interface MeterPorts {
  now(): number;
  figures(): Figures;
  /** What the process has now. */
  residentBytes(): number;
}

const OWN: MeterPorts = {
  now: () => performance.now(),
  figures: () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    return { cpuMicros: userCPUTime + systemCPUTime, mostBytes: maxRSS * 1_024 };
  },
  residentBytes: () => process.memoryUsage.rss(),
};

export class UsageMeter {
  readonly #ports: MeterPorts;
  #before: Figures | null = null;
  #beforeAt = Number.NEGATIVE_INFINITY;
  #beganAt = 0;

  constructor(ports: MeterPorts = OWN) {
    this.#ports = ports;
  }

  /** `now`: for who has just looked at the clock. */
  begin(now = this.#ports.now()): void {
    this.#beganAt = now;
    if (now - this.#beforeAt > STALE_MS) this.#look(now);
  }

  /** Of the attempt that began last; undefined if it was too short. */
  end(): Used | undefined {
    const now = this.#ports.now();
    const before = this.#before;
    if (before === null || now - this.#beganAt < SHORT_MS) return undefined;
    const after = this.#look(now);
    return {
      cpuMicros: Math.max(1, after.cpuMicros - before.cpuMicros),
      // A peak that is not new was that of an attempt before it, or of the start: what it has now is the best that is known.
      peakBytes: after.mostBytes > before.mostBytes ? after.mostBytes : this.#ports.residentBytes(),
    };
  }

  #look(now: number): Figures {
    this.#before = this.#ports.figures();
    this.#beforeAt = now;
    return this.#before;
  }
}
