/** A mixed load over a fleet of equal workers, the same each time: when tasks come, what they ask for, and how long they take. */
export interface Ask {
  readonly name: string;
  readonly cpu: number;
  readonly memory: number;
}

export interface TracedTask {
  readonly at: number;
  readonly ask: Ask;
  readonly ms: number;
}

export interface Trace {
  readonly workers: number;
  /** What each worker has. */
  readonly slots: number;
  readonly cpu: number;
  readonly memory: number;
  /** In the order in which they come. */
  readonly tasks: readonly TracedTask[];
}

const GIB = 2 ** 30;
const WORKER = { slots: 16, cpu: 16_000, memory: 64 * GIB } as const;
/** One of so many tasks is of a kind; its time lies between the two. */
const KINDS = [
  { share: 0.6, ask: { name: 'small', cpu: 1_000, memory: 2 * GIB }, seconds: [30, 180] },
  { share: 0.2, ask: { name: 'cpu', cpu: 4_000, memory: 4 * GIB }, seconds: [60, 300] },
  { share: 0.15, ask: { name: 'memory', cpu: 1_000, memory: 12 * GIB }, seconds: [60, 300] },
  { share: 0.025, ask: { name: 'half', cpu: 8_000, memory: 32 * GIB }, seconds: [200, 400] },
  { share: 0.025, ask: { name: 'large', cpu: 16_000, memory: 48 * GIB }, seconds: [200, 400] },
] as const;

/** The kind that wants a whole worker. */
export const LARGE = 'large';

/** So many tasks; what they take of the processors is this share of what the fleet has while they come. */
export function mixedTrace(count: number, load: number, workers = 20): Trace {
  const random = mulberry(20_260_101);
  const drawn = Array.from({ length: count }, () => {
    let left = random();
    const kind = KINDS.find(({ share }) => (left -= share) < 0) ?? KINDS[0];
    const [least, most] = kind.seconds;
    return { ask: kind.ask, ms: Math.round(1_000 * (least + random() * (most - least))), gap: -Math.log(1 - random()) };
  });
  const work = drawn.reduce((sum, { ask, ms }) => sum + ask.cpu * ms, 0);
  const gaps = drawn.reduce((sum, { gap }) => sum + gap, 0);
  const gapMs = work / (WORKER.cpu * workers * load) / gaps;
  let at = 0;
  const tasks = drawn.map(({ ask, ms, gap }) => {
    at += gap * gapMs;
    return { ask, ms, at: Math.round(at) };
  });
  return { ...WORKER, workers, tasks };
}

/** The same numbers from the same seed, on every machine. */
export function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
