/** Dead letters: what failed for good and waits for a person; and the breakers that hold tasks back. */
import { z } from 'zod';
import { DEAD_LETTER_REASONS, DEAD_LETTER_STATES } from '../words.ts';
import { breakerViewSchema } from './breaker-view.ts';
import { nameSchema, pageQuerySchema } from './common.ts';
import { attemptOutcomeSchema, attemptViewSchema, runIdSchema } from './runs.ts';

const instant = z.iso.datetime();
const fingerprint = z.string().regex(/^[0-9a-f]{12}$/, 'must have twelve hex digits, as lists show them');

/** Run, number of the task, number of its last attempt. */
export const deadLetterIdSchema = z
  .string()
  .regex(
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.\d{1,10}\.\d{1,10}$/i,
    'must be the id of a dead letter, as lists show it',
  );

const filterFields = {
  dag: nameSchema.optional(),
  fingerprint: fingerprint.optional(),
  task: nameSchema.optional(),
  reason: z.enum(DEAD_LETTER_REASONS).optional(),
} as const;

/** Query of `GET /v1/dead-letters`. */
export const listDeadLettersSchema = pageQuerySchema.extend({
  ...filterFields,
  state: z.enum(DEAD_LETTER_STATES).default('open'),
});
export type ListDeadLetters = z.input<typeof listDeadLettersSchema>;

export const deadLetterViewSchema = z.object({
  id: z.string(),
  run: runIdSchema,
  dag: z.string(),
  version: z.int(),
  task: z.string(),
  /** Its last one: how many it had. */
  attempt: z.int(),
  /** Why it was given up: its retries used up, permanent, poison, lost with too many workers, or waited too long. */
  reason: z.enum(DEAD_LETTER_REASONS),
  outcome: attemptOutcomeSchema,
  code: z.string().nullable(),
  fingerprint: z.string(),
  /** The first line. */
  error: z.string().nullable(),
  at: instant,
  state: z.enum(DEAD_LETTER_STATES),
  closedAt: instant.nullable(),
  closedBy: z.string().nullable(),
  /** The run that was made of it. */
  newRun: runIdSchema.nullable(),
});
export type DeadLetterView = z.infer<typeof deadLetterViewSchema>;

/** Newest first. */
export const deadLetterPageSchema = z.object({ items: z.array(deadLetterViewSchema), cursor: z.string().nullable() });
export type DeadLetterPage = z.infer<typeof deadLetterPageSchema>;

/** With what it was about. The run is kept for as long as the letter is open. */
export const deadLetterDetailsSchema = deadLetterViewSchema.extend({
  params: z.unknown(),
  /** The tasks whose outputs it was given. */
  inputs: z.array(z.string()),
  attempts: z.array(attemptViewSchema),
  /** Where the log of its last attempt is. */
  log: z.string(),
});
export type DeadLetterDetails = z.infer<typeof deadLetterDetailsSchema>;

/** Query of `GET /v1/dead-letters/groups`. */
export const listDeadLetterGroupsSchema = z.strictObject({
  dag: nameSchema.optional(),
  limit: pageQuerySchema.shape.limit,
});
export type ListDeadLetterGroups = z.input<typeof listDeadLetterGroupsSchema>;

export const deadLetterGroupSchema = z.object({
  fingerprint: z.string(),
  outcome: attemptOutcomeSchema,
  code: z.string().nullable(),
  /** The one of the newest letter. */
  error: z.string().nullable(),
  count: z.int(),
  firstAt: instant,
  lastAt: instant,
  dags: z.array(z.object({ dag: z.string(), versions: z.array(z.int()), count: z.int() })),
});
export type DeadLetterGroup = z.infer<typeof deadLetterGroupSchema>;

/** Groups of open letters, the largest first. */
export const deadLetterGroupsSchema = z.object({ items: z.array(deadLetterGroupSchema) });
export type DeadLetterGroups = z.infer<typeof deadLetterGroupsSchema>;

const replayFields = {
  /** As a new run of the current version, with the same params, instead of another attempt in its run. */
  latest: z.boolean().default(false),
  /** Changes nothing, and says what would be done. */
  dryRun: z.boolean().default(false),
} as const;

export const replayDeadLetterSchema = z.strictObject(replayFields);
export type ReplayDeadLetterOptions = z.input<typeof replayDeadLetterSchema>;

/** Letters that are used in one request; the next one goes on. */
export const MAX_LETTERS_AT_ONCE = 100;

const many = z.strictObject({
  ...filterFields,
  /** Where the request before it stopped. */
  cursor: z.string().min(1).max(200).optional(),
  limit: z.int().min(1).max(MAX_LETTERS_AT_ONCE).default(MAX_LETTERS_AT_ONCE),
  dryRun: z.boolean().default(false),
});
/** One of the filters must be given: nobody replays everything by leaving one out. */
const named = (filter: { dag?: string | undefined; fingerprint?: string | undefined }) =>
  filter.dag !== undefined || filter.fingerprint !== undefined;
export const replayDeadLettersSchema = many.extend(replayFields).refine(named, 'must name a dag or a fingerprint');
export type ReplayDeadLettersOptions = z.input<typeof replayDeadLettersSchema>;
export const discardDeadLettersSchema = many.refine(named, 'must name a dag or a fingerprint');
export type DiscardDeadLettersOptions = z.input<typeof discardDeadLettersSchema>;

/** What was done, or with `dryRun` what would be. */
export const deadLettersUsedSchema = z.object({
  dryRun: z.boolean(),
  /** In this request; with `dryRun` all that there are. */
  count: z.int(),
  /** By dag: how many letters, runs that are opened again or go on, new runs. */
  dags: z.array(z.object({ dag: z.string(), letters: z.int(), runs: z.int(), newRuns: z.int() })),
  /** Those that could not be used stay open. */
  refused: z.array(z.object({ letter: z.string(), code: z.string(), message: z.string() })),
  /** Open ones that the filter still finds, those refused included. */
  remaining: z.int(),
  /** For the next request; null when all have been gone through. */
  cursor: z.string().nullable(),
});
export type DeadLettersUsed = z.infer<typeof deadLettersUsedSchema>;

export const listBreakersSchema = z.strictObject({ dag: nameSchema.optional() });
export const breakerPageSchema = z.object({ items: z.array(breakerViewSchema) });
export type BreakerPage = z.infer<typeof breakerPageSchema>;

export const resetBreakerSchema = z.strictObject({
  dag: nameSchema,
  fingerprint: fingerprint.nullable().default(null),
});
export type ResetBreakerOptions = z.input<typeof resetBreakerSchema>;
export const breakerResetSchema = z.object({ dag: z.string(), fingerprint: z.string().nullable() });
export type BreakerReset = z.infer<typeof breakerResetSchema>;
