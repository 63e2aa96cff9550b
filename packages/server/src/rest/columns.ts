/** A run in columns: all tasks of its definition in a tenth of the bytes and the time, for clients that show all of them. */
import type { DagSpec, TaskNo, TasksRead } from '@signalbox/engine';
import {
  parseOr,
  type RunColumns,
  type RunShape,
  type RunView,
  runColumnsQuerySchema,
  SignalboxError,
  TASK_STATE_LOOKS,
  TASK_STATES,
} from '@signalbox/protocol';
import type { RunDetails, RunOutline } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { readDelayedRun } from './delayed-runs.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';
import { idOf, type RunRequest, withWhy } from './runs.ts';
import { roleOf } from './task-role.ts';
import { runAnswer, tasksOf } from './views.ts';
import { whyRunWaits } from './why.ts';

const PARAMS_BYTES = 1024 * 1024;
/** Why a run waits is found among so many of the tasks that could tell. */
const TASKS_ASKED = 40;
const TELLING: ReadonlySet<string> = new Set(
  TASK_STATES.filter((state) => state !== 'blocked' && !TASK_STATE_LOOKS[state].isTerminal),
);
export const STATE_PLACE = new Map<string, number>(TASK_STATES.map((state, place) => [state, place]));

export function columnRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/runs/:id/columns', async (request: RunRequest) => {
    const { tenantId } = callerOf(request);
    const { shape } = parseOr(runColumnsQuerySchema, request.query, 'BAD_REQUEST');
    const id = idOf(request);
    let read: TasksRead | null = null;
    let nos: number[] = [];
    const choose = (outline: RunOutline) => {
      read = tasksOf(outline);
      nos = tellingTasks(outline.spec, read);
      return nos;
    };
    const run = await fromDatabase(() => queries.getRun(tenantId, id, choose), request.log);
    if (run === null) {
      const delayed = await readDelayedRun(request, parts, id);
      if (delayed === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
      return notBegun(delayed, shape === 'true');
    }
    const known: TasksRead = read ?? tasksOf(run);
    const below = run.spec.tasks.length;
    const params = { uid: run.uid, bytesLimit: PARAMS_BYTES, taskNos: [-1 as TaskNo] };
    const [times, payloads] = await fromDatabase(
      () => Promise.all([queries.getTaskTimes({ runId: run.runId, below }), queries.getPayloads(tenantId, params)]),
      request.log,
    );
    const { tasks, ...answer } = runAnswer(run, payloads, known, nos);
    const asked = await withWhy(tasks, { run, read: known, nos }, parts, tenantId);
    return {
      ...answer,
      why: whyRunWaits(asked.tasks, asked.facts),
      columns: columnsOf(run, known, times),
      instances: Object.fromEntries([...known.instances].map(([no, counts]) => [String(no), counts])),
      at: toIso(systemClock.wall()),
      shape: shape === 'true' ? shapeOf(run.spec) : null,
    } satisfies RunColumns;
  });
}

/** A delayed run has no tasks before its time. */
function notBegun({ tasks: _, ...run }: RunView, withShape: boolean): RunColumns {
  return {
    ...run,
    columns: { state: [], attempt: [], claimedMs: [], startedMs: [], endedMs: [] },
    instances: {},
    at: toIso(systemClock.wall()),
    shape: withShape ? { names: [], groups: [], group: [], role: [], kind: [], edges: [] } : null,
  };
}

/** Those that run come first: with one of them the run does not wait. */
function tellingTasks(spec: DagSpec, read: TasksRead): number[] {
  const running: number[] = [];
  const others: number[] = [];
  for (const no of spec.tasks.keys()) {
    const state = read.stateOf(no);
    if (state === 'running') running.push(no);
    else if (TELLING.has(state) && others.length < TASKS_ASKED) others.push(no);
    if (running.length > 0) return running;
  }
  return others;
}

type Times = Awaited<ReturnType<RestParts['queries']['getTaskTimes']>>;
function columnsOf(run: RunDetails, read: TasksRead, times: Times): RunColumns['columns'] {
  const size = run.spec.tasks.length;
  const state = Array.from({ length: size }, (_, no) => STATE_PLACE.get(read.stateOf(no)) ?? 0);
  const attempt = new Array<number>(size).fill(0);
  const empty = () => new Array<number | null>(size).fill(null);
  const [claimedMs, startedMs, endedMs] = [empty(), empty(), empty()];
  const after = (at: number | undefined) => (at === undefined || at === 0 ? null : at - run.createdAt);
  times.taskNos.forEach((no, i) => {
    attempt[no] = times.attempts[i] ?? 0;
    if (attempt[no] === 0) return;
    claimedMs[no] = after(times.claimedAt[i]);
    startedMs[no] = after(times.startedAt[i]);
    endedMs[no] = after(times.endedAt[i]);
  });
  return { state, attempt, claimedMs, startedMs, endedMs };
}

function shapeOf(spec: DagSpec): RunShape {
  const { tasks, groups = [] } = spec;
  return {
    names: tasks.map(({ name }) => name),
    groups: groups.map(({ name, parent, map }) => ({ name, parent, mapped: map !== undefined })),
    group: tasks.map(({ group }) => group ?? null),
    role: tasks.map(roleOf),
    kind: tasks.map(({ child, work }) => (child === undefined ? kindOf(work) : 'child')),
    edges: tasks.flatMap(({ needs }, no) => needs.flatMap((need) => [need, no])),
  };
}

const kindOf = (work: unknown): string => (work as { readonly kind?: string } | undefined)?.kind ?? 'handler';
