/** Runs: one, many, and cancelling one. */
import {
  CLUSTER_LIMIT,
  isTerminal,
  poolLimit,
  queueLimit,
  type RunId,
  requestOf,
  startsOf,
  type TaskNo,
  type TasksRead,
  type TenantId,
  tenantLimit,
} from '@signalbox/engine';
import {
  listRunsSchema,
  parseOr,
  type RunView as RunAnswer,
  type RunPage,
  runIdSchema,
  SignalboxError,
} from '@signalbox/protocol';
import type { ListRuns, RunDetails, RunOutline, RunPlace } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { listDelayedRuns, readDelayedRun } from './delayed-runs.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { readLimitFacts } from './limit-facts.ts';
import { askMatcher } from './matcher-facts.ts';
import { readQueueFacts } from './queue-facts.ts';
import type { RestParts } from './rest-parts.ts';
import { runAnswer, runSummary, stateOf, tasksOf } from './views.ts';
import {
  type FreezeFact,
  type HaltFact,
  type ReservedFact,
  type RunFacts,
  type TaskFacts,
  whyOf,
  whyRunWaits,
} from './why.ts';

export type RunRequest = FastifyRequest<{ Params: { id: string } }>;

/** If the outputs of a run are larger in total, only those of its first tasks are shown. */
const PAYLOADS_SHOWN_BYTES = 16 * 1024 * 1024;

export function runRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/runs/:id', (request: RunRequest) => readRun(request, parts));

  app.get('/v1/runs', async (request) => {
    const { tenantId, actor } = callerOf(request);
    const query = parseOr(listRunsSchema, request.query, 'BAD_REQUEST');
    const { dag, state, outcome, limit } = query;
    if (state === 'scheduled') {
      const isNone = outcome !== undefined || query.parent !== undefined || query.backfill !== undefined;
      if (isNone) return EMPTY_PAGE;
      return listDelayedRuns(request, parts, { dag, mine: query.mine === 'true', cursor: query.cursor, limit });
    }
    // Only ended runs have an outcome that stays.
    if (outcome !== undefined && state !== undefined && state !== 'ended') return EMPTY_PAGE;
    const by = query.mine === 'true' ? actor : undefined;
    const before = cursorOf(query.cursor);
    const list: ListRuns = { dagName: dag, state: outcome ?? phaseOf(state), actor: by, before, limit };
    const { runs, next } =
      query.backfill === undefined ? await listed(query.parent, list) : await ofBackfill(query.backfill, list);
    const items = runs.filter((run) => state === undefined || stateOf(run) === state).map(runSummary);
    return { items, cursor: next === null ? null : cursorText(next) } satisfies RunPage;

    async function ofBackfill(backfill: string, list: ListRuns) {
      const found = await fromDatabase(() => queries.listBackfillRuns(tenantId, { ...list, backfill }), request.log);
      if (found === null) throw new SignalboxError('BACKFILL_NOT_FOUND', { backfill });
      return found;
    }

    async function listed(parent: string | undefined, list: ListRuns) {
      if (parent === undefined) return fromDatabase(() => queries.listRuns(tenantId, list), request.log);
      const children = await fromDatabase(() => queries.listChildren(tenantId, { ...list, parent }), request.log);
      if (children === null) throw new SignalboxError('RUN_NOT_FOUND', { run: parent });
      return children;
    }
  });
}

/** The run that the path names, if it is one of the caller's: with all tasks of its definition. */
async function readRun(request: RunRequest, parts: RestParts): Promise<RunAnswer> {
  const { queries } = parts;
  const { tenantId } = callerOf(request);
  const id = idOf(request);
  const found = await fromDatabase(() => queries.readRun({ tenantId, uid: id }, PAYLOADS_SHOWN_BYTES), request.log);
  if (found === null) return readUnbegun(request, parts, id);
  const { run, payloads } = found;
  const read = tasksOf(run);
  const answer = runAnswer(run, payloads, read);
  const progressed = await withProgress(answer.tasks, run, parts);
  const { tasks, facts } = await withWhy(progressed, { run, read, nos: [...progressed.keys()] }, parts, tenantId);
  return { ...answer, tasks, why: whyRunWaits(tasks, facts) };
}

async function readUnbegun(request: RunRequest, parts: RestParts, id: string): Promise<RunAnswer> {
  const delayed = await readDelayedRun(request, parts, id);
  if (delayed !== null) return delayed;
  // It may have begun between the two looks. Then it is there now.
  const { tenantId } = callerOf(request);
  const place = await fromDatabase(() => parts.queries.resolveRun(tenantId, id), request.log);
  if (place === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
  return readRun(request, parts);
}

interface Read {
  readonly run: RunDetails;
  readonly read: TasksRead;
  /** The numbers of the tasks. */
  readonly nos: readonly number[];
}

/** Says of each task why it waits. Who is connected is asked only where a task waits for a worker. */
export async function withWhy(
  tasks: RunAnswer['tasks'],
  { run, read, nos }: Read,
  parts: RestParts,
  tenantId: TenantId,
): Promise<{ tasks: RunAnswer['tasks']; facts: RunFacts; of: readonly TaskFacts[] }> {
  const { state, paused } = runSummary(run);
  const { maxActiveRuns, maxActiveTasks } = run.spec;
  const specOf = (i: number) => run.spec.tasks[read.names.specOf(nos[i] ?? i) ?? nos[i] ?? i];
  const waiting = new Set(tasks.flatMap((task, i) => (isWaiting(task) ? (specOf(i) ?? []) : [])));
  const [queues, freezes, limitsOf, halt, reserved, sharedRates] = tasks.some(isWaiting)
    ? await Promise.all([
        readQueueFacts(parts, tenantId),
        readFreezes(parts, tenantId, run.dagName),
        readLimitFacts(parts, { tenantId, dagId: run.dagId }, [...waiting]),
        readHalt(parts, tenantId, run.dagName),
        readReserved(parts, tenantId, run.dagName),
        readSharedRates(parts, tenantId, run.spec.tasks),
      ])
    : [null, [], null, {}, [], []];
  const setAsideReason = run.strikeReason;
  const requires = run.notes.requires;
  const required =
    requires === undefined ? {} : { requires: { of: requires.of.map(({ dag }) => dag), until: toIso(requires.until) } };
  const most = run.spec.maxActiveTasksPerRun;
  const running = tasks.reduce((sum, task) => sum + runningIn(task), 0);
  const facts = {
    ...required,
    ...(await readKey(run, state, parts)),
    ...(most === undefined ? {} : { ofRun: { most, running } }),
    rates: ratesOf(run.spec),
    state,
    paused,
    setAsideReason,
    freezes,
    ...halt,
    ...(reserved.length === 0 ? {} : { reserved }),
    ...(sharedRates.length === 0 ? {} : { sharedRates }),
    maxActiveRuns,
    maxActiveTasks,
    queues,
    now: systemClock.wall(),
  };
  const of = tasks.map((task, i): TaskFacts => {
    const spec = specOf(i);
    if (spec === undefined) return { queue: '', unmet: [] };
    const unmet = task.state === 'blocked' ? unmetOf(spec.needs, run, read) : [];
    const limits = isWaiting(task) ? (limitsOf?.(spec) ?? []) : [];
    const request = requestOf(spec.placement);
    if (request === null && spec.past === undefined) return { queue: spec.queue, limits, unmet };
    const past = spec.past === undefined ? {} : pastOf(run, spec);
    return { queue: spec.queue, limits, unmet, ...past, ...(request === null ? {} : { request }) };
  });
  // Only the matcher knows what has started per time, and what is left of kept slots.
  const isKeptFrom = (i: number) => reserved.some(({ queues: of }) => of.includes(specOf(i)?.queue ?? ''));
  const rated = tasks.flatMap((task, i) =>
    (sharedRates.length > 0 || isRated(run.spec, specOf(i)) || isKeptFrom(i)) && task.state === 'ready' ? [i] : [],
  );
  for (const i of rated.slice(0, RATED_ASKED)) {
    const { queue } = of[i]!;
    const asked = await askMatcher(parts, { tenantId, run, task: tasks[i]!, taskNo: nos[i] ?? i, queue, facts });
    if (asked?.wait != null) of[i] = { ...of[i]!, wait: asked.wait };
  }
  // Into the tasks themselves: they were made for this answer, and copies of thousands cost more than all else.
  tasks.forEach((task, i) => {
    if (specOf(i) !== undefined) task.why = whyOf(task, of[i]!, facts);
  });
  return { tasks, facts, of };
}

/** Who has the key that a run waits for. A view is shown without it rather than not at all. */
async function readKey(
  { shard, dagId, notes: { key } }: RunDetails,
  state: RunFacts['state'],
  { queries }: RestParts,
): Promise<Pick<RunFacts, 'key'>> {
  if (state !== 'queued' || key === undefined) return {};
  try {
    const found = await queries.holdersOfKey({ shard, dagId, key });
    return found.limit === null ? {} : { key: { key, limit: found.limit, heldBy: found.runs } };
  } catch {
    return {};
  }
}

/** Of how many tasks of one view that is asked. */
const RATED_ASKED = 5;

function isRated(spec: RunDetails['spec'], task: RunDetails['spec']['tasks'][number] | undefined): boolean {
  return task !== undefined && (spec.rate !== undefined || task.rate !== undefined);
}

function ratesOf({ rate, tasks }: RunDetails['spec']): NonNullable<RunFacts['rates']> {
  const ofTasks = tasks.flatMap(({ name, rate: own }) => (own === undefined ? [] : [{ task: name, ...own }]));
  return rate === undefined ? ofTasks : [{ task: null, ...rate }, ...ofTasks];
}

/** For a worker, or for what lets a worker take it. */
function isWaiting({ state }: RunAnswer['tasks'][number]): boolean {
  return state === 'ready' || state === 'retrying' || state === 'expanded';
}

/** What is frozen that its tasks may be of. A view is shown without it rather than not at all. */
async function readFreezes(parts: RestParts, tenantId: TenantId, dag: string): Promise<readonly FreezeFact[]> {
  try {
    const found = await parts.queries.listFreezes({ tenantId, isOfInstallation: false });
    return found
      .filter(({ kind, name }) => kind !== 'dag' || name === dag)
      .map(({ kind, name, reason, frozenAt, frozenBy }) => ({
        kind,
        name,
        reason,
        since: toIso(frozenAt),
        by: frozenBy,
      }));
  } catch {
    return [];
  }
}

/** Slots that are kept from the dag now. A view is shown without it rather than not at all. */
async function readReserved({ queries }: RestParts, tenantId: TenantId, dag: string): Promise<readonly ReservedFact[]> {
  try {
    const found = await queries.listKeptFrom(tenantId);
    return found
      .filter((one) => one.dag !== dag && one.window !== null)
      .map(({ limit, slots, queues, dag: keptFor, reason, reservedBy, window, left }) => {
        const until = toIso(window!.until);
        // Of other tenants nobody learns anything (I65).
        return keptFor === null
          ? { limit, slots, queues, keptFor, by: null, reason: null, until, left }
          : { limit, slots, queues, keptFor: `dag ${keptFor}`, by: reservedBy, reason, until, left };
      });
  } catch {
    return [];
  }
}

/** Starts per time of what its tasks are under. A view is shown without them rather than not at all. */
async function readSharedRates(
  { queries }: RestParts,
  tenantId: TenantId,
  tasks: RunDetails['spec']['tasks'],
): Promise<NonNullable<RunFacts['sharedRates']>> {
  const names = tasks.flatMap(({ queue, pool }) => [
    queueLimit(tenantId, queue),
    ...(pool === undefined ? [] : [poolLimit(tenantId, pool.name)]),
  ]);
  const all = [...new Set([...names, tenantLimit(tenantId), CLUSTER_LIMIT])];
  const found = await queries.findSlotRates(all).catch(() => []);
  return found.map(({ limit, slots }) => ({ limit, slots, perMs: startsOf(limit).perMs }));
}

/** Whether its dag is halted. A view is shown without it rather than not at all. */
async function readHalt(parts: RestParts, tenantId: TenantId, dag: string): Promise<{ readonly halt?: HaltFact }> {
  try {
    const found = (await parts.queries.listHalts(tenantId)).find(({ name }) => name === dag);
    if (found === undefined) return {};
    const { cause, tasks, most, haltedAt } = found;
    return { halt: { cause, tasks, most, since: toIso(haltedAt) } };
  } catch {
    return {};
  }
}

/** One, or so many instances of a map. */
function runningIn({ state, instances }: RunAnswer['tasks'][number]): number {
  return instances === null ? Number(state === 'running') : (instances.states.running ?? 0);
}

/** What a task that depends on the past waits for, if it does. */
function pastOf(
  { notes, firesAt, spec }: RunDetails,
  task: RunDetails['spec']['tasks'][number],
): Pick<TaskFacts, 'past'> {
  if (firesAt === null) return {};
  const downstream = task.past === 'downstream';
  const { past } = notes;
  if (past === undefined) return { past: { run: null, at: null, downstream } };
  if (past.at === null || !past.left.includes(spec.tasks.indexOf(task))) return {};
  return { past: { run: past.run ?? null, at: toIso(past.at), downstream } };
}

function unmetOf(needs: readonly number[], run: RunDetails, read: TasksRead): { name: string; state: string }[] {
  return needs.flatMap((no) => {
    const state = read.stateOf(no);
    return isTerminal(state) ? [] : [{ name: run.spec.tasks[no]?.name ?? String(no), state }];
  });
}

/** Known in memory alone, at the gateways of the workers: it is asked for while something runs. `nos` are the tasks' numbers. */
async function withProgress(
  tasks: RunAnswer['tasks'],
  { runId }: { readonly runId: RunId },
  { main }: RestParts,
  nos: readonly number[] = tasks.map((_, no) => no),
): Promise<RunAnswer['tasks']> {
  if (!tasks.some(({ state }) => state === 'running')) return tasks;
  const told = new Map((await main.progress(runId)).map((one) => [`${one.taskNo}/${one.attemptNo}`, one]));
  if (told.size === 0) return tasks;
  return tasks.map((task, i) => {
    const one = task.state === 'running' ? told.get(`${nos[i]}/${task.attempt}`) : undefined;
    if (one === undefined) return task;
    const { fraction, note, agoMs } = one;
    return { ...task, progress: { fraction, note, at: toIso(systemClock.wall() - agoMs) } };
  });
}

interface SomeTasks {
  readonly tasks: RunAnswer['tasks'];
  readonly nos: readonly number[];
  readonly run: RunDetails;
  /** What is known of why they wait. */
  readonly facts: RunFacts;
  readonly of: readonly TaskFacts[];
}

/** Some of its tasks, with their attempts and outputs; which ones is said when their states are known. Only those are read. */
export async function readTasksOf(
  request: FastifyRequest<{ Params: { id: string } }>,
  parts: RestParts,
  choose: (tasks: TasksRead) => readonly number[],
): Promise<SomeTasks> {
  const { queries } = parts;
  const { tenantId } = callerOf(request);
  const id = idOf(request);
  let [read, nos]: [TasksRead | undefined, readonly number[]] = [undefined, []];
  const choosing = (outline: RunOutline) => {
    read = tasksOf(outline);
    nos = choose(read);
    return nos;
  };
  const run = await fromDatabase(() => queries.getRun(tenantId, id, choosing), request.log);
  if (run === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
  const wanted = { uid: run.uid, bytesLimit: PAYLOADS_SHOWN_BYTES, taskNos: nos as TaskNo[] };
  const payloads = await fromDatabase(() => queries.getPayloads(tenantId, wanted), request.log);
  const known = read ?? tasksOf(run);
  const progressed = await withProgress(runAnswer(run, payloads, known, nos).tasks, run, parts, nos);
  const { tasks, facts, of } = await withWhy(progressed, { run, read: known, nos }, parts, tenantId);
  return { tasks, nos, run, facts, of };
}

const EMPTY_PAGE: RunPage = { items: [], cursor: null };

export function idOf(request: RunRequest): string {
  const parsed = runIdSchema.safeParse(request.params.id);
  // What can be no id is the id of no run.
  if (!parsed.success) throw new SignalboxError('RUN_NOT_FOUND', { run: request.params.id });
  return parsed.data.toLowerCase();
}

function phaseOf(state: string | undefined): 'open' | 'closing' | 'ended' | undefined {
  if (state === 'queued' || state === 'open') return 'open';
  return state === 'closing' || state === 'ended' ? state : undefined;
}

export function cursorOf(text: string | undefined): RunPlace | null {
  if (text === undefined) return null;
  const [createdAt, runId] = /^\d{1,16}\.\d{1,16}$/.test(text) ? text.split('.').map(Number) : [];
  if (!Number.isSafeInteger(createdAt) || !Number.isSafeInteger(runId)) {
    throw badRequest('cursor', 'is not a cursor from a page. Omit it to start with the newest');
  }
  return { createdAt: createdAt as number, runId: runId as RunId };
}

export function cursorText({ createdAt, runId }: RunPlace): string {
  return `${createdAt}.${runId}`;
}
