/** Why attempts went to their workers, and why then. */
import { z } from 'zod';
import { runIdSchema } from './runs.ts';

const amounts = z.record(z.string(), z.number());

/** What the matcher knew when it claimed the task. */
export const decisionFactsSchema = z.object({
  /** `turn`: the next worker in turn. `placed`: the best of those with room. `speculative`: beside a slow attempt. `gang`: with all other members of its gang. */
  kind: z.enum(['turn', 'placed', 'speculative', 'gang']),
  priority: z.enum(['critical', 'high', 'normal', 'low', 'backfill']),
  queue: z.string(),
  /** What the task asks of a worker; null: a slot. */
  request: z
    .object({
      resources: amounts,
      labels: z.record(z.string(), z.string()),
      exclusive: z.boolean(),
      noSpot: z.boolean(),
    })
    .nullable(),
  /** Tasks of its queue, request and priority that could begin, this one included, and the dags that they are of. */
  waiting: z.int(),
  dags: z.int(),
  /** Tenants whose tasks waited for the same workers; null: only the tenant that runs the installation is told. */
  tenants: z.int().nullable(),
  /** Workers that could have had a free slot. */
  workers: z.int(),
  /** How many of those that were looked at had room. */
  fitting: z.int(),
  /** Up to 8 of them; the first is the one that it went to. */
  candidates: z.array(
    z.object({
      /** Null for a worker of another tenant that serves this one too. */
      worker: z.string().nullable(),
      name: z.string().nullable(),
      /** The lower, the better; null where workers take turns. */
      score: z.number().nullable(),
      /** What was free of it. */
      slots: z.int(),
      room: amounts,
    }),
  ),
  /** Limits that it was under, what it took of each, and what was free before. */
  limits: z.array(z.object({ limit: z.string(), takes: z.number(), free: z.number() })),
  /** `standing`: until recalled. `once`: for one decision. `reserved`: the worker was kept for it. */
  loan: z.enum(['standing', 'once', 'reserved']),
  /** The slot came free in the same moment: the task waited for it. */
  slotCameFree: z.boolean(),
});
export type DecisionFacts = z.infer<typeof decisionFactsSchema>;

export const decisionViewSchema = z.object({
  attempt: z.int(),
  worker: z.string().nullable(),
  workerName: z.string().nullable(),
  /** When it could begin, limits and pauses aside: what it needs had ended, or its backoff was over. */
  readyAt: z.iso.datetime().nullable(),
  /** Null for a claim that never reached its worker: it was made again. */
  claimedAt: z.iso.datetime().nullable(),
  waitedMs: z.int().nullable(),
  /** In sentences. */
  message: z.string(),
  /** Null where it was not kept. */
  known: decisionFactsSchema.nullable(),
});
export type DecisionView = z.infer<typeof decisionViewSchema>;

/** Of one task, oldest first. */
export const decisionPageSchema = z.object({
  run: runIdSchema,
  task: z.string(),
  items: z.array(decisionViewSchema),
  cursor: z.null(),
});
export type DecisionPage = z.infer<typeof decisionPageSchema>;
