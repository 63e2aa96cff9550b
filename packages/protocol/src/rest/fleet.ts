/** Workers and servers: who is there, and what each has to do. */
import { z } from 'zod';
import { WORKER_EVENTS } from '../words.ts';
import { pageQuerySchema } from './common.ts';
import { runIdSchema } from './runs.ts';

export const workerViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** The server that its stream ends at. */
  node: z.string(),
  queues: z.array(z.string()),
  /** In which proportion it takes from its queues while all have work; absent: dags take turns, whatever their queue. */
  queueWeights: z.record(z.string(), z.int()).optional(),
  slots: z.int(),
  /** What tasks can ask for: thousandths of a processor, bytes of memory and disk, pieces of anything else. */
  resources: z.record(z.string(), z.number()).optional(),
  /** What of that no attempt has taken. */
  free: z.record(z.string(), z.number()).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  running: z.int(),
  draining: z.boolean(),
  /** It takes nothing new until it is thawed. */
  cordoned: z.boolean().optional(),
  /** A task has waited for room for long: the worker takes nothing of its priority or below until it fits. */
  reserved: z.boolean().optional(),
  /** Of its package; null for a worker that is too old to tell. */
  version: z.string().nullable().default(null),
  /** Milliseconds since it was last heard. */
  silentMs: z.number(),
});
export type WorkerView = z.infer<typeof workerViewSchema>;

/** The workers of all servers. `missing` are servers that did not answer in time. */
export const workerPageSchema = z.object({
  items: z.array(workerViewSchema),
  cursor: z.string().nullable(),
  missing: z.array(z.string()),
});
export type WorkerPage = z.infer<typeof workerPageSchema>;

/** Something that happened to a worker, also to one that is gone. */
export const workerEventSchema = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  /** The id of the worker. */
  worker: z.string(),
  name: z.string(),
  kind: z.enum(WORKER_EVENTS),
  /** The server that saw it; null for what a person asked for. */
  node: z.string().nullable(),
  /** Who asked for it; empty for what a server saw. */
  actor: z.string(),
  /** In a sentence. */
  message: z.string(),
  details: z.record(z.string(), z.unknown()),
});
export type WorkerEvent = z.infer<typeof workerEventSchema>;

export const listWorkerHistorySchema = pageQuerySchema.extend({
  worker: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Only of this worker: its name, its id, or the beginning of its id.'),
  kind: z.enum(WORKER_EVENTS).optional(),
});
export type ListWorkerHistory = z.input<typeof listWorkerHistorySchema>;

/** Newest first. */
export const workerHistorySchema = z.object({ items: z.array(workerEventSchema), cursor: z.string().nullable() });
export type WorkerHistory = z.infer<typeof workerHistorySchema>;

/** What a worker runs. */
export const heldAttemptSchema = z.object({
  dag: z.string(),
  run: runIdSchema,
  task: z.string(),
  attempt: z.int(),
});
export type HeldAttempt = z.infer<typeof heldAttemptSchema>;

/** At most 100; `more` is how many are left out. */
export const heldAttemptPageSchema = z.object({
  items: z.array(heldAttemptSchema),
  cursor: z.null(),
  more: z.int(),
});
export type HeldAttemptPage = z.infer<typeof heldAttemptPageSchema>;

export const queueViewSchema = z.object({
  name: z.string(),
  /** Tasks that are ready and wait for a slot, a limit or a breaker. */
  waiting: z.int(),
  /** Those of them that a limit or a freeze holds back: another worker would not start them. */
  held: z.int(),
  /** Tasks of this queue that run. */
  running: z.int(),
  /** Workers that serve it and take new tasks. Their slots may serve other queues too. */
  workers: z.int(),
  slots: z.int(),
  /** Age of the oldest run with a task that waits; null when nothing does. */
  oldestMs: z.int().nullable(),
  /** How many tasks were started in the last minute. */
  startsPerMinute: z.number(),
  /** When what waits will have started at that rate; null when nothing was started in the last minute. */
  drainMs: z.int().nullable(),
  /** How many workers of the present size what waits and runs would fill; null while no worker serves it. */
  wantedWorkers: z.int().nullable(),
});
export type QueueView = z.infer<typeof queueViewSchema>;

export const scaleInSchema = z.strictObject({
  to: z
    .int()
    .min(0)
    .max(1_000_000)
    .describe('How many workers of the queue stay. The least busy of the others are drained.'),
});
export type ScaleIn = z.infer<typeof scaleInSchema>;

/** `workers` serve the queue and stay; `drained` finish what they run and leave. */
export const scaledInSchema = z.object({
  queue: z.string(),
  workers: z.int(),
  drained: z.array(z.object({ id: z.string(), name: z.string(), running: z.int() })),
});
export type ScaledIn = z.infer<typeof scaledInSchema>;

/** By name: those that a worker serves, and those in which something waits. `missing` are servers that gave no answer. */
export const queuePageSchema = z.object({
  items: z.array(queueViewSchema),
  cursor: z.null(),
  missing: z.array(z.string()),
});
export type QueuePage = z.infer<typeof queuePageSchema>;

export const storageSchema = z.object({
  /** The size of the whole database, with indexes. */
  databaseBytes: z.int(),
  /** Largest first; partitions count for their table. */
  tables: z.array(z.object({ name: z.string(), bytes: z.int() })),
  /** Logs on the disk of the server that answers. */
  logBytes: z.int(),
  /** That disk: where its logs are, and the database too if the server started it itself. */
  disk: z.object({ freeBytes: z.int(), totalBytes: z.int() }),
});
export type Storage = z.infer<typeof storageSchema>;

/** The answer to a drain: it takes nothing new, finishes what it has and leaves. */
export const workerDrainedSchema = z.object({ id: z.string(), draining: z.literal(true) });
export type WorkerDrained = z.infer<typeof workerDrainedSchema>;

export const nodeViewSchema = z.object({
  id: z.string(),
  /** Where workers and other servers reach it. */
  address: z.string(),
  /** Where services and logs go; empty when it takes none. */
  dataAddress: z.string(),
  /** Of Signalbox; null for a server that is too old to tell. */
  version: z.string().nullable().default(null),
  leaving: z.boolean(),
  /** How far the clock of its machine is ahead of the database's, in milliseconds; negative when it is behind. */
  clockAheadMs: z.number().nullable(),
  /** Why it must own no shards at the moment; null when it may. */
  unfit: z.string().nullable(),
  shards: z.int(),
});
export type NodeView = z.infer<typeof nodeViewSchema>;

export const nodePageSchema = z.object({
  items: z.array(nodeViewSchema),
  cursor: z.string().nullable(),
  /** Shards that nobody owns at this moment. */
  unowned: z.int(),
});
export type NodePage = z.infer<typeof nodePageSchema>;
