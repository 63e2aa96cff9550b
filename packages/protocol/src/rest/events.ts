/** What became true, as it becomes true: the event stream, and events from outside that make runs. */
import { z } from 'zod';
import { MAX_PAGE } from '../limits.ts';
import { EVENT_KINDS } from '../words.ts';
import { nameSchema } from './common.ts';
import { paramsSchema, runIdSchema } from './runs.ts';

export const eventKindSchema = z.enum(EVENT_KINDS);
export type EventKind = z.infer<typeof eventKindSchema>;

/** One thing that became true. `details` depends on the kind; readers must bear with more than they know. */
export const eventViewSchema = z.object({
  /** Where to go on after this event: `Last-Event-ID`, or `?after=`. */
  cursor: z.string(),
  /** One of `EVENT_KINDS`, or a word that a newer server uses: a client passes it on, and does not end its stream. */
  kind: z.union([eventKindSchema, z.string() as unknown as z.ZodType<string & {}>]),
  at: z.iso.datetime(),
  /** Null for what belongs to no dag, and for `events.skipped`: nobody can tell which dags the commit was about. */
  dag: z.string().nullable(),
  run: runIdSchema.nullable(),
  task: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
});
export type EventView = z.infer<typeof eventViewSchema>;

/** `cursor` goes on after the last item, also when nothing more is there yet. */
export const eventPageSchema = z.object({ items: z.array(eventViewSchema), cursor: z.string() });
export type EventPage = z.infer<typeof eventPageSchema>;

const CURSOR_CHARS = 1_200;
export const eventCursorSchema = z
  .string()
  .max(CURSOR_CHARS)
  .regex(/^[A-Za-z0-9_-]+$/, 'is not one that an event has given');

/** Query of `GET /v1/events`. `kind` may hold several, with commas between. */
export const listEventsSchema = z.strictObject({
  dag: nameSchema.optional(),
  run: runIdSchema.optional(),
  kind: z
    .string()
    .max(400)
    .transform((text) => text.split(','))
    .pipe(z.array(eventKindSchema))
    .optional(),
  after: eventCursorSchema.optional(),
  /** Without a cursor: only what comes, or everything that the journal still has. */
  from: z.enum(['now', 'start']).default('now'),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(100),
  digestMs: z.coerce
    .number()
    .int()
    .min(100)
    .max(60_000)
    .optional()
    .describe('For a stream: at most one `digest` in so many milliseconds, in place of each event.'),
});
export type ListEvents = z.infer<typeof listEventsSchema>;

/** What a stream with `digestMs` carries: what to read again. `more`: the lists do not name everything. */
export const eventDigestSchema = z.object({
  count: z.int(),
  dags: z.array(z.string()),
  runs: z.array(runIdSchema),
  kinds: z.array(z.string()),
  more: z.boolean(),
});
export type EventDigest = z.infer<typeof eventDigestSchema>;

/** Body of `POST /v1/events/{name}`: the payload becomes the params of each run. */
export const signalEventSchema = z.strictObject({ payload: paramsSchema.optional() });
export type SignalEvent = z.infer<typeof signalEventSchema>;

/** What became of an event: the same answer however often it is sent. */
export const signalledSchema = z.object({
  /** False: no trigger of any dag takes it. */
  matched: z.boolean(),
  /** `held`: the run is made when its batch is complete, or no other event has come for a while. */
  runs: z.array(z.object({ dag: z.string(), id: runIdSchema, held: z.literal(true).optional() })),
  /** Dags that do not accept the params. */
  refused: z
    .array(z.object({ dag: z.string(), problems: z.array(z.object({ path: z.string(), message: z.string() })) }))
    .optional(),
  /** Triggers of its type that do not take it, and why. */
  unmatched: z.array(z.object({ dag: z.string(), trigger: z.string(), reason: z.string() })).optional(),
});
export type Signalled = z.infer<typeof signalledSchema>;
