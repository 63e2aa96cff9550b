/** Manual actions on runs and tasks. Each records who did it; a dry run shows which tasks it would change. */
import { type Command, type Mark, TaskNames, type TaskNo, type TaskSelection } from '@signalbox/engine';
import {
  type ClearedRuns,
  cancelTaskSchema,
  clearRunsSchema,
  clearSchema,
  markSchema,
  nameSchema,
  type Paused,
  parseOr,
  SignalboxError,
  type Touched,
} from '@signalbox/protocol';
import type { RunDetails } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromIso } from '../iso-instants.ts';
import { pauseDelayedRun } from './delayed-runs.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { cursorOf, cursorText, idOf, type RunRequest } from './runs.ts';

type TaskRequest = FastifyRequest<{ Params: { id: string; task: string } }>;
type DagRequest = FastifyRequest<{ Params: { name: string } }>;

/** More than so many tasks are counted, not named. */
const NAMED = 1_000;
const RUNS_AT_ONCE = 20;

export function handRoutes(app: FastifyInstance, parts: RestParts): void {
  app.post('/v1/runs/:id/clear', (request: RunRequest) => {
    const body = parseOr(clearSchema, request.body ?? {}, 'BAD_REQUEST');
    return once<Touched>(request, parts, {
      target: idOf(request),
      body,
      make: async (_key, again) => {
        const run = await findRun(request, parts, idOf(request));
        return touch(request, parts, run, clearing(run, body), again);
      },
    });
  });

  app.post('/v1/runs/:id/mark', (request: RunRequest) => {
    const body = parseOr(markSchema, request.body ?? {}, 'BAD_REQUEST');
    const { as, output, reason = null, force = false, dryRun = false } = body;
    return once<Touched>(request, parts, {
      target: idOf(request),
      body,
      make: async (_key, again) => {
        const run = await findRun(request, parts, idOf(request));
        const text = output === undefined ? null : JSON.stringify(output);
        return touch(
          request,
          parts,
          run,
          { ...marking(run, body.tasks, as), output: text, reason, force, dryRun },
          again,
        );
      },
    });
  });

  app.post('/v1/runs/:id/tasks/:task/cancel', (request: TaskRequest) => {
    const body = parseOr(cancelTaskSchema, request.body ?? {}, 'BAD_REQUEST');
    return once<Touched>(request, parts, {
      target: `${idOf(request)}/${request.params.task}`,
      body,
      make: async (_key, again) => {
        const run = await findRun(request, parts, idOf(request));
        const { reason = null, dryRun = false } = body;
        const hand = marking(run, [request.params.task], 'cancelled');
        return touch(request, parts, run, { ...hand, output: null, reason, force: false, dryRun }, again);
      },
    });
  });

  for (const [verb, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    app.post(`/v1/runs/:id/${verb}`, (request: RunRequest) => setPaused(request, null, paused));
    app.post(`/v1/runs/:id/tasks/:task/${verb}`, (request: TaskRequest) =>
      setPaused(request, request.params.task, paused),
    );
  }

  app.post('/v1/dags/:name/clear', (request: DagRequest) => {
    const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
    const body = parseOr(clearRunsSchema, request.body ?? {}, 'BAD_REQUEST');
    return once<ClearedRuns>(request, parts, {
      target: name,
      body,
      make: (_key, again) => clearRuns(request, parts, name, body, again),
    });
  });

  function setPaused(request: RunRequest, task: string | null, paused: boolean): Promise<Paused> {
    const id = idOf(request);
    return once<Paused>(request, parts, {
      target: task === null ? id : `${id}/${task}`,
      make: async () => {
        const { tenantId, actor } = callerOf(request);
        if (task === null && (await pauseDelayedRun(request, parts, id, paused))) return { run: id, task, paused };
        const run = await findRun(request, parts, id);
        const taskNo = task === null ? null : numbersOf(run, [task])[0]!;
        const command = { kind: 'SetPaused', tenantId, runId: run.runId, taskNo, paused, actor } as const;
        answerOf(await parts.main.command(command, parts.leftMs(request)), 'done', { run: id, task: task ?? '' });
        return { run: id, task, paused };
      },
    });
  }
}

type Hand = Omit<Extract<Command, { kind: 'ClearTasks' | 'MarkTasks' }>, 'tenantId' | 'runId' | 'actor'>;
type Clearing = Extract<Hand, { kind: 'ClearTasks' }>;

function clearing(
  run: RunDetails,
  body: Pick<ReturnType<typeof clearSchema.parse>, keyof typeof clearSchema.shape>,
): Clearing {
  const { tasks, states = null, downstream = true, upstream = false, force = false, dryRun = false } = body;
  const numbers = tasks === undefined ? null : numbersOf(run, tasks);
  const select: TaskSelection = { tasks: numbers, states, downstream, upstream };
  return { kind: 'ClearTasks', select, force, dryRun } as Clearing;
}

function marking(run: RunDetails, tasks: readonly string[], as: Mark) {
  return { kind: 'MarkTasks' as const, tasks: numbersOf(run, tasks), as };
}

/**
 * An earlier request with this key was cut off, and may have been done: without force it does nothing twice, and what it then finds
 * under way was set going by itself.
 */
export async function touch(
  request: FastifyRequest,
  parts: RestParts,
  run: RunDetails,
  hand: object,
  again: boolean,
): Promise<Touched> {
  const { tenantId, actor } = callerOf(request);
  const command = { ...hand, ...(again && { force: false }), tenantId, runId: run.runId, actor } as Command;
  const routed = await parts.main.command(command, parts.leftMs(request));
  const isDone = again && routed.status === 'answered' && !routed.answer.ok && routed.answer.code === 'TASK_BUSY';
  if (isDone) return { run: run.uid, dryRun: false, reopened: false, count: 0, tasks: [] };
  const { dryRun, reopened, tasks } = answerOf(routed, 'touched', { run: run.uid });
  const names = new TaskNames(run.spec, run.maps);
  return {
    run: run.uid,
    dryRun,
    reopened,
    count: tasks.length,
    tasks: tasks.slice(0, NAMED).map(({ taskNo, name, before, after, how, stopped }) => {
      return { task: names.nameOf(taskNo) ?? name, before, after, how, stopped: stopped === 0 ? null : stopped };
    }),
  };
}

/** A page of a dag's runs; each by itself: what one is refused says nothing of the others. */
async function clearRuns(
  request: DagRequest,
  parts: RestParts,
  dagName: string,
  { outcome = 'failed', since, until, cursor, limit = RUNS_AT_ONCE, ...body }: ReturnType<typeof clearRunsSchema.parse>,
  again: boolean,
): Promise<ClearedRuns> {
  const { tenantId } = callerOf(request);
  const dag = await fromDatabase(() => parts.queries.findDag(tenantId, dagName), request.log);
  if (dag === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: dagName });
  const list = { dagName, state: outcome, before: cursorOf(cursor), limit };
  const { runs, next } = await fromDatabase(() => parts.queries.listRuns(tenantId, list), request.log);
  const [from, to] = [
    since === undefined ? 0 : fromIso(since),
    until === undefined ? Number.MAX_VALUE : fromIso(until),
  ];
  const items: ClearedRuns['items'] = [];
  for (const { uid, createdAt } of runs) {
    if (createdAt < from || createdAt >= to) continue;
    try {
      const run = await findRun(request, parts, uid);
      const { count, reopened } = await touch(request, parts, run, clearing(run, body), again);
      items.push({ run: uid, count, reopened, refused: null });
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.body().status >= 500) throw error;
      items.push({ run: uid, count: 0, reopened: false, refused: error.code });
    }
  }
  const isPast = runs.length > 0 && runs.every(({ createdAt }) => createdAt < from);
  return { items, cursor: next === null || isPast ? null : cursorText(next) };
}

export async function findRun(request: FastifyRequest, { queries }: RestParts, id: string): Promise<RunDetails> {
  const { tenantId } = callerOf(request);
  const run = await fromDatabase(() => queries.getRun(tenantId, id, () => []), request.log);
  if (run === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
  return run;
}

/** Also of instances of mapped tasks: `load[3]`. */
function numbersOf(run: RunDetails, names: readonly string[]): TaskNo[] {
  const known = new TaskNames(run.spec, run.maps);
  return names.map((name) => {
    const no = known.numberOf(name);
    if (no === null) throw new SignalboxError('TASK_NOT_FOUND', { task: name });
    return no as TaskNo;
  });
}
