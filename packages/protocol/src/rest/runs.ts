/** Runs over REST: how they are asked for, and what is shown of them. Instants are ISO 8601 in UTC. */
import { z } from 'zod';
import { MAX_BATCH_RUNS, MAX_KEY_CHARS, MAX_PARAMS_BYTES } from '../limits.ts';
import { DEAD_LETTER_REASONS, RUN_OUTCOMES, RUN_STATES, TASK_ROLES, TASK_STATES } from '../words.ts';
import { jsonFault, nameSchema, pageQuerySchema, prioritySchema, validitySchema } from './common.ts';
import { whySchema } from './why.ts';

/** Any JSON, within its limits of size and depth (I68). */
export const paramsSchema = z.unknown().superRefine((value, context) => {
  const fault = value === undefined ? null : jsonFault(value, { bytes: MAX_PARAMS_BYTES });
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

export const submitSchema = z.strictObject({
  params: paramsSchema.optional(),
  priority: prioritySchema.optional(),
  until: nameSchema
    .optional()
    .describe('Name of a task or group: only that and what it depends on runs, with its teardowns and hooks.'),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Begin then, to the millisecond. Up to a minute in the past means now.'),
  delay: validitySchema.optional().describe('Begin so much later: `10m`, `250ms`. In place of `at`.'),
});

/** An id of a run that the caller chose. Servers make version 7, so one is never taken for the other. */
export const ownRunIdSchema = z
  .uuid()
  .refine(
    (id) => id[14] !== '7',
    'must be a UUID of another version than 7, which servers make. Of a UUID v7 of yours, make the 15th character an 8',
  )
  .refine((id) => !/^([0-]+|[f-]+)$/i.test(id), 'must not be the nil or max UUID')
  .transform((id) => id.toLowerCase());

/** One run, which may be for a window. */
export const submitOneSchema = submitSchema.extend({
  window: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      'A past time at which the schedule fires: the run is for that window. A window has one run: the second request gets it.',
    ),
  schedule: nameSchema.optional().describe('With `window`: the name of the schedule. Default: `default`.'),
  runId: ownRunIdSchema
    .optional()
    .describe(
      'Your own id for the run: any UUID but version 7. The same id and body give the same run; an id is used once in a tenant.',
    ),
});
export type SubmitOne = z.infer<typeof submitOneSchema>;
export type Submit = z.infer<typeof submitSchema>;

/** All or nothing (I13): all items are runs of the one dag in the path. */
export const submitBatchSchema = z.strictObject({
  runs: z
    .array(submitSchema)
    .min(1, 'must have at least one run')
    .max(MAX_BATCH_RUNS, `must have at most ${MAX_BATCH_RUNS} runs`),
});
export type SubmitBatch = z.infer<typeof submitBatchSchema>;

/** What is printable, so that a key can be shown, logged and compared without surprises. */
export const idempotencyKeySchema = z
  .string()
  .max(MAX_KEY_CHARS)
  .regex(/^[\x21-\x7e]+$/, `must have 1 to ${MAX_KEY_CHARS} printable ASCII characters without spaces`);

export const runIdSchema = z.uuid();

export const submittedSchema = z.object({
  id: runIdSchema,
  /** The window, or the caller's own id, had this run already; left out otherwise. */
  repeated: z.literal(true).optional(),
  /** When a delayed run begins; left out for others. */
  scheduledFor: z.iso.datetime().optional(),
});
/** The answer to a submission: the run is stored and visible (I10). */
export type Submitted = z.infer<typeof submittedSchema>;
export const submittedBatchSchema = z.object({ ids: z.array(runIdSchema) });
export type SubmittedBatch = z.infer<typeof submittedBatchSchema>;

export const runStateSchema = z.enum(RUN_STATES);
export const runOutcomeSchema = z.enum(RUN_OUTCOMES);

export const taskStateSchema = z.enum(TASK_STATES);
/** The class of an attempt that has ended. */
export const attemptOutcomeSchema = z.enum([
  'succeeded',
  'transient',
  'permanent',
  'timeout',
  'lost',
  'cancelled',
  'resource',
  'stuck',
]);

const instant = z.iso.datetime();

/** Another run that a task has made. */
export const childViewSchema = z.object({
  dag: z.string(),
  /** Null until that run is stored. */
  run: runIdSchema.nullable(),
});

export const attemptViewSchema = z.object({
  attempt: z.int(),
  worker: z.string().nullable(),
  claimedAt: instant.nullable(),
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
  /** Null while it runs. */
  outcome: attemptOutcomeSchema.nullable(),
  /** What the failure was, in a word: `exit:137`, `http:503`, `error:TypeError`. */
  code: z.string().nullable(),
  error: z.string().nullable(),
  /** It began beside another attempt that took far longer than its siblings; that of the two which succeeded counts. */
  speculative: z.boolean(),
  /** Processor time that it used; null when it was not measured. */
  cpuMs: z.int().nullable(),
  /** The most memory that it had at a time; null when it was not measured. */
  peakMemoryBytes: z.int().nullable(),
  /** Only for a task that runs another dag. */
  child: childViewSchema.nullable(),
});
export type AttemptView = z.infer<typeof attemptViewSchema>;

/** How far a running attempt is, as it has told with its worker's last heartbeat. */
export const progressViewSchema = z.object({
  /** 0 to 1; null when it does not know. */
  fraction: z.number().min(0).max(1).nullable(),
  /** In its own words. */
  note: z.string(),
  at: instant,
});

export const taskRoleSchema = z.enum(TASK_ROLES);

export const instanceCountsSchema = z.object({ total: z.int(), states: z.partialRecord(z.enum(TASK_STATES), z.int()) });
export type InstanceCounts = z.infer<typeof instanceCountsSchema>;
const manualActionSchema = z.object({ at: instant, by: z.string() });
const pauseSchema = z.object({ by: z.string(), since: instant, until: instant.nullable() });

export const taskViewSchema = z.object({
  /** `load`; of one instance of a mapped task `load[3]`, and `part[2][5]` where a map is in a map. */
  name: z.string(),
  /** The group that it is in. */
  group: z.string().nullable(),
  /** Only for an instance: the maps that contain it, outermost first, and its item in each. */
  map: z.array(z.object({ group: z.string(), index: z.int() })),
  /** Only for a mapped task: counts of its instances by state. Null for other tasks and for an instance. */
  instances: instanceCountsSchema.nullable(),
  /** The task that has added it to the run; null for one of the definition. */
  addedBy: z.string().nullable(),
  role: taskRoleSchema,
  state: taskStateSchema,
  /** Number of the last attempt; 0 before the first. */
  attempt: z.int(),
  worker: z.string().nullable(),
  claimedAt: instant.nullable(),
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
  /** When the next attempt may start, while it is `retrying`. */
  retryAt: instant.nullable(),
  /** When its last attempt was told of as slow; null when it was not. */
  slowAt: instant.nullable(),
  /** How the last attempt ended, and what the failure was in a word; null while it runs. */
  outcome: attemptOutcomeSchema.nullable(),
  code: z.string().nullable(),
  /** What failures of one cause have in common: of its last one. */
  fingerprint: z.string().nullable(),
  /** What keeps it from starting, if it is a breaker. */
  heldBy: z.string().nullable(),
  /** Why it was given up, while its dead letter is open. */
  deadLetter: z.enum(DEAD_LETTER_REASONS).nullable(),
  error: z.string().nullable(),
  /** What the attempt that succeeded has returned; null when nothing. */
  output: z.unknown(),
  /** Only for a task that runs another dag: the run that its last attempt has created. */
  child: childViewSchema.nullable(),
  /** How large the output is, where it is left out here for that: asked for by itself, the task has it. Null otherwise. */
  outputBytes: z.int().nullable(),
  /** What the running attempt told last of how far it is; left out when it has told nothing, or does not run. */
  progress: progressViewSchema.optional(),
  /** What its attempts have saved last; only where the task is asked for by itself, and left out when there is none. */
  checkpoint: z.unknown().optional(),
  /**
   * What its last attempt was given, with references resolved by what the tasks before it returned last; only where the task is asked
   * for by itself, and left out before its first attempt. `unresolved` is the reference of a value that is not shown: a list of all
   * instances of a map, a large output, or one that does not exist.
   */
  inputs: z.array(z.object({ name: z.string(), value: z.unknown(), unresolved: z.string().nullable() })).optional(),
  attempts: z.array(attemptViewSchema),
  /** Why it was skipped or could not run: its rule, its condition, a branch, a short circuit, or a person. */
  reason: z.string().nullable(),
  /** Nothing of it is claimed until somebody resumes it. */
  paused: pauseSchema.nullable(),
  /** Why it does not run now, or never did; null while it runs, and when there is nothing to explain. */
  why: whySchema.nullable(),
  /** Who last had it run again. */
  cleared: manualActionSchema.nullable(),
  /** Who marked it, unless it has run since. */
  marked: manualActionSchema.nullable(),
});
export type TaskView = z.infer<typeof taskViewSchema>;

/** A run in a list: without its tasks. */
export const runSummarySchema = z.object({
  id: runIdSchema,
  dag: z.string(),
  version: z.int(),
  state: runStateSchema,
  outcome: runOutcomeSchema.nullable(),
  priority: prioritySchema,
  cause: z.enum(['api', 'schedule', 'event', 'parent', 'backfill']),
  /** The task or group that the run goes up to; null for a whole run. */
  until: z.string().nullable(),
  /** The planned time it was created for; null for a run on demand. */
  window: instant.nullable(),
  /** Where its data interval begins: the window before. The interval ends with its own window. */
  windowStart: instant.nullable(),
  /** Dags that had not succeeded in time for `requires` of the schedule; absent where all had. */
  unmet: z.array(z.string()).readonly().optional(),
  /** The assets that it was created by, and the runs that produced them; absent for other runs. */
  assets: z
    .array(
      z.object({
        name: z.string(),
        /** Null for an asset that somebody declared fresh. */
        run: runIdSchema.nullable(),
        dag: z.string().nullable(),
        task: z.string().nullable(),
        at: instant,
      }),
    )
    .readonly()
    .optional(),
  /** Its key, where its dag limits its runs by key; absent otherwise. */
  concurrencyKey: z.string().optional(),
  /** The backfill that made it. */
  backfill: z.string().nullable(),
  createdAt: instant,
  /** When a delayed run begins, in state `scheduled`; left out otherwise. */
  scheduledFor: instant.optional(),
  endedAt: instant.nullable(),
  /** When it was told of as slow; null when it was not. */
  slowAt: instant.nullable(),
  /** Why it was closed before its tasks had ended: `timeout` when its time was over. */
  reason: z.enum(['timeout']).nullable(),
  /** The task that made it; null for a run that no other has made. */
  parent: z.object({ run: runIdSchema, task: z.string(), attempt: z.int() }).nullable(),
  actor: z.string(),
  /** When it was opened again after it had ended, the last time, and by whom: `policy` is its dag's own `retryRun`. */
  reopenedAt: instant.nullable(),
  reopenedBy: z.string().nullable(),
  /** How often that policy did. */
  retries: z.int(),
  /** Nothing new of it is claimed until somebody resumes it, or the time has come. */
  paused: pauseSchema.nullable(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

export const runViewSchema = runSummarySchema.extend({
  params: z.unknown(),
  tasks: z.array(taskViewSchema),
  /** Names of teardowns, undos and hooks that failed: they do not change the outcome, and somebody should look. */
  closingFailed: z.array(z.string()),
  /** Why nothing of it runs; null while something does, and once it has ended. */
  why: whySchema.nullable(),
});
export type RunView = z.infer<typeof runViewSchema>;

/** Query of `GET /v1/runs/{id}/columns`. */
export const runColumnsQuerySchema = z.strictObject({
  shape: z
    .enum(['true', 'false'])
    .default('false')
    .describe('With names, groups, roles and edges too, which change only when tasks are added to the run.'),
});

/** What does not change while a run goes on. Edges are pairs of places: the task that is needed, then the one that needs it. */
export const runShapeSchema = z.object({
  names: z.array(z.string()),
  /** Names of groups; `group` has places in here. */
  groups: z.array(z.object({ name: z.string(), parent: z.int().nullable(), mapped: z.boolean() })),
  group: z.array(z.int().nullable()),
  role: z.array(taskRoleSchema),
  kind: z.array(z.string()),
  edges: z.array(z.int()),
});
export type RunShape = z.infer<typeof runShapeSchema>;

/**
 * A run with the tasks of its definition in columns: place `i` of each column is task `i`. A tenth of the size of the same
 * tasks as objects, and quick to make.
 */
export const runColumnsSchema = runSummarySchema.extend({
  params: z.unknown(),
  closingFailed: z.array(z.string()),
  why: whySchema.nullable(),
  columns: z.object({
    /** Places in the list of states of a task. */
    state: z.array(z.int()),
    attempt: z.array(z.int()),
    /** Milliseconds after the run was created; null for what has not happened. Of the last attempt. */
    claimedMs: z.array(z.int().nullable()),
    startedMs: z.array(z.int().nullable()),
    endedMs: z.array(z.int().nullable()),
  }),
  /** Of mapped tasks, by place. */
  instances: z.record(z.string(), instanceCountsSchema),
  /** When this was read. */
  at: instant,
  shape: runShapeSchema.nullable(),
});
export type RunColumns = z.infer<typeof runColumnsSchema>;

/** Query of `GET /v1/runs`. Comes as text. */
export const listRunsSchema = pageQuerySchema.extend({
  dag: nameSchema.optional(),
  state: runStateSchema.optional(),
  outcome: runOutcomeSchema.optional(),
  parent: runIdSchema.optional().describe('Only child runs of this run.'),
  backfill: runIdSchema.optional().describe('Only runs of this backfill.'),
  mine: z.enum(['true', 'false']).optional().describe('Only runs that were started with this credential.'),
});
export type ListRuns = z.infer<typeof listRunsSchema>;

/** Newest first. `cursor` asks for what comes after; null at the end. */
export const runPageSchema = z.object({ items: z.array(runSummarySchema), cursor: z.string().nullable() });
export type RunPage = z.infer<typeof runPageSchema>;

/** Query of `GET /v1/delays`. */
export const listDelaysSchema = z.strictObject({
  runs: z.coerce.number().int().min(1).max(500).default(100).describe('How many of the newest runs.'),
});

/** How long the newest runs waited for their first task to start, in columns, newest first. */
export const delaysSchema = z.object({
  ids: z.array(runIdSchema),
  dag: z.array(z.string()),
  createdAt: z.array(instant),
  /** From the creation of the run to the first claim of one of its tasks, in milliseconds; null while none is claimed. */
  delayMs: z.array(z.int().nullable()),
});
export type Delays = z.infer<typeof delaysSchema>;

/** How a run is cancelled. `force`: its teardowns, undos and hooks are ended too, and attempts are not waited for. */
export const cancelSchema = z.strictObject({
  force: z.boolean().optional(),
  graceMs: z.int().min(0).max(3_600_000).optional().describe('How long running attempts have to stop. Default: 10 s.'),
  dryRun: z.boolean().optional().describe('Only report what would stop, and what would run to close the run.'),
});
export type Cancel = z.infer<typeof cancelSchema>;

/** The answer to a cancel: the outcome is fixed, what still runs is being ended (I42). */
export const cancelledSchema = z.object({
  id: runIdSchema,
  state: runStateSchema,
  outcome: runOutcomeSchema.nullable(),
});
export type Cancelled = z.infer<typeof cancelledSchema>;
