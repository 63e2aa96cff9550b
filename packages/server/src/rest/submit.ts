/**
 * Submissions, from one to a thousand runs per request. A batch is one command and one answer: the only work per run is
 * reading it.
 */
import { createHash } from 'node:crypto';
import {
  type ChosenWindow,
  type DeadLetterRef,
  type Instant,
  makeRunUid,
  type SubmitRuns,
  uidOfItem,
} from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import {
  type ErrorDetails,
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
  submitOneSchema,
  submitSchema,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromIso, toIso } from '../iso-instants.ts';
import { randomBits, systemClock } from '../ports/clock.ts';
import { type CheckedItems, checkerOf } from './checked-items.ts';
import type { DagPlace } from './dag-lookup.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { keyIn } from './once.ts';
import type { RestParts } from './rest-parts.ts';

type Item = SubmitRuns['items'][number];
type DagRequest = FastifyRequest<{ Params: { name: string } }>;

const BATCH_BYTES = 8 * 1024 * 1024;

export function submitRoutes(app: FastifyInstance, parts: RestParts): void {
  app.post('/v1/dags/:name/runs', async (request: DagRequest, reply) => {
    const window = chosenWindow(request.body);
    const item = window?.item ?? readItem(request.body ?? {}) ?? explainItem(request.body);
    const { uid, repeated } = await submit(request, parts, [item], window?.window);
    const isSame = window !== null && repeated;
    return reply.code(isSame ? 200 : 201).send({ id: uid, ...(isSame ? { repeated } : {}) } satisfies Submitted);
  });

  app.post('/v1/dags/:name/runs/batch', { bodyLimit: BATCH_BYTES }, async (request: DagRequest, reply) => {
    const items = readBatch(request.body) ?? explainBatch(request.body);
    const { uid, count } = await submit(request, parts, items);
    const ids = Array.from({ length: count }, (_, index) => uidOfItem(uid, index));
    return reply.code(201).send({ ids } satisfies SubmittedBatch);
  });
}

/** Null for a run without a window, which is nearly each. */
function chosenWindow(body: unknown): { readonly item: Item; readonly window: ChosenWindow } | null {
  if (typeof body !== 'object' || body === null || !('window' in body || 'schedule' in body)) return null;
  const { window, schedule = 'default', ...run } = parseOr(submitOneSchema, body, 'BAD_REQUEST');
  if (window === undefined) throw badRequest('schedule', 'goes with a window');
  return { item: readItem(run) ?? explainItem(run), window: { schedule, at: fromIso(window) as Instant } };
}

async function submit(request: DagRequest, parts: RestParts, items: readonly Item[], window?: ChosenWindow) {
  const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
  const known = parts.dags.peek(callerOf(request).tenantId, name);
  const key = window === undefined ? keyOf(request, items) : null; // The window is the key.
  const about = window === undefined ? {} : { window: toIso(window.at), schedule: window.schedule };
  return sendTo(request, parts, { name, place: known, items, key, cause: 'api', ...(window && { window }) }, about);
}

export interface OneRun {
  readonly name: string;
  readonly place: DagPlace;
  /** JSON text. */
  readonly params: string | null;
  readonly key: string | null;
  /** What the key stands for, where that is not the params. */
  readonly bodyHash?: string;
  readonly cause: 'api' | 'event';
  /** The dead letter that it is made of. */
  readonly replays?: DeadLetterRef;
  readonly priority?: Priority;
  readonly until?: string;
}

/** One run of a dag whose place is known. */
export function submitTo(
  request: FastifyRequest,
  parts: RestParts,
  { params, key, bodyHash, priority, until, ...run }: OneRun,
  about: ErrorDetails = {},
) {
  const items: Item[] = [{ params, priority: priority ?? null, ...(until === undefined ? {} : { until }) }];
  const named = key === null ? null : { key, bodyHash: bodyHash ?? bodyHashOf(items) };
  return sendTo(request, parts, { ...run, items, key: named }, about);
}

interface Submission extends Pick<SubmitRuns, 'items' | 'key' | 'cause' | 'replays' | 'window'> {
  readonly name: string;
  /** Where the dag was when somebody last looked. */
  readonly place: DagPlace | undefined;
}

/** A dag that is deployed again and again, each time between the look and the command. */
const LOOKS_LIMIT = 4;

async function sendTo(
  request: FastifyRequest,
  parts: RestParts,
  { name, place, ...submission }: Submission,
  about: ErrorDetails = {},
) {
  const wanted = { name, place, items: submission.items };
  const routed = await sendChecked(request, parts, wanted, (at, checked) =>
    send(request, parts, at, { ...submission, ...checked }),
  );
  return answerOf(routed, 'submitted', { ...about, dag: name });
}

/** The cached place and schema of the dag can be outdated. Then the dag is looked up again, and the command is sent again. */
export async function sendChecked(
  request: FastifyRequest,
  parts: RestParts,
  { name, place, items }: Pick<Submission, 'name' | 'place' | 'items'>,
  sendTo: (at: DagPlace, checked: CheckedItems) => Promise<Routed>,
): Promise<Routed> {
  const { tenantId, credential } = callerOf(request);
  const { dags } = parts;
  const retryAfterMs = parts.runRate?.take(credential, items.length) ?? 0;
  if (retryAfterMs > 0) throw new SignalboxError('RATE_LIMITED', { what: 'runs', retryAfterMs });
  const look = async (): Promise<DagPlace> => {
    dags.forget(tenantId, name);
    const found = await fromDatabase(() => dags.find(tenantId, name), request.log);
    if (found === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
    return found;
  };
  const check = checkerOf(request, parts, name, items);
  let [at, isFresh] = place === undefined ? [await look(), true] : [place, false];
  for (let looks = 1; ; looks++) {
    const checked = isFresh ? await check(at) : await ifFits(check(at));
    if (checked !== null) {
      const routed = await sendTo(at, checked);
      if (!isOutOfDate(routed, isFresh) || looks >= LOOKS_LIMIT) return routed;
    }
    [at, isFresh] = [await look(), true];
  }
}

/** Null: nobody is refused because of a schema that can be outdated. */
async function ifFits(checking: Promise<CheckedItems>): Promise<CheckedItems | null> {
  try {
    return await checking;
  } catch (error) {
    if (error instanceof SignalboxError && !error.retryable) return null;
    throw error;
  }
}

function isOutOfDate(routed: Routed, isFresh: boolean): boolean {
  if (routed.status !== 'answered' || routed.answer.ok) return false;
  return routed.answer.code === 'PARAMS_UNCHECKED' || (routed.answer.code === 'DAG_NOT_FOUND' && !isFresh);
}

/** The uid is made here, before anything is sent: a command that is sent again names the same runs (I11). */
function send(
  request: FastifyRequest,
  parts: RestParts,
  { shard, dagId }: DagPlace,
  submission: CheckedItems & Pick<SubmitRuns, 'key' | 'cause' | 'replays' | 'window'>,
): Promise<Routed> {
  const { tenantId, actor, credential } = callerOf(request);
  const uid = makeRunUid(shard, systemClock.wall(), randomBits(48), randomBits(26));
  const command = { kind: 'SubmitRuns', shard, tenantId, dagId, uid, mayRepeat: false, actor, ...submission } as const;
  return parts.main.command(command, parts.leftMs(request), credential);
}

/** One key, one body: by what it means, not by how it is written (I11). */
function keyOf(request: FastifyRequest, items: readonly Item[]): SubmitRuns['key'] {
  const key = keyIn(request);
  if (key === null) return null;
  return { key, bodyHash: bodyHashOf(items) };
}

function bodyHashOf(items: readonly Item[]): string {
  const hash = createHash('sha256');
  for (const { params, priority, until } of items) {
    hash.update(`${priority ?? ''} ${params?.length ?? -1} ${params ?? ''};`);
    // Only where there is one: keys of before are still the same.
    if (until !== undefined) hash.update(`until ${until};`);
  }
  return hash.digest('hex');
}

/** Null when it is not as it should be: then the schema says what is wrong. Four times as fast as the schema alone. */
function readItem(input: unknown): Item | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  for (const name in input) if (name !== 'params' && name !== 'priority' && name !== 'until') return null;
  const { params, priority, until } = input as { params?: unknown; priority?: unknown; until?: unknown };
  if (priority !== undefined && !PRIORITIES.includes(priority as Priority)) return null;
  const text = params === undefined || params === null ? null : JSON.stringify(params);
  if (text !== null && isTooLong(text)) return null;
  const item: Item = { params: text, priority: (priority as Priority | undefined) ?? null };
  if (until === undefined) return item;
  return nameSchema.safeParse(until).success ? { ...item, until: until as string } : null;
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
