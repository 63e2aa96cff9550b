/**
 * A call of the API is a REST request made inside the process. The same guards, limits, idempotency and code answer both, so
 * the two can't diverge (docs/decisions/0013).
 */
import type { Metadata, ServerErrorResponse } from '@grpc/grpc-js';
import { isErrorCode, type ProblemBody, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { type BindAddress, showAddress } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { refusalOf, refusalOfProblem } from '../refusal.ts';

export interface RestRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** JSON text. */
  readonly body?: string;
  readonly idempotencyKey?: string;
}

export interface RestPorts {
  readonly app: FastifyInstance;
  /** Where REST is served: it answers to its own name only. */
  readonly bind: BindAddress;
  readonly logger: Logger;
}

/** The context of a call, apart from its message. */
interface CallContext {
  readonly metadata: Metadata;
  getPeer(): string;
}

export type RestAnswer = Readonly<Record<string, unknown>>;

/** The body of the answer; throws `RestRefusal` for one that is none. */
export async function callRest(ports: RestPorts, call: CallContext, request: RestRequest): Promise<RestAnswer> {
  const { statusCode, payload } = await ports.app.inject(injected(ports, call, request));
  return answerOf(statusCode, payload);
}

/** Answers that never end, as text. Throws a refusal like the above. */
export async function streamRest(
  ports: RestPorts,
  call: CallContext,
  request: RestRequest,
  gone: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const asked = injected(ports, call, request);
  const headers = { ...asked.headers, accept: 'text/event-stream' };
  const response = await ports.app.inject({ ...asked, headers, payloadAsStream: true });
  const body = response.stream();
  const end = () => response.raw.res.destroy();
  if (gone.aborted) end();
  gone.addEventListener('abort', end, { once: true });
  if (response.statusCode < 400) return body;
  let payload = '';
  for await (const chunk of body as AsyncIterable<Buffer>) payload += chunk.toString();
  answerOf(response.statusCode, payload);
  throw new Error('A refusal was taken for an answer.');
}

function answerOf(statusCode: number, payload: string): RestAnswer {
  const body = JSON.parse(payload) as RestAnswer;
  if (statusCode < 400) return body;
  throw new RestRefusal(body as unknown as ProblemBody);
}

function injected(ports: RestPorts, call: CallContext, request: RestRequest) {
  const [authorization] = call.metadata.get('authorization');
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    // What is absent comes over the wire as empty or 0.
    if (value !== undefined && value !== '' && value !== 0) query.set(name, String(value));
  }
  return {
    method: request.method,
    url: query.size === 0 ? request.path : `${request.path}?${query.toString()}`,
    remoteAddress: call.getPeer().replace(/:\d+$/, ''),
    headers: {
      host: showAddress(ports.bind),
      ...(typeof authorization === 'string' ? { authorization } : {}),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(request.idempotencyKey ? { 'idempotency-key': request.idempotencyKey } : {}),
    },
    ...(request.body === undefined ? {} : { payload: request.body }),
  };
}

export class RestRefusal extends Error {
  readonly problem: ProblemBody;

  constructor(problem: ProblemBody) {
    super(problem.detail);
    this.problem = problem;
  }
}

export function statusOf(error: unknown, logger: Logger): ServerErrorResponse {
  if (error instanceof RestRefusal && isErrorCode(error.problem.code)) return refusalOfProblem(error.problem);
  return refusalOf(error, logger);
}

/** Header values may hold no other characters; a key with others is refused in the words of the one table. */
export function keyIn(key: string): string {
  if (/^[\x21-\x7e]{0,255}$/.test(key)) return key;
  throw new SignalboxError('BAD_REQUEST', {
    problems: [{ path: 'idempotency_key', message: 'must have up to 255 printable ASCII characters without spaces' }],
  });
}
