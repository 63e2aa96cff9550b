/** `http:` — makes a call; the response is the output. */
import { classIn, type HttpWork, MAX_OUTPUT_BYTES } from '@signalbox/protocol';
import { InexactJson, parseExactJson } from '@signalbox/protocol/exact-json';
import {
  type AddressPolicy,
  AddressRefused,
  exchange,
  type HttpAnswer,
  type HttpRequest,
} from '@signalbox/protocol/outbound';
import { errorCode, PermanentError, retryAfterOf } from '@signalbox/sdk';
import type { Mask } from '../../logs/mask.ts';
import { failure, type Result, resultOfReturn } from '../../result.ts';
import type { Execution } from '../execution.ts';
import type { Executor, Job, JobListener } from '../port.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const HAS_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
/** What may go better the next time. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429]);
const KEPT_HEADERS = ['content-type', 'etag', 'last-modified', 'location', 'retry-after', 'x-request-id'];
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);
const SHOWN_CHARS = 500;

export class HttpExecutor implements Executor {
  readonly #policy: AddressPolicy;

  constructor(policy: AddressPolicy) {
    this.#policy = policy;
  }

  start(job: Job, listener: JobListener): Execution {
    const controller = new AbortController();
    void this.#call(job, controller.signal).then((result) => listener.end(result));
    return {
      stop: (reason) => {
        if (reason !== 'lost') controller.abort();
      },
      kill: () => {
        controller.abort();
        return true;
      },
    };
  }

  async close(): Promise<void> {}

  async #call(job: Job, stopped: AbortSignal): Promise<Result> {
    const work = job.work.shape as HttpWork;
    const late = AbortSignal.timeout(work.timeoutMs);
    try {
      const answer = await this.#follow(job, work, AbortSignal.any([stopped, late]));
      return resultOf(answer, work, job.attempt.mask);
    } catch (error) {
      if (stopped.aborted) return failure('cancelled', '');
      if (late.aborted)
        return failure(
          'transient',
          `${named(work)} was not answered within ${work.timeoutMs / 1000} s.`,
          'http:timeout',
        );
      const text = job.attempt.mask.text(shortError(error));
      const isFinal = error instanceof AddressRefused || error instanceof PermanentError;
      return failure(isFinal ? 'permanent' : 'transient', `${named(work)} failed: ${text}`, errorCode(error));
    }
  }

  async #follow(job: Job, work: HttpWork, signal: AbortSignal): Promise<HttpAnswer> {
    const { log } = job;
    let request = requestOf(job, work);
    for (let redirects = 0; ; redirects++) {
      const answer = await exchange(request, this.#policy, { bodyBytes: MAX_OUTPUT_BYTES, signal });
      log.line('system', `${request.method} ${shownUrl(request.url)} was answered with ${answer.status}.`);
      const { location } = answer.headers;
      const isWanted = work.expect?.includes(answer.status) ?? false;
      if (!REDIRECTS.has(answer.status) || location === undefined || isWanted) return answer;
      if (redirects === MAX_REDIRECTS) throw new PermanentError(`it was redirected more than ${MAX_REDIRECTS} times.`);
      request = redirected(request, answer.status, location, secretHeaders(work));
    }
  }
}

function requestOf({ assignment, context }: Job, work: HttpWork): HttpRequest {
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(work.headers)) {
    headers[name.toLowerCase()] = context.text(`headers.${name}`, 'header', text);
  }
  headers['idempotency-key'] ??= assignment.effectKey;
  headers['user-agent'] ??= 'signalbox';
  headers['accept-encoding'] = 'identity';
  const { method } = work;
  let body: Buffer | null = null;
  if (work.body !== undefined || HAS_BODY.has(method)) {
    const content = work.body === undefined ? context.inputs : context.value('body', 'body', work.body);
    headers['content-type'] ??= typeof content === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
    body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  }
  const written = context.text('url', 'url', work.url);
  return { method, url: new URL(written), written, headers, body };
}

const secretHeaders = (work: HttpWork): ReadonlySet<string> =>
  new Set(Object.entries(work.headers).flatMap(([name, text]) => (text.includes('${{') ? [name.toLowerCase()] : [])));

/** As browsers do it: after 303, and after 301 and 302 of a POST, the next one is a GET. Credentials stay at their origin. */
function redirected(from: HttpRequest, status: number, location: string, secret: ReadonlySet<string>): HttpRequest {
  if (!URL.canParse(location, from.url.href)) throw new PermanentError('it was redirected to an invalid URL.');
  const url = new URL(location, from.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new PermanentError(`it was redirected to ${url.protocol}, which is not allowed.`);
  }
  const isSame = url.origin === from.url.origin;
  const becomesGet =
    (status === 303 && from.method !== 'HEAD') || (status !== 307 && status !== 308 && from.method === 'POST');
  const headers = Object.fromEntries(
    Object.entries(from.headers).filter(([name]) => {
      if (becomesGet && name === 'content-type') return false;
      return isSame || !(CREDENTIALS.has(name) || secret.has(name));
    }),
  );
  // A place relative to the last one says nothing of its host.
  const written = /^[a-z]+:/i.test(location) ? location : location.startsWith('//') ? `http:${location}` : url.href;
  return { method: becomesGet ? 'GET' : from.method, url, written, headers, body: becomesGet ? null : from.body };
}

function resultOf({ status, headers, body, isCut }: HttpAnswer, work: HttpWork, mask: Mask): Result {
  const isExpected = work.expect === undefined ? status >= 200 && status < 300 : work.expect.includes(status);
  const text = body.toString();
  if (!isExpected) {
    const safe = mask.text(text);
    const shown = safe.trim() === '' ? '' : `\n${safe.slice(0, SHOWN_CHARS)}${safe.length > SHOWN_CHARS ? '…' : ''}`;
    const usual = RETRYABLE.has(status) || status >= 500 ? 'transient' : 'permanent';
    const outcome = classIn(work.statuses, status) ?? usual;
    const retryAfterMs = retryAfterOf(headers['retry-after']);
    return {
      ...failure(outcome, `${named(work)} was answered with status ${status}.${shown}`, `http:${status}`),
      ...(retryAfterMs === null || outcome !== 'transient' ? {} : { retryAfterMs }),
    };
  }
  if (isCut) {
    return failure(
      'permanent',
      `${named(work)} was answered with more than ${MAX_OUTPUT_BYTES} bytes, which is the limit of an output.`,
    );
  }
  const kept = Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
  try {
    return resultOfReturn({ status, headers: kept, body: parsed(text, String(headers['content-type'] ?? '')) });
  } catch (error) {
    if (!(error instanceof InexactJson)) throw error;
    return failure('permanent', `${named(work)} was answered with JSON that can't be kept: ${error.message}`);
  }
}

function parsed(text: string, type: string): unknown {
  if (!/[/+]json\b/i.test(type)) return text;
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw error;
    return text;
  }
}

const named = ({ method, url }: HttpWork): string => `${method} ${shownUrl(new URL(url))}`;

/** A password in an address is for the server that it is sent to. */
function shownUrl(url: URL): string {
  if (url.username === '' && url.password === '') return url.href;
  const shown = new URL(url.href);
  shown.username = '***';
  shown.password = '';
  return shown.href;
}

/** Node's own text, or what it is made of when several addresses were tried. */
function shortError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(shortError).join('; ');
  return error instanceof Error ? error.message : String(error);
}
