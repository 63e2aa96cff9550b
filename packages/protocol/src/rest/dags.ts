/** Dags and the server's health over REST: what is shown of them. */

import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { breakerViewSchema } from './breaker-view.ts';
import { nameSchema, pageQuerySchema, prioritySchema } from './common.ts';
import { concurrencyViewSchema } from './concurrency-fields.ts';
import { FAILURE_POLICIES, ownerSchema, TRIGGER_RULES, tagSchema } from './dag-definition.ts';
import { MAP_MODES } from './groups.ts';
import { runIdSchema, runOutcomeSchema, runStateSchema, taskRoleSchema } from './runs.ts';
import { scheduleSettingsSchema } from './schedule-settings.ts';

/** The answer to a deploy. `changed` is false when the meaning is that of the current version. */
export const deployedSchema = z.object({
  name: z.string(),
  version: z.int(),
  hash: z.string(),
  changed: z.boolean(),
  /** What still works and should be written otherwise: old words, settings without effect. Absent when there is nothing. */
  warnings: z.array(z.string()).optional(),
});
export type Deployed = z.infer<typeof deployedSchema>;

export const scheduleViewSchema = scheduleSettingsSchema.extend({
  name: z.string(),
  paused: z.boolean(),
  /** Why the server itself has paused it: deciding its windows went wrong. Resume it once that is mended. */
  fault: z.string().nullable(),
  /** When it fires next; null while it is paused, or when it never will. */
  nextAt: z.iso.datetime().nullable(),
  /** The same time as a clock in its zone shows it: `2027-03-14T03:00:00-04:00`. */
  nextLocal: z.string().nullable(),
});
export type ScheduleView = z.infer<typeof scheduleViewSchema>;

/** Query of `PUT /v1/dags/{name}`. */
export const deployQuerySchema = z.object({
  source: z
    .string()
    .max(500)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line of text')
    .optional()
    .describe('Where the files are, to warn if the same name is deployed from another place. Not part of the version.'),
});

export const lastRunSchema = z.object({
  id: runIdSchema,
  state: runStateSchema,
  outcome: runOutcomeSchema.nullable(),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
});

/** What starts runs of a dag, beside its schedule. */
export const triggerViewSchema = z.object({
  name: z.string(),
  type: z.string(),
  source: z.string().optional(),
  where: z.string().optional(),
  params: z.unknown().optional(),
  dedupe: z.string().optional(),
  batch: z.object({ max: z.int(), withinMs: z.int(), key: z.string().optional() }).optional(),
  debounce: z.object({ waitMs: z.int(), atMostMs: z.int(), key: z.string().optional() }).optional(),
  /** It waits for assets, and takes no events. */
  assets: z.object({ mode: z.enum(['all', 'any']), names: z.array(z.string()).readonly() }).optional(),
});
export type TriggerView = z.infer<typeof triggerViewSchema>;

export const dagViewSchema = z.object({
  name: z.string(),
  version: z.int(),
  hash: z.string(),
  priority: prioritySchema,
  maxActiveRuns: z.int().nullable(),
  maxActiveTasks: z.int().nullable(),
  /** Of one run; absent where there is none. */
  maxActiveTasksPerRun: z.int().optional(),
  /** How many attempts of its tasks may start per time. */
  rate: z.object({ limit: z.int(), perMs: z.int() }).optional(),
  /** Of active runs with the same key; absent where there is none. */
  concurrency: concurrencyViewSchema.optional(),
  taskCount: z.int(),
  /** The one of its schedules that fires next; the first one when none will. */
  schedule: scheduleViewSchema.nullable(),
  /** How many schedules it has, counted up to 1,000. */
  scheduleCount: z.int(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  /** Who answers for it. */
  owner: z.string().nullable(),
  /** The type of event that its first trigger waits for. */
  event: z.string().nullable(),
  triggers: z.array(triggerViewSchema),
  /** SHA-256 of the code of its functions. */
  bundle: z.string().nullable(),
  /** Where the files of its current version were deployed from, according to the one who deployed it. */
  source: z.string().nullable(),
  /** Its newest run; null when it has none that is kept. */
  lastRun: lastRunSchema.nullable(),
  /** Its newest runs, newest first: as many as were asked for. */
  recentRuns: z.array(lastRunSchema),
  deployedAt: z.iso.datetime(),
  /** When it was deleted; null while it takes runs. */
  retiredAt: z.iso.datetime().nullable(),
});
export type DagView = z.infer<typeof dagViewSchema>;

/** A task of a version. `work` is what its worker gets beside the handler's name; secrets in it are names, never values. */
export const taskSpecViewSchema = z.object({
  name: z.string(),
  kind: z.enum(['handler', 'function', 'process', 'http', 'child']),
  /** Only for a task that runs another dag. */
  child: z.object({ dag: z.string(), wait: z.boolean() }).nullable(),
  handler: z.string().nullable(),
  queue: z.string(),
  needs: z.array(z.string()),
  /** What must have become of them. */
  rule: z.enum(TRIGGER_RULES),
  /** Its condition, as it was written. */
  when: z.string().nullable(),
  branch: z.boolean(),
  shortCircuit: z.enum(['next', 'all']).nullable(),
  setup: z.boolean(),
  /** Its attempts may add tasks to their run. */
  adds: z.boolean(),
  /** The group that it is in; a mapped task is in one of its own name. */
  group: z.string().nullable(),
  /** `teardown`, `undo` and `hook` run while a run is closing, and do not decide it. */
  role: taskRoleSchema,
  /** The task that an undo or a hook belongs to; null for a hook of the run, and for any other task. */
  of: z.string().nullable(),
  retries: z.object({
    maxAttempts: z.int(),
    minMs: z.int(),
    baseMs: z.int(),
    factor: z.number(),
    maxMs: z.int(),
    maxLost: z.int(),
  }),
  /**
   * It waits until the same task of the run before has succeeded (`task`), and with `downstream` also for the tasks directly downstream
   * of that one; null when it does not.
   */
  past: z.enum(['task', 'downstream']).nullable(),
  timeoutMs: z.int().nullable(),
  /** What an attempt may use and how long things may take, where the task limits it. */
  limits: z.object({
    memoryBytes: z.int().optional(),
    /** After it ran out of memory, the next attempt gets so many times as much, up to a maximum. */
    onResource: z.object({ factor: z.number(), maxBytes: z.int() }).optional(),
    /** How many attempts of it may run at a time, over all runs. */
    maxActive: z.int().optional(),
    /** How many attempts of it may start per time, over all runs. */
    rate: z.object({ limit: z.int(), perMs: z.int() }).optional(),
    /** Slots of a pool that it takes while it runs. */
    pool: z.object({ name: z.string(), slots: z.int() }).optional(),
    /** What it takes of its worker while it runs: thousandths of a processor, bytes of memory and disk, pieces of anything else. */
    resources: z.record(z.string(), z.number()).optional(),
    /** Only on workers with these labels. */
    labels: z.record(z.string(), z.string()).optional(),
    /** A worker of its own. */
    exclusive: z.literal(true).optional(),
    /** Not on workers that may be taken away. */
    spot: z.literal('never').optional(),
    /** So many attempts that begin together, each on a worker of its own unless they share. */
    gang: z.object({ size: z.int(), share: z.literal(true).optional() }).optional(),
    queueTimeoutMs: z.int().optional(),
    stuckMs: z.int().optional(),
    totalTimeoutMs: z.int().optional(),
    softTimeoutMs: z.int().optional(),
  }),
  work: z.record(z.string(), z.unknown()).nullable(),
});
export type TaskSpecView = z.infer<typeof taskSpecViewSchema>;

/** A group of tasks. Mapped ones run once for each item. */
export const groupViewSchema = z.object({
  name: z.string(),
  /** The group that it is in. */
  group: z.string().nullable(),
  map: z
    .object({
      mode: z.enum(MAP_MODES),
      /** References, or lists as they are written; with names where there are several. */
      over: z.array(z.object({ name: z.string().nullable(), from: z.unknown() })),
    })
    .nullable(),
});
export type GroupView = z.infer<typeof groupViewSchema>;

/** One dag, with its tasks. */
export const dagDetailsSchema = dagViewSchema.extend({
  onFailure: z.enum(FAILURE_POLICIES),
  /** What was done is undone when a run fails or is cancelled. */
  compensate: z.boolean(),
  /** JSON Schema of the params; null when they may be anything. */
  params: z.union([z.boolean(), z.record(z.string(), z.unknown())]).nullable(),
  groups: z.array(groupViewSchema),
  maxMapSize: z.int(),
  /** What tasks with `adds` may add to a run. */
  templates: z.array(taskSpecViewSchema),
  /** How many tasks may be added to one run. */
  maxAddedTasks: z.int(),
  tasks: z.array(taskSpecViewSchema),
  /** What holds its tasks back: its own breaker, and those of errors. */
  breakers: z.array(breakerViewSchema),
  /** How many are open. */
  deadLetters: z.int(),
});
export type DagDetails = z.infer<typeof dagDetailsSchema>;

const MAX_RECENT_RUNS = 50;

/** Query of `GET /v1/dags`. */
export const DAG_SHOWS = ['running', 'failed', 'scheduled', 'paused'] as const;
export type DagShow = (typeof DAG_SHOWS)[number];

const dagFilterFields = {
  retired: z.enum(['true', 'false']).default('false').describe('With those that were deleted.'),
  tag: tagSchema.optional().describe('Only dags with this tag.'),
  owner: ownerSchema.optional().describe('Only dags of this owner.'),
  hidden: z.enum(['true', 'false']).default('false').describe('With the dags that servers make for jobs.'),
  q: z
    .string()
    .max(200)
    .optional()
    .describe('Words. Only dags that have each of them in name, description, tags or owner.'),
  show: z
    .enum(DAG_SHOWS)
    .optional()
    .describe(
      '`running`, `failed`: by the newest run. `scheduled`: those with a schedule. `paused`: those with one that is paused.',
    ),
};

/** Query of `GET /v1/dag-names`. */
export const listDagNamesSchema = z.strictObject(dagFilterFields);

/** In order. At most 50,000. */
export const dagNamePageSchema = z.object({ items: z.array(z.string()), cursor: z.null() });
export type DagNamePage = z.infer<typeof dagNamePageSchema>;

const labelSchema = z.object({
  name: z.string(),
  /** How many dags have it. */
  dags: z.int(),
});

/** By name. */
export const dagLabelsSchema = z.object({ tags: z.array(labelSchema), owners: z.array(labelSchema) });
export type DagLabels = z.infer<typeof dagLabelsSchema>;

export const listDagsSchema = pageQuerySchema.extend({
  cursor: nameSchema.optional(),
  ...dagFilterFields,
  recent: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_RECENT_RUNS)
    .default(1)
    .describe('How many of its newest runs each dag is shown with.'),
});

/** The answer to a delete: no new runs, no schedule; the runs that it has go on, and its history stays. */
export const setDagOwnerSchema = z.strictObject({
  owner: ownerSchema.nullable().describe('Who answers for it. Null: the owner of the definition counts again.'),
});
export const dagOwnerSchema = z.object({
  name: z.string(),
  /** The one that counts. */
  owner: z.string().nullable(),
  ofDefinition: z.string().nullable(),
});
export type DagOwner = z.infer<typeof dagOwnerSchema>;

export const dagRetiredSchema = z.object({ name: z.string(), retired: z.literal(true) });
export type DagRetired = z.infer<typeof dagRetiredSchema>;

export const versionSummarySchema = z.object({
  version: z.int(),
  hash: z.string(),
  deployedAt: z.iso.datetime(),
  actor: z.string(),
  /** New runs take this one. */
  current: z.boolean(),
});
export type VersionSummary = z.infer<typeof versionSummarySchema>;

/** Newest first. */
export const versionPageSchema = z.object({ items: z.array(versionSummarySchema), cursor: z.string().nullable() });
export type VersionPage = z.infer<typeof versionPageSchema>;

export const versionViewSchema = versionSummarySchema.extend({
  name: z.string(),
  priority: prioritySchema,
  maxActiveRuns: z.int().nullable(),
  maxActiveTasks: z.int().nullable(),
  /** Of one run; absent where there is none. */
  maxActiveTasksPerRun: z.int().optional(),
  /** How many attempts of its tasks may start per time. */
  rate: z.object({ limit: z.int(), perMs: z.int() }).optional(),
  /** Of active runs with the same key; absent where there is none. */
  concurrency: concurrencyViewSchema.optional(),
  schedule: scheduleSettingsSchema.nullable(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  owner: z.string().nullable(),
  event: z.string().nullable(),
  triggers: z.array(triggerViewSchema),
  bundle: z.string().nullable(),
  onFailure: z.enum(FAILURE_POLICIES),
  groups: z.array(groupViewSchema),
  maxMapSize: z.int(),
  /** What tasks with `adds` may add to a run. */
  templates: z.array(taskSpecViewSchema),
  /** How many tasks may be added to one run. */
  maxAddedTasks: z.int(),
  tasks: z.array(taskSpecViewSchema),
});
export type VersionView = z.infer<typeof versionViewSchema>;

export const dagPageSchema = z.object({ items: z.array(dagViewSchema), cursor: z.string().nullable() });
export type DagPage = z.infer<typeof dagPageSchema>;

/** The answer to `POST …/schedule/pause` and `…/resume`. */
export const schedulePausedSchema = z.object({ name: z.string(), paused: z.boolean() });
export type SchedulePaused = z.infer<typeof schedulePausedSchema>;

/** `/healthz`: the process lives. `/readyz`: it can serve. Neither needs a credential, so neither tells more than this. */
export const healthSchema = z.object({ status: z.enum(['ok', 'starting', 'unavailable']) });
export type Health = z.infer<typeof healthSchema>;

/** For reading an answer with an error; a code that this build does not know does not pass. */
export const problemBodySchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  retryable: z.boolean(),
  remedy: z.string(),
  problems: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  retryAfterMs: z.number().optional(),
});
