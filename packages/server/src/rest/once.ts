/**
 * One idempotency key, one outcome, for the changes for which the engine keeps no keys (I11). The key is stored before the
 * change is made, its answer afterwards; a request with the same key gets the stored answer. All these changes can be made
 * twice without harm, so an interrupted one is simply made again.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { canonical, idempotencyKeySchema, SignalboxError } from '@signalbox/protocol';
import type { BegunRequest, RequestKey } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

export interface Change<T> {
  /** What it is about: a dag, a run, a token. */
  readonly target: string;
  readonly body?: unknown;
  /** `again`: an earlier request with this key was cut off, and may have made the change. */
  make(key: string | null, again: boolean): Promise<T>;
  /** Stored in place of the answer, where that holds a secret. */
  hide?(answer: T): unknown;
  /** Restores the answer that was stored. */
  show?(stored: unknown, key: string): T;
}

/** Longer than any request takes. */
const CUT_OFF_MS = 12_000;
const LOOK_AGAIN_MS = 50;

export async function once<T>(request: FastifyRequest, parts: RestParts, change: Change<T>): Promise<T> {
  const key = keyIn(request);
  if (key === null) return change.make(null, false);
  const { tenantId } = callerOf(request);
  const operation = request.routeOptions.config.operation?.id ?? '';
  const row: RequestKey = { tenantId, operation, target: change.target, key };
  const begun = await begin(request, parts, row, bodyHash(change.body));
  if (begun.state === 'conflict') throw new SignalboxError('IDEMPOTENCY_CONFLICT', { key });
  if (begun.state === 'answered') return change.show?.(begun.answer, key) ?? (begun.answer as T);
  const { queries } = parts;
  try {
    const answer = await change.make(key, begun.again);
    await queries.answerRequest(row, { status: 200, answer: change.hide?.(answer) ?? answer });
    return answer;
  } catch (error) {
    const isRefusal = error instanceof SignalboxError && error.code !== 'UNKNOWN_OUTCOME';
    // Whether it works or not: a row that stays is taken over when it is old enough.
    await (isRefusal ? queries.forgetRequest(row) : queries.releaseRequest(row)).catch(() => undefined);
    if (error instanceof SignalboxError) throw error;
    request.log.warn({ error: String(error) }, 'The outcome of a change is not known.');
    throw new SignalboxError('UNKNOWN_OUTCOME', { retryAfterMs: 1_000 });
  }
}

/** Waits while another request with the same key is under way, for as long as this one may take. */
export async function begin(request: FastifyRequest, { queries, leftMs }: RestParts, row: RequestKey, hash: string) {
  for (;;) {
    const begun: BegunRequest = await fromDatabase(
      () => queries.beginRequest(row, { bodyHash: hash, cutOffMs: CUT_OFF_MS }),
      request.log,
    );
    if (begun.state !== 'under_way') return begun;
    if (leftMs(request) < LOOK_AGAIN_MS * 4) throw new SignalboxError('UNKNOWN_OUTCOME', { retryAfterMs: 1_000 });
    await pause(LOOK_AGAIN_MS);
  }
}

/** The key that a request carries; null when it has none. */
export function keyIn({ headers }: FastifyRequest): string | null {
  const header = headers['idempotency-key'];
  if (header === undefined) return null;
  const parsed = idempotencyKeySchema.safeParse(header);
  if (!parsed.success) throw badRequest('idempotency-key', parsed.error.issues[0]?.message ?? 'is not valid');
  return parsed.data;
}

/** By what it means, not by how it is written. */
export function bodyHash(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(body ?? null)))
    .digest('hex');
}
