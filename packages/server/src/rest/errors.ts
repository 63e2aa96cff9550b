/** Turns every error into `application/problem+json`, using the error table. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Answer, QuotaRefusal, RefusalCode } from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import { type ErrorCode, type ErrorDetails, QUOTA_MEANINGS, SignalboxError } from '@signalbox/protocol';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { wantsSite } from './pages/site.ts';
import { sendPage, wayInPage } from './pages/way-in.ts';

const RETRY_MS = 1_000;

export function sendProblem(reply: FastifyReply, error: SignalboxError): FastifyReply {
  const body = error.body();
  const { retryAfterMs } = body;
  if (retryAfterMs !== undefined) reply.header('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  if (body.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer');
  return reply.code(body.status).header('content-type', 'application/problem+json').send(JSON.stringify(body));
}

/** For fastify: what a handler threw, or what fastify itself refuses. */
export function onError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof SignalboxError) {
    const isReader = error.code === 'UNAUTHENTICATED' && wantsPage(request);
    return isReader ? sendPage(reply.code(401), wayInPage('This page needs a session.')) : sendProblem(reply, error);
  }
  // The connection would be closed with the rest of the body unread, and the sender would see a reset in place of the answer. What
  // still comes is read and dropped, for as long as a request may take.
  if ((error as FastifyError).code === 'FST_ERR_CTP_BODY_TOO_LARGE') reply.removeHeader('connection');
  const known = refusalOfFastify(error as FastifyError, request);
  if (known !== null) return sendProblem(reply, known);
  const incident = randomUUID();
  request.log.error({ incident, error: error instanceof Error ? error.stack : String(error) }, 'A request failed.');
  return sendProblem(reply, new SignalboxError('INTERNAL', { incident }));
}

/** A person with a browser, at a page of the server or at an address of the UI. */
function wantsPage(request: FastifyRequest): boolean {
  const { method, headers, routeOptions } = request;
  const { operation } = routeOptions.config;
  if (operation === undefined) return wantsSite(request);
  return method === 'GET' && operation.answer === 'text/html' && (headers.accept ?? '').includes('text/html');
}

function refusalOfFastify(error: FastifyError, request: FastifyRequest): SignalboxError | null {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const limit = `${request.routeOptions.bodyLimit ?? 0} bytes`;
    return new SignalboxError('TOO_LARGE', { what: 'The body', limit });
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return badRequest('content-type', 'must be application/json');
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? badRequest('', 'could not be read') : null;
}

/** For what can't even be read as a request: no handler ever sees it. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const refusal = isTooLarge
    ? new SignalboxError('TOO_LARGE', { what: 'The head of the request', limit: '16 KiB' })
    : badRequest('', isLate ? 'must be sent within 10 s' : 'is not HTTP as it should be');
  const body = JSON.stringify(refusal.body());
  const status = isTooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request';
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status}\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroy(error);
}

export function badRequest(path: string, message: string): SignalboxError {
  return new SignalboxError('BAD_REQUEST', { problems: [{ path, message }] });
}

export function unavailable(reason: string): SignalboxError {
  return new SignalboxError('UNAVAILABLE', { reason, retryAfterMs: RETRY_MS });
}

/** SQLSTATE classes that are faults of ours: whatever else a question fails with, the database is away or too busy. */
const OUR_FAULTS = ['22', '23', '42'];

/** Asks the database; when it can't answer, the caller may ask again. */
export async function fromDatabase<T>(ask: () => Promise<T>, log: FastifyRequest['log']): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const isOurs =
      error instanceof TypeError || (typeof code === 'string' && OUR_FAULTS.some((ours) => code.startsWith(ours)));
    if (isOurs || error instanceof SignalboxError) throw error;
    log.warn({ error: String(error) }, 'The database did not answer a question.');
    throw unavailable('the database gives no answer');
  }
}

const REFUSALS: Readonly<Record<RefusalCode, ErrorCode>> = {
  DAG_NOT_FOUND: 'DAG_NOT_FOUND',
  RUN_NOT_FOUND: 'RUN_NOT_FOUND',
  SCHEDULE_NOT_FOUND: 'SCHEDULE_NOT_FOUND',
  SCHEDULE_INVALID: 'SCHEDULE_INVALID',
  SCHEDULE_EXISTS: 'SCHEDULE_EXISTS',
  SCHEDULE_OF_DEFINITION: 'SCHEDULE_OF_DEFINITION',
  TOO_MANY_SCHEDULES: 'TOO_MANY_SCHEDULES',
  IDEMPOTENCY_CONFLICT: 'IDEMPOTENCY_CONFLICT',
  PARAMS_UNCHECKED: 'UNAVAILABLE',
  RUN_KEY_TAKEN: 'RUN_KEY_TAKEN',
  UNTIL_INVALID: 'UNTIL_INVALID',
  TASK_OUTSIDE_RUN: 'TASK_OUTSIDE_RUN',
  TASK_NOT_FOUND: 'TASK_NOT_FOUND',
  TASK_NOT_RETRYABLE: 'TASK_NOT_RETRYABLE',
  DEAD_LETTER_NOT_FOUND: 'DEAD_LETTER_NOT_FOUND',
  DEAD_LETTER_CLOSED: 'DEAD_LETTER_CLOSED',
  BREAKER_NOT_FOUND: 'BREAKER_NOT_FOUND',
  BACKFILL_NOT_FOUND: 'BACKFILL_NOT_FOUND',
  BACKFILL_ENDED: 'BACKFILL_ENDED',
  BACKFILL_INVALID: 'BACKFILL_INVALID',
  WINDOW_INVALID: 'WINDOW_INVALID',
  RUN_TIME_INVALID: 'RUN_TIME_INVALID',
  TASK_BUSY: 'TASK_BUSY',
  TASK_ENDED: 'TASK_ENDED',
  TOO_MANY_TASKS: 'TOO_MANY_TASKS',
  OUTPUT_INVALID: 'OUTPUT_INVALID',
  RUN_CLOSING: 'RUN_CLOSING',
  RUN_WOULD_CLOSE: 'RUN_WOULD_CLOSE',
  RUN_ENDED: 'RUN_ENDED',
  RUN_OF_BACKFILL: 'RUN_OF_BACKFILL',
  RUN_SET_ASIDE: 'RUN_SET_ASIDE',
  STALE_TOKEN: 'STALE_TOKEN',
  EXTEND_REFUSED: 'EXTEND_REFUSED',
  ADD_REFUSED: 'ADD_REFUSED',
  QUOTA_NEEDED: 'UNAVAILABLE',
  QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
  QUOTA_NOT_FOUND: 'QUOTA_NOT_FOUND',
  LIMIT_OF_QUOTA: 'LIMIT_OF_QUOTA',
  NOT_OWNER: 'UNAVAILABLE',
};

function overQuota(detail: string): SignalboxError {
  const { quota, hard, used, retryAfterMs } = JSON.parse(detail) as QuotaRefusal;
  return new SignalboxError('QUOTA_EXCEEDED', { quota, what: QUOTA_MEANINGS[quota], hard, used, retryAfterMs });
}

/** What a command was answered, or the error that stands for how it ended. */
export function answerOf<Kind extends Extract<Answer, { ok: true }>['kind']>(
  routed: Routed,
  kind: Kind,
  details: ErrorDetails,
): Extract<Answer, { ok: true; kind: Kind }> {
  if (routed.status === 'overloaded') throw new SignalboxError('OVERLOADED', { retryAfterMs: RETRY_MS });
  if (routed.status === 'unavailable') throw unavailable('no server owns the part of the schedule that it belongs to');
  if (routed.status === 'unknown') throw new SignalboxError('UNKNOWN_OUTCOME', { retryAfterMs: RETRY_MS });
  const { answer } = routed;
  if (!answer.ok) {
    if (answer.code === 'QUOTA_EXCEEDED') throw overQuota(answer.detail);
    const reason = answer.detail.replace(/\.$/, '');
    throw new SignalboxError(REFUSALS[answer.code], { ...details, reason, key: answer.detail });
  }
  if (answer.kind === kind) return answer as Extract<Answer, { ok: true; kind: Kind }>;
  throw new Error(`A command was answered ${answer.kind} instead of ${kind}.`);
}
