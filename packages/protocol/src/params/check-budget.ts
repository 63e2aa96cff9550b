/**
 * What checking params may cost, in looks: one look is one schema at one value, about 0.4 µs. Work that a schema can make large by
 * other means (patterns, long texts, comparisons) is charged in the same unit, so that a budget bounds the time (I68).
 */

/** Enough for 256 KiB of params with an ordinary schema; about 0.4 s. */
const DEFAULT_LOOKS = 1_000_000;

export class CheckBudget {
  #left: number;
  #granted: number;

  constructor(looks = DEFAULT_LOOKS) {
    this.#left = looks;
    this.#granted = looks;
  }

  /** All looks that it was ever given. */
  get granted(): number {
    return this.#granted;
  }

  add(looks: number): void {
    this.#left += looks;
    this.#granted += looks;
  }

  /** May fall below zero by what the last step cost. */
  get left(): number {
    return this.#left;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  spend(looks: number): void {
    this.#left -= looks;
  }
}
