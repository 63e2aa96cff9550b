/** When a failed task is tried again. What is looked at first is in docs/guides/failures.md. */
import { z } from 'zod';

/** The classes that a policy can name. `lost` has its own `maxLost`, and `cancelled` is never retried by a policy. */
export const FAILURE_CLASSES = ['transient', 'permanent', 'timeout', 'stuck', 'resource'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

const MAX_PATTERNS = 20;
const MAX_PATTERN_CHARS = 200;

const waitMs = z
  .int()
  .min(0)
  .max(30 * 86_400_000);

const attempts = z.int().min(1).max(10_000);

/** All that a code may be: see `storableCode`. */
const codePattern = z
  .string()
  .max(MAX_PATTERN_CHARS)
  .regex(/^[!-)+-~]+\*?$/, 'must be a code such as exit:75, or the beginning of codes such as http:5*');

const errorPattern = z
  .string()
  .max(MAX_PATTERN_CHARS)
  .refine((match) => match.replaceAll('*', '').trim() !== '', 'must have something beside stars');

const patterns = (match: z.ZodString) =>
  z.array(z.strictObject({ match, retry: z.boolean() })).max(MAX_PATTERNS, `must be at most ${MAX_PATTERNS} patterns`);

export const retriesSchema = z
  .strictObject({
    /** Attempts in all that may end in failure, the first included: 1 means no retry. */
    maxAttempts: attempts.default(1),
    minMs: waitMs.default(0),
    baseMs: waitMs.default(1_000),
    factor: z.number().min(1).max(100).default(2),
    maxMs: waitMs.default(300_000),
    /** Attempts that may be lost with their worker before the task is given up. */
    maxLost: z.int().min(0).max(1_000).default(10),
    /** The classes that are tried again; all but `permanent` unless told. */
    on: z.array(z.enum(FAILURE_CLASSES)).max(FAILURE_CLASSES.length).optional(),
    /** Looked at first: codes, or what codes begin with. The first that fits counts. */
    codes: patterns(codePattern).optional(),
    /** Looked at next: parts of the error's text, with stars for what may be between them. */
    errors: patterns(errorPattern).optional(),
    /** Attempts that may end so, the first included, within `maxAttempts`. */
    budgets: z.partialRecord(z.enum(FAILURE_CLASSES), attempts).optional(),
  })
  .refine((retries) => retries.minMs <= retries.maxMs, { path: ['minMs'], message: 'must not be above maxMs' });

type Retries = z.output<typeof retriesSchema>;

export interface RetryPolicyShape {
  readonly maxAttempts: number;
  readonly minMs: number;
  readonly baseMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly maxLost: number;
  readonly on?: readonly FailureClass[];
  readonly codes?: readonly RetryPatternShape[];
  readonly errors?: readonly RetryPatternShape[];
  readonly budgets?: Readonly<Partial<Record<FailureClass, number>>>;
}

interface RetryPatternShape {
  readonly match: string;
  readonly retry: boolean;
}

/** What says nothing is left out, so that it makes no new version. */
export function retryPolicy({ on, codes, errors, budgets, ...plain }: Retries): RetryPolicyShape {
  return {
    ...plain,
    ...(on === undefined ? {} : { on: FAILURE_CLASSES.filter((one) => on.includes(one)) }),
    ...(codes === undefined || codes.length === 0 ? {} : { codes }),
    ...(errors === undefined || errors.length === 0 ? {} : { errors }),
    ...(budgets === undefined || Object.keys(budgets).length === 0 ? {} : { budgets: stated(budgets) }),
  };
}

function stated(budgets: NonNullable<Retries['budgets']>): Partial<Record<FailureClass, number>> {
  return Object.fromEntries(Object.entries(budgets).filter(([, most]) => most !== undefined));
}
