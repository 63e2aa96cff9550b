/** What a definition says about failures that come again and again: poison of a task, the breaker of a dag, its dead letters. */
import { z } from 'zod';
import { durationSchema } from './common.ts';

/** A task that fails at once three times within a minute ends, though it has retries left. */
const DEFAULT_POISON = { count: 3, withinMs: 60_000, underMs: 1_000 } as const;

const poisonSchema = z.strictObject({
  /** So many times in a row, … */
  count: z.int().min(2).max(100).default(DEFAULT_POISON.count),
  /** … within this time, … */
  within: durationSchema.default(DEFAULT_POISON.withinMs),
  /** … each time sooner than this after its start. */
  under: durationSchema.default(DEFAULT_POISON.underMs),
});

export const poisonFields = {
  /** When it is given up before its retries are used up; false: never. */
  poison: z.union([z.literal(false), poisonSchema], 'must be false, or an object').optional(),
} as const;

const breakerSchema = z.strictObject({
  /** Of the attempts that ended within the window, from 0.01 to 1: how many must have failed. */
  share: z.number().min(0.01).max(1).default(0.5),
  window: durationSchema.default(60_000),
  /** Fewer ended attempts than this say nothing. */
  minimum: z.int().min(1).max(100_000).default(20),
  /** Until the first probe; each that fails doubles it, up to `maxPause`. */
  pause: durationSchema.default(5_000),
  maxPause: durationSchema.default(60_000),
});

export const breakerFields = {
  /** Holds new tasks while too many fail; false: retries are not held behind errors that many share either. */
  breaker: z.union([z.literal(false), breakerSchema], 'must be false, or an object').optional(),
  /** How many open dead letters are kept, newest first. Default: 10,000. */
  maxDeadLetters: z.int().min(1).max(1_000_000).optional(),
} as const;

export interface PoisonShape {
  readonly count: number;
  readonly withinMs: number;
  readonly underMs: number;
}

export interface BreakerShape {
  readonly share: number;
  readonly windowMs: number;
  readonly minimum: number;
  readonly pauseMs: number;
  readonly maxPauseMs: number;
}

const fieldsSchema = z.object({ ...poisonFields, ...breakerFields });
type Fields = z.output<typeof fieldsSchema>;

/** Left out where it could not make a difference: the task has no more attempts than that. */
export function poisonSpec({ poison }: Pick<Fields, 'poison'>, maxAttempts: number): { readonly poison?: PoisonShape } {
  if (poison === false) return {};
  const { count, within: withinMs, under: underMs } = poison ?? poisonSchema.parse({});
  return maxAttempts > count ? { poison: { count, withinMs, underMs } } : {};
}

export function breakerSpec({ breaker, maxDeadLetters }: Pick<Fields, 'breaker' | 'maxDeadLetters'>): {
  readonly breaker?: BreakerShape | null;
  readonly maxDeadLetters?: number;
} {
  return {
    ...(breaker === undefined ? {} : { breaker: breaker === false ? null : breakerShape(breaker) }),
    ...(maxDeadLetters === undefined ? {} : { maxDeadLetters }),
  };
}

function breakerShape({ share, window, minimum, pause, maxPause }: z.output<typeof breakerSchema>): BreakerShape {
  return { share, windowMs: window, minimum, pauseMs: pause, maxPauseMs: Math.max(pause, maxPause) };
}
