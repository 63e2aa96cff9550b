/** Tasks of a run and their attempts, one by one or in pages; another attempt by hand. */
import type { TaskNo } from '@signalbox/engine';
import {
  type AttemptPage,
  listTasksSchema,
  nameSchema,
  parseOr,
  type RunView,
  SignalboxError,
  type TaskPage,
  type TaskRetried,
  type TaskView,
} from '@signalbox/protocol';
import { readLargeOutput } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RestParts } from './app.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { idOf, type RunRequest, readRun } from './runs.ts';

type TaskRequest = FastifyRequest<{ Params: { id: string; task: string } }>;

export function taskRoutes(app: FastifyInstance, parts: RestParts): void {
  app.get('/v1/runs/:id/tasks', async (request: RunRequest) => {
    const { cursor, limit, state } = parseOr(listTasksSchema, request.query, 'BAD_REQUEST');
    const chosen: number[] = [];
    let seen = Number(cursor ?? 0);
    const { tasks } = await readRun(request, parts, (run) => {
      for (; seen < run.tasks.length && chosen.length < limit; seen++) {
        if (state === undefined || run.tasks[seen]?.state === state) chosen.push(seen);
      }
      return chosen;
    });
    const items = chosen.flatMap((no) => tasks[no] ?? []);
    return { items, cursor: seen < tasks.length ? String(seen) : null } satisfies TaskPage;
  });

  app.get('/v1/runs/:id/tasks/:task', (request: TaskRequest) => readTask(request, parts));

  app.get('/v1/runs/:id/tasks/:task/attempts', async (request: TaskRequest) => {
    const { attempts } = await readTask(request, parts);
    return { items: attempts, cursor: null } satisfies AttemptPage;
  });

  app.post('/v1/runs/:id/tasks/:task/retry', async (request: TaskRequest) => {
    const task = await readTask(request, parts);
    const run = idOf(request);
    return once<TaskRetried>(request, parts, {
      target: `${run}/${task.name}`,
      make: async (_key, again) => {
        await retry(request, task.name).catch((error: unknown) => {
          const isDone = again && error instanceof SignalboxError && error.code === 'TASK_NOT_RETRYABLE';
          if (!isDone) throw error;
        });
        return { run, task: task.name, state: (await readTask(request, parts)).state };
      },
    });
  });

  async function retry(request: TaskRequest, task: string): Promise<void> {
    const { tenantId, actor } = callerOf(request);
    const id = idOf(request);
    const run = await fromDatabase(() => parts.queries.getRun(tenantId, id), request.log);
    if (run === null) throw new SignalboxError('RUN_NOT_FOUND', { run: id });
    const taskNo = run.spec.tasks.findIndex(({ name }) => name === task) as TaskNo;
    const command = { kind: 'RetryTask', tenantId, runId: run.runId, taskNo, actor } as const;
    answerOf(await parts.main.command(command, parts.leftMs(request)), 'done', { run: id, task });
  }
}

async function readTask(request: TaskRequest, parts: RestParts): Promise<TaskView> {
  const name = nameSchema.safeParse(request.params.task);
  const placeIn = ({ tasks }: RunView) => (name.success ? tasks.findIndex((found) => found.name === name.data) : -1);
  const run = await readRun(request, parts, (found) => [placeIn(found)].filter((no) => no >= 0));
  const task = run.tasks[placeIn(run)];
  if (task === undefined) throw new SignalboxError('TASK_NOT_FOUND', { task: request.params.task });
  if (task.outputBytes === null) return task;
  return { ...task, output: await readLarge(request, parts, placeIn(run)), outputBytes: null };
}

async function readLarge(request: TaskRequest, { queries }: RestParts, no: number): Promise<unknown> {
  const { tenantId } = callerOf(request);
  const read = (taskNo: number) =>
    fromDatabase(() => queries.getPayload(tenantId, { uid: idOf(request), taskNo: taskNo as TaskNo }), request.log);
  const large = readLargeOutput((await read(no)) ?? '');
  return large === null ? null : JSON.parse((await read(large.row)) ?? 'null');
}
