/** The past and the future of one dag: its runs by tasks, how long they took, and when it fires next. */
import { z } from 'zod';
import { nameSchema } from './common.ts';
import { instanceCountsSchema, runIdSchema, runOutcomeSchema, runStateSchema, taskRoleSchema } from './runs.ts';

const instant = z.iso.datetime();

const MAX_GRID_RUNS = 100;
const MAX_HISTORY_RUNS = 2_000;
const MAX_FIRINGS = 100;

/** Query of `GET /v1/dags/{name}/grid`. */
export const dagGridQuerySchema = z.strictObject({
  runs: z.coerce.number().int().min(1).max(MAX_GRID_RUNS).default(25).describe('How many of its newest runs.'),
});

/** Runs of one version that go equally far have the same tasks. */
export const gridShapeSchema = z.object({ names: z.array(z.string()), role: z.array(taskRoleSchema) });

export const gridRunSchema = z.object({
  id: runIdSchema,
  version: z.int(),
  state: runStateSchema,
  outcome: runOutcomeSchema.nullable(),
  createdAt: instant,
  endedAt: instant.nullable(),
  /** Which of `shapes` has its tasks. */
  shape: z.int(),
  /** Places in the list of states of a task: place `i` is task `i` of the shape. */
  states: z.array(z.int()),
  /** Of mapped tasks, by place. */
  instances: z.record(z.string(), instanceCountsSchema),
});
export type GridRun = z.infer<typeof gridRunSchema>;

/** The newest runs of a dag with the states of all their tasks, newest first. */
export const dagGridSchema = z.object({
  runs: z.array(gridRunSchema),
  shapes: z.array(gridShapeSchema),
  /** Older runs were left out, because all of them together have too many tasks for one answer. */
  cut: z.boolean(),
});
export type DagGrid = z.infer<typeof dagGridSchema>;

/** Query of `GET /v1/dags/{name}/history`. */
export const dagHistoryQuerySchema = z.strictObject({
  runs: z.coerce.number().int().min(1).max(MAX_HISTORY_RUNS).default(500).describe('How many of its newest runs.'),
});

/** The newest runs of a dag in columns, newest first: place `i` of each column is one run. */
export const dagHistorySchema = z.object({
  ids: z.array(runIdSchema),
  state: z.array(runStateSchema),
  outcome: z.array(runOutcomeSchema.nullable()),
  createdAt: z.array(instant),
  /** From its creation to its end, in milliseconds; null while it has not ended. */
  tookMs: z.array(z.int().nullable()),
  version: z.array(z.int()),
});
export type DagHistory = z.infer<typeof dagHistorySchema>;

/** Query of `GET /v1/dags/{name}/firings`. */
export const listFiringsSchema = z.strictObject({
  count: z.coerce.number().int().min(1).max(MAX_FIRINGS).default(10).describe('How many of the next firings.'),
  schedule: nameSchema.optional().describe('Of this schedule. Default: the first one of the dag.'),
});

export const firingSchema = z.object({
  firesAt: instant,
  /** How far the clock of the schedule's zone is ahead of UTC at that time, in minutes. */
  offsetMinutes: z.number(),
  /** What a clock in the zone shows, with its offset from UTC. */
  local: z.string(),
  /** What a clock change, the calendar or jitter does here; null where none has a hand in it. */
  note: z.string().nullable(),
});

/** Empty for a dag without a schedule. A schedule that is paused is answered as if it were not. */
export const firingPageSchema = z.object({ items: z.array(firingSchema), cursor: z.null() });
export type FiringPage = z.infer<typeof firingPageSchema>;
