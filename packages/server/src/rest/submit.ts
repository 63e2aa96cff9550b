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
  type RunUid,
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
import { leastUrgent } from '../edge/main-line.ts';
import { fromIso, toIso } from '../iso-instants.ts';
import { randomBits, systemClock } from '../ports/clock.ts';
import { type CheckedItems, checkerOf } from './checked-items.ts';
import { guardCritical } from './critical.ts';
import type { DagPlace } from './dag-lookup.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { keyIn } from './once.ts';
import { sendWithOwnId } from './own-run-id.ts';
import type { RestParts } from './rest-parts.ts';

/** With the delay as it was asked for: of that the key is made, not of the time that came of it. */
type Item = SubmitRuns['items'][number] & { readonly delayMs?: number };
type DagRequest = FastifyRequest<{ Params: { name: string } }>;

const BATCH_BYTES = 8 * 1024 * 1024;

export function submitRoutes(app: FastifyInstance, parts: RestParts): void {
  app.post('/v1/dags/:name/runs', async (request: DagRequest, reply) => {
    const { item, ...single } = readSingle(request.body) ?? {
      item: readItem(request.body ?? {}) ?? explainItem(request.body),
    };
    const { uid, repeated } = await submit(request, parts, [item], single);
    // A window or an id of the caller's own says itself that it was used before.
    const isSame = repeated && (single.window !== undefined || single.ownId !== undefined);
    const scheduledFor = item.at === undefined ? null : await beginsAt(request, parts, { uid, at: item.at, repeated });
    const answer: Submitted = {
      id: uid,
      ...(isSame ? { repeated: true } : {}),
      ...(scheduledFor === null ? {} : { scheduledFor }),
    };
    return reply.code(isSame ? 200 : 201).send(answer);
  });

  app.post('/v1/dags/:name/runs/batch', { bodyLimit: BATCH_BYTES }, async (request: DagRequest, reply) => {
    const items = readBatch(request.body) ?? explainBatch(request.body);
    const { uid, count } = await submit(request, parts, items);
    const ids = Array.from({ length: count }, (_, index) => uidOfItem(uid, index));
    return reply.code(201).send({ ids } satisfies SubmittedBatch);
  });
}

/** A request that is made again gets the time that the first one got. */
async function beginsAt(
  request: FastifyRequest,
  { queries }: RestParts,
  { uid, at, repeated }: { uid: RunUid; at: Instant; repeated: boolean },
): Promise<string | null> {
  if (!repeated) return toIso(at);
  const { tenantId } = callerOf(request);
  const run = await fromDatabase(() => queries.findDelayedRun(tenantId, uid), request.log);
  return run === null ? null : toIso(run.at);
}

/** What a single run can have, and one of a batch can't. */
interface Single {
  readonly window?: ChosenWindow;
  /** The caller's own id. */
  readonly ownId?: RunUid;
}

const SINGLE_FIELDS = ['window', 'schedule', 'runId'];

/** Null for a run without any of it, which is nearly each. */
function readSingle(body: unknown): ({ readonly item: Item } & Single) | null {
  if (typeof body !== 'object' || body === null || !SINGLE_FIELDS.some((field) => field in body)) return null;
  const { window, schedule = 'default', runId } = parseOr(submitOneSchema, body, 'BAD_REQUEST');
  const run = Object.fromEntries(Object.entries(body).filter(([field]) => !SINGLE_FIELDS.includes(field)));
  const item = readItem(run) ?? explainItem(run);
  if (window === undefined) {
    if ('schedule' in body) throw badRequest('schedule', 'goes with a window');
    return { item, ...(runId === undefined ? {} : { ownId: runId as RunUid }) };
  }
  if (runId !== undefined) throw badRequest('runId', 'does not go with a window, which names its run');
  if (item.at !== undefined) throw badRequest('at', 'does not go with a window, which has its time');
  return { item, window: { schedule, at: fromIso(window) as Instant } };
}

async function submit(request: DagRequest, parts: RestParts, items: readonly Item[], single: Single = {}) {
  const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
  const isCritical = items.some(({ priority }) => priority === 'critical');
  if (isCritical) await guardCritical(request, parts, { isCritical, target: name });
  const known = parts.dags.peek(callerOf(request).tenantId, name);
  const { window, ownId } = single;
  // A window is a key by itself, and so is an id: with a space in it, it is no key that anybody can send.
  const key =
    window !== undefined
      ? null
      : ownId === undefined
        ? keyOf(request, items)
        : { key: `run ${ownId}`, bodyHash: bodyHashOf(items) };
  const about = window === undefined ? {} : { window: toIso(window.at), schedule: window.schedule };
  const submission = { name, place: known, items, key, cause: 'api', ...single } as const;
  return ownId === undefined
    ? sendTo(request, parts, submission, about)
    : sendTo(request, parts, submission, about).catch((error: unknown) => {
        if (!(error instanceof SignalboxError) || error.code !== 'IDEMPOTENCY_CONFLICT') throw error;
        throw new SignalboxError('RUN_ID_TAKEN', { run: ownId });
      });
}

/** One or more runs whose ids are chosen: `uid` is that of the first. Used for jobs, whose items are checked. */
export function submitNamed(
  request: FastifyRequest,
  parts: RestParts,
  run: { name: string; place: DagPlace; items: readonly Item[]; key: string | null; uid: RunUid },
) {
  const { key, items, ...rest } = run;
  const named = key === null ? null : { key, bodyHash: bodyHashOf(items) };
  return sendTo(request, parts, { ...rest, items, key: named, cause: 'api' });
}

/** Of what is no item yet. */
export function refuseLongParams(params: string | null): void {
  if (params !== null && isTooLong(params)) throw badRequest('params', `must have at most ${MAX_PARAMS_BYTES} bytes`);
}

/** An item from its parts, whose params were looked at. */
export function itemOf(run: {
  readonly params: string | null;
  readonly priority: Priority | null;
  readonly at: string | undefined;
  readonly delayMs: number | undefined;
}): Item {
  const { params, priority, at, delayMs } = run;
  if (delayMs !== undefined)
    return { params, priority, at: (Math.round(systemClock.wall()) + delayMs) as Instant, delayMs };
  return { params, priority, ...(at === undefined ? {} : { at: fromIso(at) as Instant }) };
}

interface OneRun {
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
  readonly ownId?: RunUid;
  /** Of the first run, where it was made before. */
  readonly uid?: RunUid;
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
  if (routed.status === 'overloaded') throw shed(submission.items);
  return answerOf(routed, 'submitted', { ...about, dag: name });
}

/** Who is refused first comes back last. */
const COME_BACK_MS: Readonly<Record<Priority, number>> = { critical: 1_000, high: 1_000, normal: 3_000, low: 10_000 };

function shed(items: readonly Item[]): SignalboxError {
  const priority = leastUrgent(items);
  return new SignalboxError('LOAD_SHED', { priority, retryAfterMs: COME_BACK_MS[priority] });
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
async function send(
  request: FastifyRequest,
  parts: RestParts,
  { shard, dagId }: DagPlace,
  { ownId, uid: made, ...submission }: CheckedItems & Omit<Submission, 'name' | 'place'>,
): Promise<Routed> {
  const { tenantId, actor, credential } = callerOf(request);
  const uid = ownId ?? made ?? makeRunUid(shard, systemClock.wall(), randomBits(48), randomBits(26));
  const isDelayed = submission.items.some(({ at }) => at !== undefined);
  const key = submission.key ?? (isDelayed ? { key: `run ${uid}`, bodyHash: '' } : null);
  const items = isDelayed ? submission.items.map(({ delayMs: _, ...item }: Item) => item) : submission.items;
  const named = { kind: 'SubmitRuns', shard, tenantId, dagId, uid, mayRepeat: false, actor } as const;
  const command = { ...named, ...submission, key, items };
  const sent = () => parts.main.command(command, parts.leftMs(request), credential);
  return ownId === undefined ? sent() : sendWithOwnId(request, parts, { tenantId, uid: ownId, shard, dagId }, sent);
}

/** One key, one body: by what it means, not by how it is written (I11). */
function keyOf(request: FastifyRequest, items: readonly Item[]): SubmitRuns['key'] {
  const key = keyIn(request);
  if (key === null) return null;
  return { key, bodyHash: bodyHashOf(items) };
}

function bodyHashOf(items: readonly Item[]): string {
  const hash = createHash('sha256');
  for (const { params, priority, until, at, delayMs } of items) {
    hash.update(`${priority ?? ''} ${params?.length ?? -1} ${params ?? ''};`);
    // Only where there is one: keys of before are still the same.
    if (until !== undefined) hash.update(`until ${until};`);
    if (at !== undefined) hash.update(delayMs === undefined ? `at ${at};` : `delay ${delayMs};`);
  }
  return hash.digest('hex');
}

const ITEM_FIELDS: ReadonlySet<string> = new Set(['params', 'priority', 'until', 'at', 'delay']);

/** When it begins; nothing for a run that begins at once, which is nearly each. */
function timeIn(input: object): Pick<Item, 'at' | 'delayMs'> {
  if (!('at' in input || 'delay' in input)) return {};
  const { at, delay } = parseOr(submitSchema, input, 'BAD_REQUEST');
  if (at !== undefined && delay !== undefined) throw badRequest('delay', 'does not go with at: give one of them');
  if (delay !== undefined) return { at: (Math.round(systemClock.wall()) + delay) as Instant, delayMs: delay };
  return at === undefined ? {} : { at: fromIso(at) as Instant };
}

/** Null when it is not as it should be: then the schema says what is wrong. Four times as fast as the schema alone. */
function readItem(input: unknown): Item | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  for (const name in input) if (!ITEM_FIELDS.has(name)) return null;
  const { params, priority, until } = input as { params?: unknown; priority?: unknown; until?: unknown };
  if (priority !== undefined && !PRIORITIES.includes(priority as Priority)) return null;
  const text = params === undefined || params === null ? null : JSON.stringify(params);
  if (text !== null && isTooLong(text)) return null;
  const item = { params: text, priority: (priority as Priority | undefined) ?? null, ...timeIn(input) };
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
