/** The event that a request to a webhook becomes. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CloudEvent, WebhookScheme } from '@signalbox/protocol';
import { toIso } from '../iso-instants.ts';
import { parseJson } from '../rest/body.ts';
import type { Delivery } from './verify.ts';

const SHOWN = /^(?:content-type|user-agent|x-[a-z0-9-]{1,100}|webhook-(?:id|timestamp))$/;
const SECRET = /signature|token|secret|auth|forwarded|real-ip/;
const LONGEST_HEADER = 1_000;

export function eventOf(id: string, scheme: WebhookScheme, { headers, body, now }: Delivery): CloudEvent {
  const data = dataOf(headers, body);
  return {
    specversion: '1.0',
    id: idOf(scheme, headers, body, data),
    source: `/v1/webhooks/${id}`,
    type: typeOf(scheme, headers, data),
    time: toIso(now),
    ...(data === undefined ? {} : { data }),
    headers: shownHeaders(headers),
  };
}

/**
 * What makes a delivery the same as another. Only what is signed counts: an id in a header that is not signed could be changed
 * to replay a request. GitHub signs the body alone, so the body is the id.
 */
function idOf(scheme: WebhookScheme, headers: IncomingHttpHeaders, body: Buffer, data: unknown): string {
  switch (scheme) {
    case 'standard':
      return String(headers['webhook-id']);
    case 'github':
      return createHash('sha256').update(body).digest('hex');
    case 'stripe':
      return fieldOf(data, 'id') ?? createHash('sha256').update(body).digest('hex');
    case 'token': {
      const given = headers['idempotency-key'] ?? headers['webhook-id'];
      return typeof given === 'string' && given !== '' ? given.slice(0, 255) : randomUUID();
    }
  }
}

/** `webhook.github.push`, `webhook.stripe.invoice.paid`, `webhook.standard`. */
function typeOf(scheme: WebhookScheme, headers: IncomingHttpHeaders, data: unknown): string {
  const github = headers['x-github-event'];
  const more = scheme === 'github' && typeof github === 'string' ? github : fieldOf(data, 'type');
  const isPlain = more !== null && /^[A-Za-z0-9_.-]{1,150}$/.test(more);
  return (scheme === 'github' || scheme === 'stripe') && isPlain ? `webhook.${scheme}.${more}` : `webhook.${scheme}`;
}

function fieldOf(data: unknown, name: string): string | null {
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, name)) return null;
  const value = (data as Record<string, unknown>)[name];
  return typeof value === 'string' && value !== '' ? value.slice(0, 255) : null;
}

/** JSON if it says so; a form of GitHub's older hooks has JSON in its field `payload`. Anything else is text. */
function dataOf(headers: IncomingHttpHeaders, body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type)) return parseJson(body);
  if (type === 'application/x-www-form-urlencoded') {
    const payload = new URLSearchParams(body.toString('utf8')).get('payload');
    if (payload !== null) return parseJson(Buffer.from(payload));
  }
  return body.toString('utf8');
}

function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' &&
      SHOWN.test(entry[0]) &&
      !SECRET.test(entry[0]) &&
      entry[1].length <= LONGEST_HEADER,
  );
  return Object.fromEntries(shown);
}
