import type { Instant } from '@signalbox/engine';
import { seeded } from '../seeded.ts';

/** Chance and time of one generator: the same for the same seed. */
export class Chance {
  readonly #random: () => number;
  #now: number;

  constructor(seed: number, start: Instant) {
    this.#random = seeded(seed);
    this.#now = start;
  }

  get now(): Instant {
    return this.#now as Instant;
  }

  leap(ms: number): void {
    this.#now += ms;
  }

  /** Some milliseconds pass. */
  tick(): Instant {
    this.#now += 1 + this.below(50);
    return this.now;
  }

  is(probability: number): boolean {
    return this.#random() < probability;
  }

  /** A whole number from 0, smaller than the limit. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  uuid(): string {
    const digits = Array.from({ length: 32 }, () => this.below(16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  /** Null where there is none. */
  oneOrNull<T>(of: readonly T[]): T | null {
    return of.length === 0 ? null : this.one(of);
  }
}
