/**
 * One process of the simulated world: its clocks, its timers, and what reaches it. While it is paused nothing of it runs and
 * what arrives waits; then it goes on as if no time had passed. Once it is dead nothing of it ever runs again.
 *
 * Two kinds of pause. *Frozen*: its clock that never jumps stands still too (a machine that was suspended). *Stopped*: that
 * clock goes on, and all that came due meanwhile is due at once (SIGSTOP, a long collection).
 */
import type { Instant, MonoMs } from '@signalbox/engine';
import type { Clock } from '@signalbox/host';
import type { Event, Events } from './events.ts';

/** Simulated time zero, as a date: an ordinary Tuesday. */
export const WORLD_BEGAN_AT = Date.UTC(2025, 5, 17, 9, 0, 0);

interface Timer {
  readonly dueMono: number;
  readonly run: () => void;
  event: Event | null;
}

export interface ClockFaults {
  /** How far the wall clock is from true time at the start. */
  readonly skewMs: number;
  /** By how much both clocks run fast, such as 0.0002. */
  readonly drift: number;
}

export type PauseKind = 'frozen' | 'stopped';

export class Process implements Clock {
  readonly name: string;
  isAlive = true;
  isPaused = false;
  skewMs: number;
  /** It dies in the midst of things: after so many more messages. */
  dies: { afterMessages: number; readonly run: () => void } | null = null;
  readonly #events: Events;
  readonly #rate: number;
  readonly #timers = new Set<Timer>();
  readonly #arrived: (() => void)[] = [];
  readonly #monoStart: number;
  #frozenSince: number | null = null;
  #frozenFor = 0;

  constructor(name: string, events: Events, { skewMs, drift }: ClockFaults, monoStart: number) {
    this.name = name;
    this.#events = events;
    this.skewMs = skewMs;
    this.#rate = 1 + drift;
    this.#monoStart = monoStart - events.now() * this.#rate;
  }

  wall(): Instant {
    return (WORLD_BEGAN_AT + Math.floor(this.#events.now() * this.#rate + this.skewMs)) as Instant;
  }

  mono(): MonoMs {
    const now = this.#frozenSince ?? this.#events.now();
    return (this.#monoStart + (now - this.#frozenFor) * this.#rate) as MonoMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer: Timer = { dueMono: this.mono() + Math.max(0, delayMs), run, event: null };
    if (this.isAlive) {
      this.#timers.add(timer);
      this.#set(timer);
    }
    return () => {
      this.#timers.delete(timer);
      if (timer.event !== null) this.#events.cancel(timer.event);
    };
  }

  /** Something reaches the process: now, when it goes on, or never. What came first is taken first. */
  deliver(run: () => void): void {
    if (!this.isAlive) return;
    if (this.isPaused || this.#arrived.length > 0) this.#arrived.push(run);
    else run();
  }

  /** Asked before each message that it sends: false when it is dead, or dies of this one. */
  maySend(): boolean {
    if (this.dies !== null && this.isAlive) {
      this.dies.afterMessages -= 1;
      if (this.dies.afterMessages < 0) this.dies.run();
    }
    return this.isAlive;
  }

  pause(kind: PauseKind): void {
    if (!this.isAlive || this.isPaused) return;
    this.isPaused = true;
    if (kind === 'frozen') this.#frozenSince = this.#events.now();
  }

  /** Timers first, as an event loop would have it, or what arrived first. */
  resume(timersFirst: boolean): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.#frozenSince !== null) {
      this.#frozenFor += this.#events.now() - this.#frozenSince;
      this.#frozenSince = null;
    }
    for (const timer of this.#timers) if (timer.event !== null) this.#events.cancel(timer.event);
    if (!timersFirst) this.#takeArrived();
    for (const timer of [...this.#timers].sort((a, b) => a.dueMono - b.dueMono)) this.#set(timer);
    if (timersFirst) this.#takeArrived();
  }

  kill(): void {
    this.isAlive = false;
    this.isPaused = false;
    for (const timer of this.#timers) if (timer.event !== null) this.#events.cancel(timer.event);
    this.#timers.clear();
    this.#arrived.length = 0;
  }

  /** What waits is taken in, one event each. */
  #takeArrived(): void {
    if (this.#arrived.length === 0) return;
    this.#events.in(0, () => {
      if (!this.isAlive || this.isPaused) return;
      this.#arrived[0]?.();
      this.#arrived.shift();
      this.#takeArrived();
    });
  }

  #set(timer: Timer): void {
    const waitMs = (timer.dueMono - this.mono()) / this.#rate;
    // A hair later than exact, so that rounding never lets it ring before its time.
    timer.event = this.#events.in(waitMs > 0 ? waitMs + 1e-6 : 0, () => {
      if (this.isPaused) return;
      this.#timers.delete(timer);
      timer.run();
    });
  }
}
