/** Streams of the API as loops: events without end, the lines of a log until it is complete. */
import type { EventView, LogLine, RunLogLine } from '@signalbox/protocol';
import { SignalboxError } from '@signalbox/protocol/errors';
import type { AttemptName, Client } from './client-types.ts';
import { type Following, follow } from './event-stream.ts';
import type { Target } from './request.ts';
import { loadSchemas, type Parser } from './schemas.ts';

export async function* eventsOf(target: Target, following: Following): AsyncGenerator<EventView, void> {
  const { eventViewSchema } = await loadSchemas();
  for await (const { id, data } of follow(target, following)) {
    // The cursor is the event's id: it would only be repeated in the body.
    yield parsed(eventViewSchema, { cursor: id, ...(JSON.parse(data) as object) });
  }
}

interface FollowedLog {
  readonly attempt: AttemptName;
  readonly path: string;
  readonly from: number;
  readonly signal: AbortSignal | undefined;
}

/** The server ends the stream with an event named `end`, and then nothing is asked for any more. */
export async function* linesOf(
  target: Target,
  client: Pick<Client, 'readLog'>,
  { attempt, path, from, signal }: FollowedLog,
): AsyncGenerator<LogLine, void> {
  const { logLineSchema } = await loadSchemas();
  let next = from;
  // A first look tells who asks for what is not there, at once, and saves a stream for a log that is over.
  for (let isFull = true; isFull; ) {
    const page = await client.readLog(attempt, { from: next }, signal === undefined ? {} : { signal });
    yield* page.lines;
    next = page.next;
    if (page.isOver && page.lines.length === 0) return;
    isFull = page.lines.length > 0;
  }
  const following = { path, lastId: next === 0 ? '' : String(next - 1), signal };
  for await (const { event, data } of follow(target, following, ({ event: name }) => name === 'end')) {
    if (event === 'end') return;
    const line = parsed(logLineSchema, JSON.parse(data));
    if (line.no < next) continue;
    next = line.no + 1;
    yield line;
  }
}

/** A stream that broke off in the middle of a page begins that page again: lines that were seen are left out. */
export async function* runLinesOf(target: Target, following: Following): AsyncGenerator<RunLogLine, void> {
  const { runLogLineSchema } = await loadSchemas();
  const next = new Map<string, number>();
  for await (const { event, data } of follow(target, following, ({ event: name }) => name === 'end')) {
    if (event === 'end') return;
    const line = parsed(runLogLineSchema, JSON.parse(data));
    const attempt = `${line.attempt} ${line.task}`;
    if (line.no < (next.get(attempt) ?? 0)) continue;
    next.set(attempt, line.no + 1);
    yield line;
  }
}

function parsed<T>(schema: Parser<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new SignalboxError('INTERNAL', { incident: 'none: an event has another shape' }, { cause: result.error });
}
