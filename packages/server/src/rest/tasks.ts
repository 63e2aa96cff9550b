/** Tasks of a run and their attempts, singly or in pages, and manual retries. */
import { type Priority, TaskNames, type TaskNo } from '@signalbox/engine';
import {
  type AttemptPage,
  type AttemptView,
  listTasksSchema,
  type PricedAttempt,
  parseOr,
  SignalboxError,
  type TaskPage,
  type TaskRetried,
  type TaskView,
  taskIdSchema,
} from '@signalbox/protocol';
import { checkpointNo, type RunDetails, readLargeOutput } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { costOfAttempt } from '../costs/attempt-cost.ts';
import { type DatedCard, readCards } from '../costs/pricing.ts';
import { fromIso } from '../iso-instants.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { idOf, type RunRequest, readTasksOf } from './runs.ts';
import { outputsNeeded, resolveInputs, sourcesOf } from './task-inputs.ts';
import { runSummary } from './views.ts';

type TaskRequest = FastifyRequest<{ Params: { id: string; task: string } }>;

export function taskRoutes(app: FastifyInstance, parts: RestParts): void {
  app.get('/v1/runs/:id/tasks', async (request: RunRequest) => {
    const { cursor, limit, state, group } = parseOr(listTasksSchema, request.query, 'BAD_REQUEST');
    let next: number | null = null;
    const { tasks } = await readTasksOf(request, parts, (read) => {
      const { names } = read;
      const chosen: number[] = [];
      for (const no of names.from(Number(cursor ?? 0))) {
        if (state !== undefined && read.stateOf(no) !== state) continue;
        if (group !== undefined && !names.isIn(no, group)) continue;
        if (chosen.length === limit) {
          next = no;
          break;
        }
        chosen.push(no);
      }
      return chosen;
    });
    return { items: tasks, cursor: next === null ? null : String(next) } satisfies TaskPage;
  });

  app.get('/v1/runs/:id/tasks/:task', (request: TaskRequest) => readTask(request, parts));

  app.get('/v1/runs/:id/tasks/:task/attempts', async (request: TaskRequest) => {
    const { task, priority } = await readWhole(request, parts);
    const cards = readCards(await fromDatabase(() => parts.queries.readRateCards(), request.log));
    const items = task.attempts.map((attempt) => ({ ...attempt, cost: costIn(attempt, priority, cards) }));
    return { items, cursor: null } satisfies AttemptPage;
  });

  app.post('/v1/runs/:id/tasks/:task/retry', async (request: TaskRequest) => {
    const task = await readTask(request, parts);
    const run = idOf(request);
    return once<TaskRetried>(request, parts, {
      target: `${run}/${task.name}`,
      make: async (_key, again) => {
        await retry(request).catch((error: unknown) => {
          const isDone = again && error instanceof SignalboxError && error.code === 'TASK_NOT_RETRYABLE';
          if (!isDone) throw error;
        });
        return { run, task: task.name, state: (await readTask(request, parts)).state };
      },
    });
  });

  async function retry(request: TaskRequest): Promise<void> {
    const { tenantId, actor } = callerOf(request);
    const id = idOf(request);
    const run = await fromDatabase(() => parts.queries.getRun(tenantId, id, () => []), request.log);
    if (run === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
    const { task } = request.params;
    const taskNo = new TaskNames(run.spec, run.maps).numberOf(task) as TaskNo | null;
    if (taskNo === null) throw new SignalboxError('TASK_NOT_FOUND', { task });
    const command = { kind: 'RetryTask', tenantId, runId: run.runId, taskNo, actor } as const;
    answerOf(await parts.main.command(command, parts.leftMs(request)), 'done', { run: id, task });
  }
}

/** A task that runs another dag has no worker, and costs nothing. */
function costIn(attempt: AttemptView, priority: Priority, cards: readonly DatedCard[]): PricedAttempt['cost'] {
  const { claimedAt, endedAt, worker } = attempt;
  if (claimedAt === null || endedAt === null || worker === null) return null;
  return costOfAttempt({ ...attempt, claimedAt: fromIso(claimedAt), endedAt: fromIso(endedAt), priority }, cards);
}

async function readTask(request: TaskRequest, parts: RestParts): Promise<TaskView> {
  return (await readWhole(request, parts)).task;
}

async function readWhole(request: TaskRequest, parts: RestParts): Promise<{ task: TaskView; priority: Priority }> {
  const name = taskIdSchema.safeParse(request.params.task);
  const { tasks, nos, run } = await readTasksOf(request, parts, ({ names }) => {
    const no = name.success ? names.numberOf(name.data) : null;
    return no === null ? [] : [no];
  });
  const [task] = tasks;
  if (task === undefined) throw new SignalboxError('TASK_NOT_FOUND', { task: request.params.task });
  const no = (nos[0] ?? 0) as TaskNo;
  const saved = await readPayload(request, parts, checkpointNo(no));
  const given = await readInputs(request, parts, run, task);
  const whole = { ...task, ...given, ...(saved === null ? {} : { checkpoint: JSON.parse(saved) as unknown }) };
  const { priority } = run;
  if (task.outputBytes === null) return { task: whole, priority };
  return { task: { ...whole, output: await readLarge(request, parts, no), outputBytes: null }, priority };
}

/** Nothing before its first attempt: what it will be given is not known yet. */
async function readInputs(
  request: TaskRequest,
  parts: RestParts,
  run: RunDetails,
  task: TaskView,
): Promise<Pick<TaskView, 'inputs'>> {
  const { spec } = run;
  if (task.attempt === 0 || Object.keys(sourcesOf(spec, task.name)).length === 0) return {};
  const needed = outputsNeeded(spec, task);
  const upstream =
    needed.length === 0
      ? { tasks: [] }
      : await readTasksOf(request, parts, ({ names }) =>
          needed.flatMap((name) => {
            const no = names.numberOf(name);
            return no === null ? [] : [no];
          }),
        );
  const outputs = new Map(
    upstream.tasks.flatMap(({ name, state, output, outputBytes }): [string, { output: unknown } | null][] =>
      outputBytes === null ? [[name, state === 'succeeded' ? { output } : null]] : [],
    ),
  );
  const { id, dag, createdAt, priority, window, windowStart } = runSummary(run);
  const params = await readPayload(request, parts, null);
  const facts = {
    'run.id': id,
    'run.dag': dag,
    'run.createdAt': createdAt,
    'run.priority': priority,
    'window.at': window,
    'window.start': windowStart,
    'window.end': window,
  };
  const known = { spec, task, run: facts, params: params === null ? null : (JSON.parse(params) as unknown), outputs };
  return { inputs: resolveInputs(known) };
}

async function readLarge(request: TaskRequest, parts: RestParts, no: number): Promise<unknown> {
  const large = readLargeOutput((await readPayload(request, parts, no)) ?? '');
  return large === null ? null : JSON.parse((await readPayload(request, parts, large.row)) ?? 'null');
}

function readPayload(request: TaskRequest, { queries }: RestParts, no: number | null): Promise<string | null> {
  const { tenantId } = callerOf(request);
  const wanted = { uid: idOf(request), taskNo: no as TaskNo | null };
  return fromDatabase(() => queries.getPayload(tenantId, wanted), request.log);
}
