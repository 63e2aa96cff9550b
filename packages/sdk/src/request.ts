/**
 * One request to the server, retried while that can help. A request that changes something has an idempotency key, the same
 * for all tries: if its answer was lost, it is sent again and never done twice (I11, I12).
 */
import { isErrorCode, type Problem, type ProblemBody, SignalboxError } from '@signalbox/protocol/errors';
import { lostNumberIn } from '@signalbox/protocol/exact-json';
import { type Answered, exchange, type Sent } from './exchange.ts';

export interface RetryTiming {
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** No try begins later than this after the first; 0 for one try only. */
  readonly retryForMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** How long one try may take before its outcome counts as unknown. */
  readonly requestMs: number;
}

export const DEFAULT_RETRIES: RetryTiming = {
  now: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
  retryForMs: 30_000,
  backoffMinMs: 100,
  backoffMaxMs: 5_000,
  requestMs: 30_000,
};

export interface Target {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: string;
  /** Null for `exchange`, which is faster. */
  readonly fetch: typeof fetch | null;
  readonly timing: RetryTiming;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Goes as JSON. */
  readonly body?: unknown;
  /** Goes as it is, in place of a body. */
  readonly bytes?: Uint8Array;
  /** One JSON value per line, in place of a body. */
  readonly lines?: string;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Names and ids are parts of the path. An empty one, `.` and `..` would make another path of it, in the client and in proxies: a
 * cancel of the task `..` would cancel its run.
 */
export function urlOf({ baseUrl }: Pick<Target, 'baseUrl'>, path: string): string {
  const [, ...parts] = (path.split('?')[0] ?? '').split('/');
  const wrong = parts.find((part) => part === '' || part === '.' || part === '..');
  if (wrong === undefined) return `${baseUrl}${path}`;
  const message = wrong === '' ? 'is empty: give a name or an id' : `is "${wrong}", which is no name or id`;
  throw new SignalboxError('BAD_REQUEST', { problems: [{ path: `a part of ${path}`, message }] });
}

/** The body of the answer, as JSON of unknown shape. Throws a `SignalboxError`, or the signal's reason. */
export async function send(target: Target, request: Request): Promise<unknown> {
  const { timing } = target;
  const startedAt = timing.now();
  // Written once: a caller may alter its objects between two tries, and one key must have one body.
  const body = request.bytes ?? request.lines ?? (request.body === undefined ? undefined : bodyText(request.body));
  for (let tries = 1; ; tries++) {
    try {
      return await sendOnce(target, request, body);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!(error instanceof SignalboxError) || !error.retryable) throw error;
      const waitMs = waitFor(error, tries, timing);
      if (timing.now() + waitMs - startedAt > timing.retryForMs) throw error;
      await timing.sleep(waitMs, request.signal);
    }
  }
}

/** Never sooner than the server asks for; spread, so that many clients do not come back together. */
export function waitFor(
  error: Pick<SignalboxError, 'details'>,
  tries: number,
  { backoffMinMs, backoffMaxMs, random }: RetryTiming,
): number {
  const most = Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(tries, 20));
  return Math.max(error.details.retryAfterMs ?? 0, 0) + backoffMinMs + random() * (most - backoffMinMs);
}

async function sendOnce(target: Target, request: Request, body: string | Uint8Array | undefined): Promise<unknown> {
  const url = urlOf(target, request.path);
  const patience = new AbortController();
  // Passed on by hand: a signal that AbortSignal.any made may be collected before it fires (Node 20).
  const stop = () => patience.abort(request.signal?.reason);
  request.signal?.addEventListener('abort', stop, { once: true });
  if (request.signal?.aborted) stop();
  const timer = setTimeout(() => patience.abort(new Error('no answer in time')), target.timing.requestMs);
  let answered: Answered;
  try {
    const sent: Sent = { method: request.method, headers: headersOf(target, request), body, signal: patience.signal };
    answered = await (target.fetch === null ? exchange(url, sent) : fetched(target.fetch, url, sent));
  } catch (error) {
    throw noAnswer(request, error);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', stop);
  }
  if (answered.status >= 200 && answered.status < 300) return parseJson(answered.text);
  throw refusalOf(answered, request);
}

async function fetched(fetch: NonNullable<Target['fetch']>, url: string, { body, ...sent }: Sent): Promise<Answered> {
  // A credential is for the server that it was given for.
  return answeredOf(await fetch(url, { ...sent, redirect: 'error', ...(body === undefined ? {} : { body }) }));
}

export async function answeredOf(response: Response): Promise<Answered> {
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
}

function headersOf({ token }: Target, { body, bytes, lines, idempotencyKey }: Request): Record<string, string> {
  return {
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    ...(bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(lines === undefined ? {} : { 'content-type': 'application/x-ndjson' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

function bodyText(body: unknown): string {
  const text = JSON.stringify(body);
  const lost = lostNumberIn(body, text ?? '');
  if (lost === null) return text;
  throw new SignalboxError('BAD_REQUEST', { problems: [lost] });
}

/** Without an answer a change may have been made; a question has changed nothing. */
function noAnswer({ method, idempotencyKey }: Request, cause: unknown): SignalboxError {
  if (method === 'GET') return new SignalboxError('UNAVAILABLE', { reason: 'the server gave no answer' }, { cause });
  return new SignalboxError('UNKNOWN_OUTCOME', idempotencyKey === undefined ? {} : { key: idempotencyKey }, { cause });
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new SignalboxError('INTERNAL', { incident: 'none: the answer was not JSON' }, { cause });
  }
}

export function refusalOf(answered: Answered, request: Request): SignalboxError {
  const { status, text } = answered;
  const body = (safeJson(text) ?? {}) as { readonly [name: string]: unknown };
  const { code, detail } = body;
  const told = typeof body.retryAfterMs === 'number' ? body.retryAfterMs : retryAfterOf(answered);
  const after = told === undefined ? {} : { retryAfterMs: told };
  if (isErrorCode(code) && typeof detail === 'string') {
    const problems = problemsIn(body.problems);
    const remedy = typeof body.remedy === 'string' ? body.remedy : null;
    return new RemoteRefusal(code, { detail, remedy }, { ...after, ...(problems.length === 0 ? {} : { problems }) });
  }
  // Something on the way has answered in the server's place.
  const reason = `status ${status}`;
  if (status === 502 || status === 504) return noAnswer(request, new Error(reason));
  if (status === 503 || status === 429) return new SignalboxError('UNAVAILABLE', { ...after, reason });
  return new SignalboxError('INTERNAL', { incident: `none: ${reason} without a problem body` });
}

function problemsIn(value: unknown): Problem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: { readonly path?: unknown; readonly message?: unknown } | null) =>
    typeof item?.path === 'string' && typeof item.message === 'string'
      ? [{ path: item.path, message: item.message }]
      : [],
  );
}

interface Sentences {
  readonly detail: string;
  readonly remedy: string | null;
}

/** Keeps the server's own sentences: it knows the names that belong in them. */
class RemoteRefusal extends SignalboxError {
  readonly #told: Sentences;

  constructor(code: SignalboxError['code'], told: Sentences, details: SignalboxError['details']) {
    super(code, details);
    this.#told = told;
    const places = (details.problems ?? []).slice(0, 5).map(({ path, message }) => `${path} ${message}`);
    this.message = [told.detail, places.join('; ')].filter(Boolean).join(' ');
  }

  override body(): ProblemBody {
    const body = super.body();
    const { detail, remedy } = this.#told;
    return { ...body, detail, remedy: remedy ?? body.remedy };
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function retryAfterOf({ retryAfter }: Answered): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
