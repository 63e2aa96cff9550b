/** Whether a request to a webhook is signed with its secret. Comparisons take the same time whatever is wrong (I67). */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { WebhookScheme } from '@signalbox/protocol';

/** A signed instant may lie so far from now: older requests are replays. */
export const TOLERANCE_MS = 5 * 60_000;
/** Signatures of one request that are looked at: senders rotate secrets, and sign with both. */
const MOST_SIGNATURES = 10;

export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Wall clock. */
  readonly now: number;
}

/** True if the request is signed with one of the secrets. */
export function isSigned(scheme: WebhookScheme, secrets: readonly string[], delivery: Delivery): boolean {
  // All of them, whichever fits: the time must not tell.
  return secrets.map((secret) => VERIFY[scheme](secret, delivery)).includes(true);
}

const VERIFY: Readonly<Record<WebhookScheme, (secret: string, delivery: Delivery) => boolean>> = {
  standard(secret, { headers, body, now }) {
    const [id, at] = [textIn(headers['webhook-id']), textIn(headers['webhook-timestamp'])];
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const wanted = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64');
    const given = textIn(headers['webhook-signature'])
      .split(' ')
      .slice(0, MOST_SIGNATURES)
      .flatMap((part) => (part.startsWith('v1,') ? [part.slice('v1,'.length)] : []));
    return isOneOf(wanted, given) && id !== '' && isRecent(at, now);
  },
  github(secret, { headers, body }) {
    const wanted = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    return isOneOf(wanted, [textIn(headers['x-hub-signature-256'])]);
  },
  stripe(secret, { headers, body, now }) {
    const parts = textIn(headers['stripe-signature'])
      .split(',')
      .slice(0, 2 * MOST_SIGNATURES);
    const valuesOf = (name: string) =>
      parts.flatMap((part) => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []));
    const [at = ''] = valuesOf('t');
    const wanted = createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex');
    return isOneOf(wanted, valuesOf('v1').slice(0, MOST_SIGNATURES)) && isRecent(at, now);
  },
  token(secret, { headers }) {
    const bearer = /^Bearer (.+)$/.exec(textIn(headers.authorization))?.[1] ?? '';
    return isOneOf(secret, [textIn(headers['x-webhook-token']), textIn(headers['x-gitlab-token']), bearer]);
  },
};

const textIn = (header: string | readonly string[] | undefined): string => (typeof header === 'string' ? header : '');

function isOneOf(wanted: string, given: readonly string[]): boolean {
  return given.map((text) => isSame(wanted, text)).includes(true);
}

/** Hashed first: then both have one length, and the length of the secret does not show. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

function isRecent(seconds: string, now: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) * 1000 - now) <= TOLERANCE_MS;
}
