/** A dag as users write it: tasks by name, spans as they are spoken, defaults left out. */
import { z } from 'zod';
import { MAX_TASKS } from '../limits.ts';
import { addingDagFields, addingTaskFields } from './adding-fields.ts';
import { assetTaskFields } from './asset-fields.ts';
import { breakerFields, poisonFields } from './breaker-fields.ts';
import { closingDagFields, closingTaskFields } from './closing.ts';
import { durationSchema, nameSchema, prioritySchema, retryRunDelaySchema } from './common.ts';
import { dagConcurrencySchema } from './concurrency-fields.ts';
import { expectFields } from './expect-fields.ts';
import { MAX_EXPRESSION_CHARS } from './expression.ts';
import { groupFields, placeFields } from './groups.ts';
import { pastFields } from './past-fields.ts';
import { placementFields } from './placement-fields.ts';
import { retriesSchema } from './retries.ts';
import { checkSchedule, type ScheduleInput, scheduleObject, scheduleSchema } from './schedule-fields.ts';
import { MAX_DEFINED_SCHEDULES, scheduleNameFields } from './schedule-policy-fields.ts';
import { speculateFields } from './speculate-fields.ts';
import { limitFields, rateSchema } from './task-limits.ts';
import { TRIGGER_RULES } from './trigger-rules.ts';
import { triggersSchema } from './triggers.ts';
import { workFields } from './work.ts';

export { TRIGGER_RULES, type TriggerRule } from './trigger-rules.ts';

export const FAILURE_POLICIES = ['continue', 'fail_fast', 'skip_failed'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];

export const taskDefinitionSchema = z.strictObject({
  name: nameSchema,
  ...workFields,
  queue: nameSchema.default('default'),
  needs: z.array(z.string().max(200)).max(MAX_TASKS).default([]),
  retries: retriesSchema.prefault({}),
  timeout: durationSchema.nullable().default(null),
  ...limitFields,
  /** How many attempts of it may run at a time, over all runs of the dag. */
  maxActive: z.int().min(1).max(1_000_000).optional(),
  /** How many attempts of it may start per time, over all runs of the dag. */
  rate: rateSchema.optional(),
  ...placementFields,
  ...poisonFields,
  ...speculateFields,
  ...pastFields,
  ...assetTaskFields,
  /** What must have become of the tasks that it needs; `all_success` unless told. */
  rule: z.enum(TRIGGER_RULES).optional(),
  /** A condition over params and outputs: see `expression.ts`. Where it does not hold, the task is skipped. */
  when: z.string().min(1).max(MAX_EXPRESSION_CHARS).optional(),
  /** Its output names those of the tasks needing it that go on; the others are skipped. */
  branch: z.boolean().optional(),
  /** An empty output skips the tasks needing it, or with `all` everything behind it. */
  shortCircuit: z.union([z.boolean(), z.literal('all')], 'must be true, false or all').optional(),
  ...closingTaskFields,
  ...placeFields,
  ...addingTaskFields,
});

/** One of several. */
const listedScheduleObject = scheduleObject.extend(scheduleNameFields);
const listedScheduleSchema = listedScheduleObject.superRefine(checkSchedule) as unknown as z.ZodType<
  z.output<typeof listedScheduleObject>,
  ScheduleInput & { readonly name?: string }
>;

const limit = z.int().min(1).max(1_000_000).nullable().default(null);

export const callbackUrlSchema = z
  .string()
  .max(2_000)
  .refine(
    (text) => /^https?:\/\/[^\s/]+/i.test(text) && URL.canParse(text),
    'must be an address such as https://example.com/done',
  )
  .refine(
    (text) => !URL.canParse(text) || new URL(text).username === '',
    'must not contain a user name or password: callbacks are signed',
  );

const MAX_TAGS = 20;
export const tagSchema = z
  .string()
  .regex(/^[\p{L}\p{N}_.:/-]{1,50}$/u, 'must have 1 to 50 letters, digits or the characters _ . : / -');
export const ownerSchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line of text');

export const dagDefinitionSchema = z.strictObject({
  name: nameSchema,
  description: z.string().max(2_000).optional(),
  /** To find it by, among many dags. */
  tags: z
    .array(tagSchema)
    .max(MAX_TAGS, `must have at most ${MAX_TAGS} tags`)
    .refine((tags) => new Set(tags).size === tags.length, 'must not name a tag twice')
    .optional(),
  /** Who answers for it: a team, a person or an address. */
  owner: ownerSchema.optional(),
  /** SHA-256 of the code that its functions are in, in hex; stored before the dag is deployed. */
  bundle: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of a bundle, in hex')
    .optional(),
  /**
   * SHA-256 of the archive of files that its processes find in their working folder, in hex; stored before the dag is
   * deployed. People write a list of paths, and the compiler makes the archive.
   */
  files: z
    .string('must be the SHA-256 of an archive: deploy the folder with "signalbox deploy", which makes one')
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of an archive, in hex')
    .optional(),
  /** The events that start runs: see `triggers.ts`. */
  on: triggersSchema.optional(),
  ...expectFields,
  tasks: z
    .array(taskDefinitionSchema)
    .min(1, 'must have at least one task')
    .max(MAX_TASKS, `must have at most ${MAX_TASKS} tasks`),
  ...groupFields,
  priority: prioritySchema.default('normal'),
  maxActiveRuns: limit,
  maxActiveTasks: limit,
  /** How many tasks of one run may run at a time. */
  maxActiveTasksPerRun: z.int().min(1).max(1_000_000).optional(),
  /** How many attempts of its tasks may start per time. */
  rate: rateSchema.optional(),
  /** See `concurrency-fields.ts`. */
  concurrency: dagConcurrencySchema.optional(),
  schedule: scheduleSchema.nullable().default(null),
  /** Several, in place of `schedule`; see `read-schedules.ts`. */
  schedules: z.array(listedScheduleSchema).max(MAX_DEFINED_SCHEDULES).optional(),
  /** What a failed task means for the rest of its run; `continue` unless told. */
  onFailure: z.enum(FAILURE_POLICIES).optional(),
  /** A run that ended failed is opened again by the server, and what failed is cleared. */
  retryRun: z.strictObject({ maxTimes: z.int().min(1).max(100), delay: retryRunDelaySchema.default(0) }).optional(),
  /** How long a run may take, from when it became active; then it fails. */
  timeout: durationSchema.optional(),
  /** A run that takes longer is reported as slow and continues. */
  softTimeout: durationSchema.optional(),
  ...closingDagFields,
  ...addingDagFields,
  ...pastFields,
  ...breakerFields,
  /** Called when a run has ended: a signed POST, repeated until it is answered. */
  callbackUrl: callbackUrlSchema.optional(),
  /** JSON Schema of the params, which are checked when a run is submitted; see `params/schema.ts` for its words. */
  params: z.union([z.boolean(), z.record(z.string(), z.unknown())], 'must be a JSON Schema').optional(),
});

/** What a user may write: everything with a default may be left out. */
export type DagDefinition = z.input<typeof dagDefinitionSchema>;
/** The same with its defaults filled in. */
export type ParsedDagDefinition = z.output<typeof dagDefinitionSchema>;
