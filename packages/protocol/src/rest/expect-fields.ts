/** `expect`: events that must come by a time. One that does not is an event itself: `signalbox.event.missing`. */
import { z } from 'zod';
import { nameSchema, spanSchema } from './common.ts';
import { MAX_EXPRESSION_CHARS } from './expression.ts';
import { eventPatternSchema } from './triggers.ts';

const MAX_EXPECTED = 20;
const DAY_MS = 86_400_000;
/** The type of the event that tells of a missing one. */
export const MISSING_EVENT = 'signalbox.event.missing';
/** And of the event that tells of a new file in a watched folder. */
export const FILE_EVENT = 'signalbox.file.created';
/** Sent for each new object under a prefix that servers watch. */
export const OBJECT_EVENT = 'signalbox.object.created';

const expectSchema = z.strictObject({
  /** Unique within the dag; the type unless told. */
  name: nameSchema.optional(),
  type: eventPatternSchema,
  source: z.string().min(1).max(1_000).optional(),
  where: z.string().min(1).max(MAX_EXPRESSION_CHARS).optional(),
  /** A cron expression: at each of its times one must have come since the time before. */
  by: z.string().min(1).max(200).optional(),
  /** Of `by`; UTC unless told. */
  zone: z.string().min(1).max(100).optional(),
  /** Never longer than this without one. */
  within: spanSchema({ minMs: 1_000, maxMs: 366 * DAY_MS, example: '"10m" or "1d"' }).optional(),
});

export const expectFields = {
  /** Events that the dag expects. */
  expect: z.union([expectSchema, z.array(expectSchema).min(1).max(MAX_EXPECTED)]).optional(),
} as const;

export type Expected = z.output<typeof expectSchema>;

/** An expectation as it is. */
export const expectationViewSchema = z.object({
  dag: z.string(),
  name: z.string(),
  type: z.string(),
  source: z.string().optional(),
  where: z.string().optional(),
  by: z.string().optional(),
  zone: z.string().optional(),
  withinMs: z.int().optional(),
  /** The time that is looked at begins here. */
  since: z.iso.datetime(),
  /** When an event must have come; null: it is missing, and the next one begins anew. */
  due: z.iso.datetime().nullable(),
  /** When the last one came; null: none has, since the dag expects it. For `by` the first of each time. */
  lastAt: z.iso.datetime().nullable(),
});
export type ExpectationView = z.infer<typeof expectationViewSchema>;

/** Query of `GET /v1/expectations`. */
export const listExpectationsSchema = z.strictObject({ dag: nameSchema.optional().describe('Of this dag only.') });
export const expectationPageSchema = z.object({ items: z.array(expectationViewSchema), cursor: z.null() });
export type ExpectationPage = z.infer<typeof expectationPageSchema>;

/** What editors show of it. */
export const EXPECT_WORDS = {
  expect: {
    description: `Events that must come by a time. If one does not, an event of type ${MISSING_EVENT} is sent to triggers.`,
    examples: [{ type: 'orders.arrived', by: '0 6 * * *', zone: 'Europe/Berlin' }],
  },
  'expect.name': { description: 'Unique within the dag. Default: the type.' },
  'expect.type': { description: 'Type of the event, or the beginning of types.', examples: ['orders.arrived'] },
  'expect.source': { description: 'Source of the event, or the beginning of sources.', examples: ['/shop/*'] },
  'expect.where': { description: 'A condition over the event.', examples: ['event.data.rows > 0'] },
  'expect.by': {
    description: 'A cron expression. At each of its times an event must have come since the time before.',
    examples: ['0 6 * * *'],
  },
  'expect.zone': { description: 'Time zone of by. Default: UTC.', examples: ['Europe/Berlin'] },
  'expect.within': { description: 'The longest time without an event.', examples: ['10m'] },
} as const;
