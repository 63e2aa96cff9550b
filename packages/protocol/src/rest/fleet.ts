/** Workers and servers: who is there, and what each has to do. */
import { z } from 'zod';

export const workerViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** The server that its stream ends at. */
  node: z.string(),
  queues: z.array(z.string()),
  slots: z.int(),
  running: z.int(),
  draining: z.boolean(),
  /** Milliseconds since it was last heard. */
  silentMs: z.number(),
});
export type WorkerView = z.infer<typeof workerViewSchema>;

/** Of all servers; `missing` are those that gave no answer in time. */
export const workerPageSchema = z.object({
  items: z.array(workerViewSchema),
  cursor: z.string().nullable(),
  missing: z.array(z.string()),
});
export type WorkerPage = z.infer<typeof workerPageSchema>;

/** The answer to a drain: it takes nothing new, finishes what it has and leaves. */
export const workerDrainedSchema = z.object({ id: z.string(), draining: z.literal(true) });
export type WorkerDrained = z.infer<typeof workerDrainedSchema>;

export const nodeViewSchema = z.object({
  id: z.string(),
  /** Where workers and other servers reach it. */
  address: z.string(),
  /** Where services and logs go; empty when it takes none. */
  dataAddress: z.string(),
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
