/** All chance of a history comes from its seed. Each part draws from a stream of its own, so that one more draw here alters nothing there. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A stream of its own, named. */
  fork(name: string): Chance {
    let h = this.#state ^ 0x9e3779b9;
    for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
    return new Chance(mix(h >>> 0));
  }

  uint32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return mix(this.#state);
  }

  /** In [0, 1). */
  next(): number {
    return this.uint32() / 2 ** 32;
  }

  /** True this often. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** Evenly from [min, max). */
  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  /** A whole number from min to max, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** Around the mean, mostly shorter: like waits between things that come by chance. */
  wait(meanMs: number): number {
    return -Math.log(1 - this.next()) * meanMs;
  }
}

/** Mixes a counter into 32 bits that look drawn (mulberry32). */
function mix(state: number): number {
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
