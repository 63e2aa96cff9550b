/**
 * Submissions, one or up to a thousand at a time. A batch is one command and one answer: nothing here is done per item
 * but reading it.
 */
import { createHash } from 'node:crypto';
import { type Instant, makeRunUid, type SubmitRuns, uidOfItem } from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import {
  MAX_BATCH_RUNS,
  MAX_PARAMS_BYTES,
  nameSchema,
  PRIORITIES,
  type Priority,
  parseOr,
  SignalboxError,
  type Submitted,
  type SubmittedBatch,
  submitBatchSchema,
  submitSchema,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/bearer.ts';
import { randomBits } from '../ports/clock.ts';
import type { RestParts } from './app.ts';
import type { DagPlace } from './dag-lookup.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { keyIn } from './once.ts';

type Item = SubmitRuns['items'][number];
type DagRequest = FastifyRequest<{ Params: { name: string } }>;

const BATCH_BYTES = 8 * 1024 * 1024;

export function submitRoutes(app: FastifyInstance, parts: RestParts): void {
  app.post('/v1/dags/:name/runs', async (request: DagRequest, reply) => {
    const item = readItem(request.body ?? {}) ?? explainItem(request.body);
    const { uid } = await submit(request, parts, [item]);
    return reply.code(201).send({ id: uid } satisfies Submitted);
  });

  app.post('/v1/dags/:name/runs/batch', { bodyLimit: BATCH_BYTES }, async (request: DagRequest, reply) => {
    const items = readBatch(request.body) ?? explainBatch(request.body);
    const { uid, count } = await submit(request, parts, items);
    const ids = Array.from({ length: count }, (_, index) => uidOfItem(uid, index));
    return reply.code(201).send({ ids } satisfies SubmittedBatch);
  });
}

async function submit(request: DagRequest, parts: RestParts, items: readonly Item[]) {
  const caller = callerOf(request);
  const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
  const key = keyOf(request, items);
  const { dags } = parts;
  const known = dags.peek(caller.tenantId, name);
  if (known !== undefined) {
    const routed = await send(request, parts, caller, known, { items, key });
    const isGone = routed.status === 'answered' && !routed.answer.ok && routed.answer.code === 'DAG_NOT_FOUND';
    if (!isGone) return answerOf(routed, 'submitted', { dag: name });
    dags.forget(caller.tenantId, name);
  }
  const found = await fromDatabase(() => dags.find(caller.tenantId, name), request.log);
  if (found === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
  return answerOf(await send(request, parts, caller, found, { items, key }), 'submitted', { dag: name });
}

export interface OneRun {
  readonly name: string;
  readonly place: DagPlace;
  /** JSON text. */
  readonly params: string | null;
  readonly key: string | null;
  readonly cause: 'api' | 'event';
}

/** One run of a dag whose place is known. */
export async function submitTo(request: FastifyRequest, parts: RestParts, run: OneRun) {
  const items: Item[] = [{ params: run.params, priority: null }];
  const key = run.key === null ? null : { key: run.key, bodyHash: bodyHashOf(items) };
  const routed = await send(request, parts, callerOf(request), run.place, { items, key, cause: run.cause });
  return answerOf(routed, 'submitted', { dag: run.name });
}

/** The uid is made here, before anything is sent: a command that is sent again names the same runs (I11). */
function send(
  request: FastifyRequest,
  parts: RestParts,
  { tenantId, actor }: Caller,
  { shard, dagId }: DagPlace,
  { items, key, cause }: Pick<SubmitRuns, 'items' | 'key' | 'cause'>,
): Promise<Routed> {
  const uid = makeRunUid(shard, Date.now() as Instant, randomBits(48), randomBits(26));
  const command: SubmitRuns = {
    kind: 'SubmitRuns',
    shard,
    tenantId,
    dagId,
    uid,
    items,
    key,
    mayRepeat: false,
    ...(cause === undefined ? {} : { cause }),
    actor,
  };
  return parts.main.command(command, parts.leftMs(request));
}

/** One key, one body: by what it means, not by how it is written (I11). */
function keyOf(request: FastifyRequest, items: readonly Item[]): SubmitRuns['key'] {
  const key = keyIn(request);
  if (key === null) return null;
  return { key, bodyHash: bodyHashOf(items) };
}

function bodyHashOf(items: readonly Item[]): string {
  const hash = createHash('sha256');
  for (const { params, priority } of items) hash.update(`${priority ?? ''} ${params?.length ?? -1} ${params ?? ''};`);
  return hash.digest('hex');
}

/** Null when it is not as it should be: then the schema says what is wrong. Four times as fast as the schema alone. */
function readItem(input: unknown): Item | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  for (const name in input) if (name !== 'params' && name !== 'priority') return null;
  const { params, priority } = input as { params?: unknown; priority?: unknown };
  if (priority !== undefined && !PRIORITIES.includes(priority as Priority)) return null;
  const text = params === undefined || params === null ? null : JSON.stringify(params);
  if (text !== null && isTooLong(text)) return null;
  return { params: text, priority: (priority as Priority | undefined) ?? null };
}

function readBatch(input: unknown): Item[] | null {
  if (typeof input !== 'object' || input === null) return null;
  for (const name in input) if (name !== 'runs') return null;
  const { runs } = input as { runs?: unknown };
  if (!Array.isArray(runs) || runs.length === 0 || runs.length > MAX_BATCH_RUNS) return null;
  const items: Item[] = [];
  for (const run of runs) {
    const item = readItem(run);
    if (item === null) return null;
    items.push(item);
  }
  return items;
}

function isTooLong(text: string): boolean {
  return text.length * 3 > MAX_PARAMS_BYTES && Buffer.byteLength(text) > MAX_PARAMS_BYTES;
}

function explainItem(input: unknown): never {
  parseOr(submitSchema, input, 'BAD_REQUEST');
  throw badRequest('params', 'cannot be stored');
}

function explainBatch(input: unknown): never {
  parseOr(submitBatchSchema, input, 'BAD_REQUEST');
  throw badRequest('runs', 'cannot be stored');
}
