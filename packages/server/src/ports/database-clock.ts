/**
 * The wall clock that a server schedules by: the database's time. All servers share that clock, whatever their own machines
 * say. Between two measurements it goes on by the monotonic clock, so a machine whose clock is set does not move it.
 *
 * - A measurement asks the database for its time and halves the round trip. Of three it keeps the shortest trip.
 * - A small difference is slewed: the clock runs up to 10 % faster or slower until it is gone. It never goes back.
 * - When the clock is far behind (the machine was suspended), it leaps forward: windows of that time were missed.
 * - When it is far ahead (the database's clock was set back), it is set only while the server owns no shard.
 *
 * Beyond the bound, `unfit` says why this server must own no shards: other parts, such as the ids of submitted runs, use the
 * clock of the machine.
 */
import type { Instant, MonoMs } from '@signalbox/engine';
import type { Clock } from '@signalbox/host';
import type { Tell } from '../log.ts';

interface DatabaseClockOptions {
  /** The clock of this machine. */
  readonly machine: Clock;
  /** The database's time in milliseconds since 1970. */
  readonly readDatabase: () => Promise<number>;
  /** A clock further off than this must not own shards. */
  readonly boundMs: number;
  /** Whether nothing is scheduled by this clock at the moment. */
  readonly isIdle: () => boolean;
  /** Told after each measurement. */
  readonly onMeasured: (seen: ClockSeen) => void;
  readonly tell: Tell;
}

export interface ClockSeen {
  /** How far the machine's clock is ahead of the database's; negative when it is behind. */
  readonly aheadMs: number;
  readonly unfit: string | null;
}

const EVERY_MS = 5_000;
const SAMPLES = 3;
const SLEW = 0.1;
/** Up to here a clock that is behind is slewed; beyond, it leaps. */
const LEAP_MS = 1_000;
/** A longer trip says too little. */
const LONGEST_TRIP_MS = 2_000;
const WARN_MS = 1_000;

export class DatabaseClock implements Clock {
  readonly #options: DatabaseClockOptions;
  #monoAt: number;
  #wallAt: number;
  /** What is still to be slewed. */
  #leftMs = 0;
  #isSet = false;
  #seen: ClockSeen | null = null;
  #hasWarned = false;
  #cancel: (() => void) | null = null;
  #isStopped = false;

  constructor(options: DatabaseClockOptions) {
    this.#options = options;
    this.#monoAt = options.machine.mono();
    this.#wallAt = options.machine.wall();
  }

  /** Measures once, so that nothing is scheduled by an unknown clock, and from then on again and again. */
  async start(): Promise<void> {
    await this.runOnce();
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  wall(): Instant {
    return Math.floor(this.#exact()) as Instant;
  }

  mono(): MonoMs {
    return this.#options.machine.mono();
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#options.machine.after(delayMs, run);
  }

  /** The last measurement; null before the first. */
  seen(): ClockSeen | null {
    return this.#seen;
  }

  /** Why this server must own no shards at the moment; null when it may. */
  unfit(): string | null {
    return this.#seen?.unfit ?? null;
  }

  async runOnce(): Promise<void> {
    const sample = await this.#measure();
    if (sample === null) return;
    this.#correct(sample.databaseMs + (this.mono() - sample.mono));
    const aheadMs = Math.round(sample.machineMs - sample.databaseMs);
    const unfit = this.#judge(aheadMs);
    this.#seen = { aheadMs, unfit };
    this.#report(aheadMs, unfit);
    this.#options.onMeasured(this.#seen);
  }

  #exact(): number {
    const mono = this.#options.machine.mono();
    const passedMs = Math.max(0, mono - this.#monoAt);
    const slewedMs = Math.max(-SLEW * passedMs, Math.min(SLEW * passedMs, this.#leftMs));
    this.#leftMs -= slewedMs;
    this.#wallAt += passedMs + slewedMs;
    this.#monoAt = mono;
    return this.#wallAt;
  }

  /** The clock should show this. */
  #correct(databaseMs: number): void {
    const { isIdle, boundMs } = this.#options;
    const behindMs = databaseMs - this.#exact();
    const mustLeap = behindMs > LEAP_MS || (behindMs < -boundMs && isIdle()) || !this.#isSet;
    this.#isSet = true;
    if (mustLeap) this.#wallAt += behindMs;
    this.#leftMs = mustLeap ? 0 : behindMs;
  }

  /** Of the machine's clock and of the one that is slewed: the latter may lag behind a database that was set back. */
  #judge(aheadMs: number): string | null {
    const { boundMs } = this.#options;
    if (Math.abs(aheadMs) > boundMs) {
      return `This machine's clock is ${describe(aheadMs)} the database's. At most ${boundMs / 1000} s are allowed: correct the clock of the machine that is wrong, such as by NTP.`;
    }
    if (this.#leftMs < -boundMs) {
      return `The database's clock was set back by ${Math.round(-this.#leftMs / 1000)} s. This server follows it as soon as it owns no shards.`;
    }
    return null;
  }

  #report(aheadMs: number, unfit: string | null): void {
    const { tell } = this.#options;
    const isOff = Math.abs(aheadMs) > WARN_MS;
    if (isOff && !this.#hasWarned && unfit === null) {
      tell('warn', `This machine's clock is ${describe(aheadMs)} the database's. Schedules go by the database's.`, {
        aheadMs,
      });
    }
    if (!isOff && this.#hasWarned) tell('info', "This machine's clock agrees with the database's again.", { aheadMs });
    this.#hasWarned = isOff;
  }

  /** The sample with the shortest trip; null when the database gave no useful answer. */
  async #measure(): Promise<Sample | null> {
    let best: Sample | null = null;
    for (let i = 0; i < SAMPLES; i++) {
      const sample = await this.#sample();
      if (sample !== null && (best === null || sample.tripMs < best.tripMs)) best = sample;
    }
    return best;
  }

  async #sample(): Promise<Sample | null> {
    const { machine, readDatabase } = this.#options;
    const sentAt = machine.mono();
    let databaseMs: number;
    try {
      databaseMs = await readDatabase();
    } catch {
      return null;
    }
    const answeredAt = machine.mono();
    const tripMs = answeredAt - sentAt;
    if (tripMs > LONGEST_TRIP_MS) return null;
    return { databaseMs, machineMs: machine.wall() - tripMs / 2, mono: answeredAt - tripMs / 2, tripMs };
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.machine.after(EVERY_MS, () => void this.runOnce().finally(() => this.#schedule()));
  }
}

interface Sample {
  readonly databaseMs: number;
  readonly machineMs: number;
  /** By the clock that never jumps: when the database looked at its clock, as far as that can be told. */
  readonly mono: number;
  readonly tripMs: number;
}

function describe(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  return aheadMs < 0 ? `${seconds} s behind` : `${seconds} s ahead of`;
}
