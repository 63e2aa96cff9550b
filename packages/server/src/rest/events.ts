/** The event stream over HTTP, and events sent from outside. */
import { setTimeout as pause } from 'node:timers/promises';
import type { TenantId } from '@signalbox/engine';
import {
  type CloudEvent,
  type EventPage,
  type ListEvents,
  listEventsSchema,
  nameSchema,
  parseOr,
  type SentEvent,
  type SentEvents,
  type Signalled,
  signalEventSchema,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { decodeCursor, encodeCursor, type Position } from '../events/cursor.ts';
import { DigestBuilder } from '../events/digest.ts';
import { EventFeed, type FeedEvent } from '../events/feed.ts';
import { systemClock } from '../ports/clock.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { namedEvent, readEventBodies, readEvents } from './read-event.ts';
import type { RestParts } from './rest-parts.ts';
import { sseFrame, streamEvents } from './sse.ts';
import { takeEvent } from './take-event.ts';

type EventRequest = FastifyRequest<{ Params: { name: string } }>;

/** How far one page of JSON looks for what passes its filter. */
const READS_PER_PAGE = 50;

export function eventRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;
  const feed = new EventFeed(queries);

  app.get('/v1/events', async (request, reply) => {
    const { tenantId } = callerOf(request);
    const query = parseOr(listEventsSchema, request.query, 'BAD_REQUEST');
    const passes = filterOf(tenantId, query);
    const start = await fromDatabase(() => startOf(request, feed, query), request.log);
    const { accept = '' } = request.headers;
    // A stream is for whoever asks for one: programs that take anything wait for an answer that ends.
    if (!accept.includes('text/event-stream')) {
      return fromDatabase(() => readPage(feed, start, query.limit, passes), request.log);
    }
    // Before the first byte: what can't be read any more is still a refusal with a status.
    await fromDatabase(() => feed.read(start), request.log);
    const { digestMs } = query;
    return streamEvents(request, reply, parts, (signal) =>
      digestMs === undefined
        ? follow(feed, start, passes, signal)
        : followDigests(feed, start, { passes, digestMs, signal }),
    );
  });

  app.post('/v1/events/:name', async (request: EventRequest) => {
    const type = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
    const { payload } = parseOr(signalEventSchema, request.body ?? {}, 'BAD_REQUEST');
    return once<Signalled>(request, parts, {
      target: type,
      body: payload ?? null,
      make: (key) => takeEvent(request, parts, namedEvent(type, payload), { by: 'key', key }),
    });
  });

  app.register(async (scope) => {
    readEventBodies(scope);
    scope.post('/v1/events', async (request) => {
      const { events, form } = readEvents(request);
      return once<SentEvent | SentEvents>(request, parts, {
        target: '',
        body: form === 'named' ? request.body : events,
        make: async (key) => {
          const send = async (event: CloudEvent): Promise<SentEvent> => {
            const identity = form === 'named' ? ({ by: 'key', key } as const) : ({ by: 'event' } as const);
            const { source, id } = event;
            return { source, id, ...(await takeEvent(request, parts, event, identity)) };
          };
          if (form !== 'batch' && events[0] !== undefined) return send(events[0]);
          const sent: SentEvent[] = [];
          // One after the other: events of one sender start their runs in the order of the batch.
          for (const event of events) sent.push(await send(event));
          return { events: sent };
        },
      });
    });
  });
}

async function startOf(request: FastifyRequest, feed: EventFeed, { after, from }: ListEvents): Promise<Position> {
  const lastId = request.headers['last-event-id'];
  const cursor = typeof lastId === 'string' && lastId !== '' ? lastId : after;
  if (cursor === undefined) return feed.begin(from);
  const position = decodeCursor(cursor);
  if (position === null) throw badRequest('after', 'is not one that an event has given');
  await feed.look();
  return position;
}

function filterOf(tenantId: TenantId, { dag, run, kind }: ListEvents): (event: FeedEvent) => boolean {
  const uid = run?.toLowerCase();
  const kinds = kind === undefined ? null : new Set<string>(kind);
  // A marker passes every filter: the commit that it stands for may have held what is asked for.
  return ({ tenantId: owner, view }) =>
    owner === null ||
    (owner === tenantId &&
      (dag === undefined || view.dag === dag) &&
      (uid === undefined || view.run === uid) &&
      (kinds === null || kinds.has(view.kind)));
}

async function readPage(
  feed: EventFeed,
  start: Position,
  limit: number,
  passes: (event: FeedEvent) => boolean,
): Promise<EventPage> {
  const items: EventPage['items'] = [];
  let position = start;
  for (let reads = 0; reads < READS_PER_PAGE; reads++) {
    const { events, end } = await feed.read(position);
    for (const event of events) {
      if (!passes(event)) continue;
      const cursor = encodeCursor(event.position);
      items.push({ cursor, ...event.view });
      if (items.length >= limit) return { items, cursor };
    }
    if (end === position) break;
    position = end;
  }
  return { items, cursor: encodeCursor(position) };
}

/** Frames for ever. One without data only says where the reader is: also who has heard nothing yet can go on from there. */
async function* follow(
  feed: EventFeed,
  start: Position,
  passes: (event: FeedEvent) => boolean,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let position = start;
  yield sseFrame({ id: encodeCursor(position) });
  while (!signal.aborted) {
    const { events, end } = await feed.read(position);
    let frames = '';
    for (const event of events) {
      if (!passes(event)) continue;
      frames += sseFrame({
        id: encodeCursor(event.position),
        event: event.view.kind,
        data: JSON.stringify(event.view),
      });
      if (frames.length < FRAMES_AT_ONCE) continue;
      yield frames;
      frames = '';
    }
    if (frames !== '') yield frames;
    const isAtEnd = end === position;
    position = end;
    if (!isAtEnd) continue;
    const waitedFrom = systemClock.mono();
    await feed.more(position, HEARTBEAT_MS, signal);
    if (systemClock.mono() - waitedFrom >= HEARTBEAT_MS)
      yield sseFrame({ id: encodeCursor(position), comment: 'still here' });
  }
}

interface Digesting {
  readonly passes: (event: FeedEvent) => boolean;
  readonly digestMs: number;
  readonly signal: AbortSignal;
}

/** One frame for all that happened in a while. The first event after a quiet time is told at once. */
async function* followDigests(
  feed: EventFeed,
  start: Position,
  { passes, digestMs, signal }: Digesting,
): AsyncGenerator<string, void> {
  let position = start;
  yield sseFrame({ id: encodeCursor(position) });
  while (!signal.aborted) {
    const begunAt = systemClock.mono();
    const digest = new DigestBuilder();
    for (let isAtEnd = false; !isAtEnd && systemClock.mono() - begunAt < digestMs; ) {
      const { events, end } = await feed.read(position);
      for (const event of events) if (passes(event)) digest.add(event);
      isAtEnd = end === position;
      position = end;
    }
    const id = encodeCursor(position);
    if (!digest.isEmpty) {
      yield sseFrame({ id, event: 'digest', data: JSON.stringify(digest.build()) });
      await pause(digestMs, undefined, { signal }).catch(() => undefined);
    }
    const waitedFrom = systemClock.mono();
    await feed.more(position, HEARTBEAT_MS, signal);
    if (systemClock.mono() - waitedFrom >= HEARTBEAT_MS) yield sseFrame({ id, comment: 'still here' });
  }
}

const FRAMES_AT_ONCE = 32 * 1024;
const HEARTBEAT_MS = 15_000;
