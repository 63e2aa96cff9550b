/** What people do to runs and tasks by hand: clear, mark, pause, make again. */
import { z } from 'zod';
import { MAX_NAMED_TASKS, MAX_OUTPUT_BYTES } from '../limits.ts';
import { PRIORITIES } from '../words.ts';
import { jsonFault, nameSchema, prioritySchema } from './common.ts';
import { tagSchema } from './dag-definition.ts';
import { paramsSchema, runIdSchema, runOutcomeSchema, taskStateSchema } from './runs.ts';
import { taskIdSchema } from './tasks.ts';

/** What a person may say has become of a task; `cancelled` is asked for on its own. */
export const TASK_MARKS = ['succeeded', 'failed', 'skipped'] as const;
export const taskMarkSchema = z.enum(TASK_MARKS);
export type TaskMark = z.infer<typeof taskMarkSchema>;

const taskNames = z
  .array(taskIdSchema)
  .min(1, 'must name at least one task')
  .max(MAX_NAMED_TASKS, `must name at most ${MAX_NAMED_TASKS} tasks`);
const states = z.array(taskStateSchema).min(1).max(20);
const force = z.boolean().optional().describe('Stop running attempts.');
const dryRun = z.boolean().optional().describe('Only report what would change.');
const reason = z.string().max(1_000).optional().describe('The reason. Shown with the task.');

const selection = {
  tasks: taskNames.optional().describe('Task names. A mapped task selects all its instances.'),
  states: states.optional().describe('Only tasks in these states.'),
  downstream: z.boolean().optional().describe('Also the tasks that depend on them. Default: true.'),
  upstream: z.boolean().optional().describe('Also the tasks that they depend on.'),
  force,
  dryRun,
};

const isChosen = ({ tasks, states }: { tasks?: unknown; states?: unknown }) =>
  tasks !== undefined || states !== undefined;
const CHOOSE = { path: ['tasks'], message: 'must be given, or states: what is to be cleared?' };

export const clearSchema = z.strictObject(selection).refine(isChosen, CHOOSE);
export type Clear = z.infer<typeof clearSchema>;

/** The runs of a dag, newest first, in pages. */
export const clearRunsSchema = z
  .strictObject({
    ...selection,
    outcome: runOutcomeSchema.optional().describe('Only runs with this outcome. Default: failed.'),
    since: z.iso.datetime().optional().describe('Only runs created at or after this time.'),
    until: z.iso.datetime().optional().describe('Only runs created before this time.'),
    cursor: z.string().optional(),
    limit: z.int().min(1).max(100).optional().describe('Maximum number of runs. Default: 20.'),
  })
  .refine(isChosen, CHOOSE);
export type ClearRuns = z.infer<typeof clearRunsSchema>;

const output = z.unknown().superRefine((value, context) => {
  const fault = value === undefined ? null : jsonFault(value, { bytes: MAX_OUTPUT_BYTES });
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

export const markSchema = z
  .strictObject({ tasks: taskNames, as: taskMarkSchema, output: output.optional(), reason, force, dryRun })
  .refine(({ as, output }) => output === undefined || as === 'succeeded', {
    path: ['output'],
    message: 'is for a task that is marked as succeeded',
  });
export type MarkTasks = z.infer<typeof markSchema>;

export const cancelTaskSchema = z.strictObject({ reason, dryRun });
export type CancelTask = z.infer<typeof cancelTaskSchema>;

export const touchedTaskSchema = z.object({
  task: z.string(),
  before: taskStateSchema,
  after: taskStateSchema,
  /** `decided`: by what has become of those before it. `closes`: it runs to close the run. */
  how: z.enum(['cleared', 'marked', 'cancelled', 'decided', 'closes']),
  /** Number of the attempt that was stopped for it. */
  stopped: z.int().nullable(),
});
export type TouchedTask = z.infer<typeof touchedTaskSchema>;

/** What was done to the tasks of a run, or would be. Of very many the first thousand are named. */
export const touchedSchema = z.object({
  run: runIdSchema,
  dryRun: z.boolean(),
  /** The run had ended, and is open again. */
  reopened: z.boolean(),
  count: z.int(),
  tasks: z.array(touchedTaskSchema),
});
export type Touched = z.infer<typeof touchedSchema>;

/** A page of runs that were looked at, each with what was done to it or why not. */
export const clearedRunsSchema = z.object({
  items: z.array(z.object({ run: runIdSchema, count: z.int(), reopened: z.boolean(), refused: z.string().nullable() })),
  cursor: z.string().nullable(),
});
export type ClearedRuns = z.infer<typeof clearedRunsSchema>;

/** Which runs something is done to: those that have not ended, newest first, in pages. */
const runFilter = {
  dag: nameSchema.optional().describe('Only runs of this dag.'),
  tag: tagSchema.optional().describe('Only runs of dags with this tag.'),
  state: z.enum(['queued', 'open']).optional().describe('Only runs that wait, or that are active. Default: both.'),
  priority: prioritySchema.optional().describe('Only runs with this priority.'),
  concurrencyKey: z.string().optional().describe('Only runs with this key.'),
  since: z.iso.datetime().optional().describe('Only runs created at or after this time.'),
  until: z.iso.datetime().optional().describe('Only runs created before this time.'),
  cursor: z.string().optional(),
  limit: z.int().min(1).max(100).optional().describe('Maximum number of runs that are looked at. Default: 100.'),
};
const runFilterSchema = z.strictObject(runFilter);
export type RunFilter = z.infer<typeof runFilterSchema>;

const isNarrow = ({ dag, tag }: { dag?: unknown; tag?: unknown }) => dag !== undefined || tag !== undefined;
const narrow = (what: string) => ({ path: ['dag'], message: `must be given, or tag: which runs are to ${what}?` });

export const cancelRunsSchema = z
  .strictObject({
    ...runFilter,
    force: z.boolean().optional().describe('Also end teardowns, undos and hooks, and do not wait for attempts.'),
    graceMs: z
      .int()
      .min(0)
      .max(3_600_000)
      .optional()
      .describe('How long running attempts have to stop. Default: 10 s.'),
    dryRun: z.boolean().optional().describe('Only report which runs would be cancelled.'),
  })
  .refine(isNarrow, narrow('be cancelled'));
export type CancelRuns = z.infer<typeof cancelRunsSchema>;

/** A page of runs that fit the filter, each with what was done to it or why not. */
export const cancelledRunsSchema = z.object({
  dryRun: z.boolean(),
  items: z.array(
    z.object({
      run: runIdSchema,
      dag: z.string(),
      /** Before it was cancelled. */
      state: z.enum(['queued', 'open']),
      refused: z.string().nullable(),
    }),
  ),
  cursor: z.string().nullable(),
});
export type CancelledRuns = z.infer<typeof cancelledRunsSchema>;

export const setPrioritySchema = z.strictObject({ priority: prioritySchema.describe('The new priority of the run.') });
export type SetPriority = z.infer<typeof setPrioritySchema>;

export const prioritySetSchema = z.object({
  run: runIdSchema,
  before: z.enum(PRIORITIES),
  priority: z.enum(PRIORITIES),
});
export type PrioritySet = z.infer<typeof prioritySetSchema>;

export const setPrioritiesSchema = z
  .strictObject({
    ...runFilter,
    to: prioritySchema.describe('The new priority.'),
    dryRun: z.boolean().optional().describe('Only report which runs would get another priority.'),
  })
  .refine(isNarrow, narrow('get another priority'));
export type SetPriorities = z.infer<typeof setPrioritiesSchema>;

const { state: _state, ...endedFilter } = runFilter;

/** Failed runs: their failed tasks run again, and what depends on them. */
export const retryRunsSchema = z
  .strictObject({
    ...endedFilter,
    dryRun: z.boolean().optional().describe('Only report which runs would open again, and how many tasks would run.'),
  })
  .refine(isNarrow, narrow('be retried'));
export type RetryRuns = z.infer<typeof retryRunsSchema>;

/** A page of failed runs that fit the filter, each with what was done to it or why not. */
export const retriedRunsSchema = z.object({
  dryRun: z.boolean(),
  items: z.array(
    z.object({
      run: runIdSchema,
      dag: z.string(),
      /** Tasks that run again, or may. */
      count: z.int(),
      refused: z.string().nullable(),
    }),
  ),
  cursor: z.string().nullable(),
});
export type RetriedRuns = z.infer<typeof retriedRunsSchema>;

/** A page of runs that fit the filter and have another priority, each with what was done to it or why not. */
export const prioritiesSetSchema = z.object({
  dryRun: z.boolean(),
  items: z.array(
    z.object({
      run: runIdSchema,
      dag: z.string(),
      state: z.enum(['queued', 'open']),
      before: z.enum(PRIORITIES),
      refused: z.string().nullable(),
    }),
  ),
  cursor: z.string().nullable(),
});
export type PrioritiesSet = z.infer<typeof prioritiesSetSchema>;

export const pausedSchema = z.object({ run: runIdSchema, task: z.string().nullable(), paused: z.boolean() });
export type Paused = z.infer<typeof pausedSchema>;

export const rerunSchema = z.strictObject({
  version: z.enum(['same', 'latest']).optional().describe('Of the dag: as the run had it, or the newest.'),
  params: paramsSchema.optional().describe('Other params. Default: the params of the run.'),
  dryRun: z.boolean().optional().describe('Only report which run would start.'),
});
export type Rerun = z.infer<typeof rerunSchema>;

export const rerunAnswerSchema = z.object({ id: runIdSchema, rerunOf: runIdSchema, version: z.int() });
export type RerunAnswer = z.infer<typeof rerunAnswerSchema>;

/** The run that would be made. */
export const rerunPreviewSchema = z.object({
  dryRun: z.literal(true),
  rerunOf: runIdSchema,
  dag: z.string(),
  version: z.int(),
  priority: z.enum(PRIORITIES),
  params: z.unknown(),
});
export type RerunPreview = z.infer<typeof rerunPreviewSchema>;
