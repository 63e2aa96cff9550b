/** Reads the events of a request: CloudEvents in structured, batch or binary mode, or the body of before CloudEvents. */
import { randomUUID } from 'node:crypto';
import {
  CLOUD_EVENT,
  CLOUD_EVENT_BATCH,
  type CloudEvent,
  cloudEventBatchSchema,
  cloudEventSchema,
  namedEventSchema,
  parseOr,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJson } from './body.ts';
import { badRequest } from './errors.ts';

/** Where events come from whose sender did not say. */
const OWN_SOURCE = '/v1/events';
const MORE_TYPES = [CLOUD_EVENT, CLOUD_EVENT_BATCH];

/** Within the scope of this route, bodies of any type are read: the headers say what they are. */
export function readEventBodies(app: FastifyInstance): void {
  app.addContentTypeParser(MORE_TYPES, { parseAs: 'buffer' }, (_, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
}

interface ReadEvents {
  readonly events: readonly CloudEvent[];
  /** `batch`: the answer is a list, too. `named`: it has no id of its sender. */
  readonly form: 'single' | 'batch' | 'named';
}

export function readEvents(request: FastifyRequest): ReadEvents {
  const { body, headers } = request;
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === CLOUD_EVENT_BATCH)
    return { events: parseOr(cloudEventBatchSchema, body, 'BAD_REQUEST'), form: 'batch' };
  if (headers['ce-specversion'] !== undefined && mediaType !== CLOUD_EVENT)
    return { events: [parseOr(cloudEventSchema, binaryEvent(request, mediaType), 'BAD_REQUEST')], form: 'single' };
  if (body instanceof Buffer)
    throw badRequest('content-type', `must be ${CLOUD_EVENT} or ${CLOUD_EVENT_BATCH}, or come with ce- headers`);
  if (typeof body === 'object' && body !== null && 'name' in body && !('specversion' in body)) {
    const { name, payload } = parseOr(namedEventSchema, body, 'BAD_REQUEST');
    return { events: [namedEvent(name, payload)], form: 'named' };
  }
  return { events: [parseOr(cloudEventSchema, body, 'BAD_REQUEST')], form: 'single' };
}

export function namedEvent(type: string, data: unknown): CloudEvent {
  return { specversion: '1.0', id: randomUUID(), source: OWN_SOURCE, type, ...(data === undefined ? {} : { data }) };
}

/** Attributes are headers, and the body is the data. */
function binaryEvent({ headers, body }: FastifyRequest, mediaType: string): Record<string, unknown> {
  const event: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith('ce-') || typeof value !== 'string') continue;
    event[name.slice('ce-'.length)] = decodeHeader(value);
  }
  delete event.data;
  delete event.data_base64;
  if (mediaType !== '') event.datacontenttype = mediaType;
  if (body === undefined) return event;
  if (!(body instanceof Buffer)) return { ...event, data: body };
  if (/^application\/(?:[\w.-]+\+)?json$/.test(mediaType)) return { ...event, data: parseJson(body) };
  if (mediaType.startsWith('text/')) return { ...event, data: body.toString('utf8') };
  return body.length === 0 ? event : { ...event, data_base64: body.toString('base64') };
}

/** Characters that a header cannot hold come percent-encoded. What is not well-formed stays as it is. */
function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
