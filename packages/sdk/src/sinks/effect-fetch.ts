/** A call to an outside system that happens once, however often the task is retried. */
import { type HandlerContext, PermanentError, RetryAfter, retryAfterOf, TransientError } from '../handler.ts';

type ErrorClass = 'transient' | 'permanent';

export interface EffectFetchOptions extends RequestInit {
  /** Names this call among several of the same task: each has a key of its own. */
  readonly step?: string;
  /** Asks the server first whether this attempt still holds the task: for systems that do not know Idempotency-Key. */
  readonly assertOwned?: boolean;
  /** Statuses that mean success; 200 to 299 unless told. */
  readonly expect?: readonly number[];
  /** What other statuses mean. Unless told, 408, 425, 429 and 5xx may pass, and the others do not. */
  readonly statuses?: Readonly<Record<number, ErrorClass>>;
}

type Caller = Pick<HandlerContext, 'effectKey' | 'signal' | 'assertOwned'>;

const MAY_PASS: ReadonlySet<number> = new Set([408, 425, 429]);
const SHOWN_CHARS = 500;

/**
 * As `fetch`, with the effect key of the task as its Idempotency-Key (`<key>:<step>` with a step), the attempt's signal, and an error
 * of the right class for an answer that is no success: with Retry-After, not before that.
 *
 * @example const paid = await effectFetch(ctx, 'https://bank.example/charges', { method: 'POST', body, step: 'charge' });
 */
export async function effectFetch(
  context: Caller,
  url: string | URL,
  { step, assertOwned = false, expect, statuses, ...init }: EffectFetchOptions = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has('idempotency-key')) headers.set('idempotency-key', keyOf(context, step));
  if (assertOwned) await context.assertOwned();
  const signals = init.signal === undefined || init.signal === null ? [] : [init.signal];
  const response = await fetch(url, { ...init, headers, signal: AbortSignal.any([context.signal, ...signals]) });
  const isExpected = expect === undefined ? response.ok : expect.includes(response.status);
  if (isExpected) return response;
  throw await errorOf(response, init.method ?? 'GET', statuses?.[response.status]);
}

/** The same for all attempts of the task; another one for each step of it. */
export function keyOf({ effectKey }: Pick<HandlerContext, 'effectKey'>, step: string | undefined): string {
  return step === undefined ? effectKey : `${effectKey}:${step}`;
}

async function errorOf(response: Response, method: string, told: ErrorClass | undefined): Promise<Error> {
  const { status } = response;
  const text = (await response.text().catch(() => '')).trim();
  const shown = text === '' ? '' : `\n${text.slice(0, SHOWN_CHARS)}${text.length > SHOWN_CHARS ? '…' : ''}`;
  const message = `${method} ${shownUrl(response.url)} was answered with status ${status}.${shown}`;
  const code = `http:${status}`;
  const mayPass = told === undefined ? MAY_PASS.has(status) || status >= 500 : told === 'transient';
  if (!mayPass) return new PermanentError(message, { code });
  const waitMs = retryAfterOf(response.headers.get('retry-after'));
  return waitMs === null ? new TransientError(message, { code }) : new RetryAfter(waitMs, message, { code });
}

/** A password in an address is for the server that it is sent to. */
function shownUrl(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}
