/** The log of an attempt: its lines, from a number on. */
import { z } from 'zod';

export const LOG_STREAMS = ['stdout', 'stderr', 'log', 'system'] as const;
/** `log`: what user code said through its context. `system`: what the worker has to say about the attempt. */
export const logStreamSchema = z.enum(LOG_STREAMS);

export const logLineSchema = z.object({
  /** Counted from 0, without a gap. */
  no: z.int(),
  /** By the worker's clock. */
  at: z.iso.datetime(),
  stream: logStreamSchema,
  text: z.string(),
});
export type LogLine = z.infer<typeof logLineSchema>;

/** Servers that may have lines of it and gave no answer: numbers that lack may lie there. */
const missing = z.array(z.string());

/** `next` is where to read on; with `isOver` nothing more will come. */
export const logPageSchema = z.object({
  lines: z.array(logLineSchema),
  next: z.int(),
  isOver: z.boolean(),
  missing: missing.default([]),
});
export type LogPage = z.infer<typeof logPageSchema>;

export const MAX_LOG_LINES = 1_000;

/** Query of the log of an attempt. Comes as text. */
export const readLogSchema = z.strictObject({
  from: z.coerce.number().int().min(0).max(0x7fff_ffff).default(0),
  limit: z.coerce.number().int().min(1).max(MAX_LOG_LINES).default(MAX_LOG_LINES),
  follow: z.enum(['true', 'false']).default('false'),
  format: z
    .enum(['json', 'text'])
    .optional()
    .describe('`text`: the whole log as a file, for links; programs ask for `text/plain` instead.'),
});
export type ReadLog = z.infer<typeof readLogSchema>;

export const runLogLineSchema = logLineSchema.extend({ task: z.string(), attempt: z.int() });
export type RunLogLine = z.infer<typeof runLogLineSchema>;

/** Lines of all tasks of a run by their time. `next` is the cursor of what comes after them. */
export const runLogPageSchema = z.object({
  lines: z.array(runLogLineSchema),
  next: z.string(),
  isOver: z.boolean(),
  missing: missing.default([]),
});
export type RunLogPage = z.infer<typeof runLogPageSchema>;

/** 200 attempts side by side take some 8,000 characters. */
const LONGEST_CURSOR = 16_000;

export const readRunLogSchema = readLogSchema
  .omit({ from: true })
  .extend({ cursor: z.string().min(1).max(LONGEST_CURSOR).optional() });
export type ReadRunLog = z.infer<typeof readRunLogSchema>;
