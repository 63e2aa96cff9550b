/** Why the attempts of a task went to their workers, and why then: what the matcher knew, where it was kept, and what the rows of the run tell. */
import { type ClaimDecision, type Request, type TaskNo } from '@signalbox/engine';
import {
  type AttemptView,
  counted,
  type DecisionFacts,
  type DecisionPage,
  type DecisionView,
  SignalboxError,
  shownAmount,
  type TaskView,
  taskIdSchema,
} from '@signalbox/protocol';
import type { StoredDecision } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromIso, toIso } from '../iso-instants.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { isOfInstallation } from './operators.ts';
import type { RestParts } from './rest-parts.ts';
import { readTasksOf } from './runs.ts';
import { spokenSpan } from './spoken-span.ts';

type TaskRequest = FastifyRequest<{ Params: { id: string; task: string } }>;
type Names = ReadonlyMap<string, string>;

/** A wait that people would ask about. */
const LONG_MS = 1_000;

export function decisionRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/runs/:id/tasks/:task/decisions', async (request: TaskRequest): Promise<DecisionPage> => {
    const caller = callerOf(request);
    const { task, no, run, ready } = await readTask(request, parts);
    const kept = await fromDatabase(() => queries.readDecisions({ runId: run.runId, taskNo: no }), request.log);
    const workers = new Set(kept.flatMap(({ decision }) => decision.candidates.map(({ workerId }) => workerId)));
    const shown = task.attempts.flatMap(({ worker }) => worker ?? []);
    const names = await fromDatabase(
      () => queries.namesOfWorkers(caller.tenantId, [...new Set([...workers, ...shown])]),
      request.log,
    );
    const told = { names, seesTenants: isOfInstallation(caller) };
    const items = decisionsOf(task, kept).map((one) => viewOf(one, { ...told, readyAt: readyAt(task, one, ready) }));
    return { run: run.uid, task: task.name, items, cursor: null };
  });
}

async function readTask(request: TaskRequest, parts: RestParts) {
  const given = taskIdSchema.safeParse(request.params.task);
  const found = await readTasksOf(request, parts, ({ names }) => {
    const no = given.success ? names.numberOf(given.data) : null;
    return no === null ? [] : [no];
  });
  const [task] = found.tasks;
  if (task === undefined) throw new SignalboxError('TASK_NOT_FOUND', { task: request.params.task });
  return { task, no: found.nos[0] as TaskNo, run: found.run, ready: await endsBefore(request, parts, found.run, task) };
}

/** When the run might begin, and when each task that this one needs has ended. */
async function endsBefore(
  request: TaskRequest,
  parts: RestParts,
  { spec, createdAt, admittedAt }: Awaited<ReturnType<typeof readTasksOf>>['run'],
  task: TaskView,
): Promise<number[]> {
  const nameInSpec = task.name.replaceAll(/\[\d+\]/g, '');
  const { needs = [] } = spec.tasks.find(({ name }) => name === nameInSpec) ?? {};
  const begun = admittedAt ?? createdAt;
  if (needs.length === 0) return [begun];
  const { tasks } = await readTasksOf(request, parts, ({ names }) =>
    needs.flatMap((no) => names.numberOf(spec.tasks[no]?.name ?? '') ?? []),
  );
  return [begun, ...tasks.flatMap(({ endedAt }) => (endedAt === null ? [] : [fromIso(endedAt)]))];
}

interface Decided {
  readonly attemptNo: number;
  /** Null: the claim never reached its worker. */
  readonly attempt: AttemptView | null;
  readonly kept: StoredDecision | null;
}

/** Of claims with the same number the last one is the attempt: those before it were made again. */
function decisionsOf(task: TaskView, kept: readonly StoredDecision[]): Decided[] {
  const attempts = task.attempts.filter(({ worker }) => worker !== null);
  const made = kept.map((one): Decided => {
    const { attemptNo, fence } = one.claim;
    const isLast = !kept.some(({ claim }) => claim.attemptNo === attemptNo && claim.fence > fence);
    const attempt = isLast ? (attempts.find((other) => other.attempt === attemptNo) ?? null) : null;
    return { attemptNo, attempt, kept: one };
  });
  const others = attempts.filter(({ attempt }) => !kept.some(({ claim }) => claim.attemptNo === attempt));
  return [...made, ...others.map((attempt): Decided => ({ attemptNo: attempt.attempt, attempt, kept: null }))].sort(
    (a, b) => a.attemptNo - b.attemptNo,
  );
}

/** Null for a claim that began nothing, and for an attempt beside another. */
function readyAt(task: TaskView, { attemptNo, attempt }: Decided, ready: readonly number[]): number | null {
  if (attempt?.claimedAt == null || attempt.speculative) return null;
  const claimedAt = fromIso(attempt.claimedAt);
  const before = task.attempts.findLast((one) => one.attempt < attemptNo && !one.speculative);
  const ends = before?.endedAt == null ? ready : [fromIso(before.endedAt)];
  // What ended later was not waited for: the rule of the task was met without it.
  const known = ends.filter((at) => at <= claimedAt);
  return known.length === 0 ? null : Math.max(...known);
}

interface Told {
  readonly names: Names;
  readonly seesTenants: boolean;
  readonly readyAt: number | null;
}

function viewOf({ attemptNo, attempt, kept }: Decided, told: Told): DecisionView {
  const worker = kept?.workerId ?? attempt?.worker ?? null;
  const claimedAt = attempt?.claimedAt ?? null;
  const waitedMs = claimedAt === null || told.readyAt === null ? null : fromIso(claimedAt) - told.readyAt;
  const known = kept === null ? null : factsOf(kept.decision, told);
  const name = worker === null ? null : (told.names.get(worker) ?? null);
  return {
    attempt: attemptNo,
    worker: attempt?.worker ?? (name === null ? null : worker),
    workerName: name,
    readyAt: told.readyAt === null ? null : toIso(told.readyAt),
    claimedAt,
    waitedMs,
    message: messageOf(known, { name, waitedMs, isClaim: attempt !== null }),
    known,
  };
}

/** Workers of other tenants that serve this one are told without a name (I65). */
function factsOf(decision: ClaimDecision, { names, seesTenants }: Told): DecisionFacts {
  const { candidates, tenants, limits, request, ...rest } = decision;
  return {
    ...rest,
    request,
    tenants: seesTenants ? tenants : null,
    limits: [...limits],
    candidates: candidates.map(({ workerId, score, slots, room }) => {
      const name = names.get(workerId) ?? null;
      return { worker: name === null ? null : workerId, name, score: rounded(score), slots, room };
    }),
  };
}

const rounded = (score: number | null) => (score === null ? null : Math.round(score * 1_000) / 1_000);

interface Spoken {
  readonly name: string | null;
  readonly waitedMs: number | null;
  /** False: it never reached its worker. */
  readonly isClaim: boolean;
}

export function messageOf(known: DecisionFacts | null, { name, waitedMs, isClaim }: Spoken): string {
  const worker = name === null ? 'A worker of the fleet' : `Worker ${name}`;
  if (known === null) {
    const waited = waitedMs === null ? '' : ` It was claimed ${spokenSpan(waitedMs)} after it was ready.`;
    return `${worker} got it. What else was looked at is not known: decisions are kept for a day, and only some of a flood.${waited}`;
  }
  const lines = [whichWorker(known, worker)];
  if (!isClaim) lines.push('The claim did not reach the worker, so it was made again.');
  else if (waitedMs !== null) lines.push(whyThen(known, waitedMs));
  if (known.waiting > 1) lines.push(whyFirst(known));
  if (known.limits.length > 0) lines.push(`These limits had room: ${known.limits.map(limitText).join(', ')}.`);
  return lines.join(' ');
}

function whichWorker({ kind, fitting, candidates, request, loan }: DecisionFacts, worker: string): string {
  if (loan === 'reserved') return `${worker} was reserved for it.`;
  if (kind === 'speculative') return `${worker} had a free slot for a second attempt beside the slow one.`;
  if (kind === 'gang') return `${worker} got one member of the gang: all members got their places at once.`;
  const among = counted(fitting, 'worker');
  if (kind === 'turn') {
    return fitting === 1
      ? `${worker} was the only one with a free slot.`
      : `It was the turn of ${worker}: ${among} had a free slot.`;
  }
  const asked = request === null ? '' : ` for ${requestText(request)}`;
  if (fitting === 1) return `${worker} was the only one with room${asked}.`;
  const [first, second] = candidates;
  const scores = second === undefined ? '' : ` with ${first?.score}, and the next one has ${second.score}`;
  return `Of ${among} with room${asked}, ${worker} had the best score${scores}; the lower, the better.`;
}

function requestText({ resources, labels, exclusive, noSpot }: Request): string {
  const parts = [
    ...Object.entries(resources).map(([resource, amount]) => shownAmount(resource, amount)),
    ...Object.entries(labels).map(([label, value]) => `label ${label}=${value}`),
    ...(exclusive ? ['a whole worker'] : []),
    ...(noSpot ? ['no spot worker'] : []),
  ];
  return parts.join(', ');
}

function whyThen({ slotCameFree }: DecisionFacts, waitedMs: number): string {
  if (waitedMs < LONG_MS) return `It was claimed ${spokenSpan(waitedMs)} after it was ready.`;
  const until = slotCameFree
    ? 'when a slot of the worker came free'
    : 'while the worker had a free slot: a limit, a pause, a freeze or a breaker held it until then, or its run waited';
  return `It was claimed ${spokenSpan(waitedMs)} after it was ready, ${until}.`;
}

function whyFirst({ waiting, dags, queue, priority }: DecisionFacts): string {
  const turns = dags > 1 ? `, and of ${dags} dags it was the turn of its own` : '';
  const ofClass = priority === 'backfill' ? 'of backfills' : `of priority ${priority}`;
  return `${counted(waiting, 'task')} ${ofClass} could begin in queue "${queue}"${turns}: it was the oldest.`;
}

const limitText = ({ limit, takes, free }: DecisionFacts['limits'][number]) => `${limit} (${takes} of ${free} free)`;
