/** Tasks of a run and their attempts, one by one or in pages. */
import {
  type AttemptPage,
  listTasksSchema,
  nameSchema,
  parseOr,
  SignalboxError,
  type TaskPage,
  type TaskView,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RestParts } from './app.ts';
import { type RunRequest, readRun } from './runs.ts';

type TaskRequest = FastifyRequest<{ Params: { id: string; task: string } }>;

export function taskRoutes(app: FastifyInstance, parts: RestParts): void {
  app.get('/v1/runs/:id/tasks', async (request: RunRequest) => {
    const { cursor, limit, state } = parseOr(listTasksSchema, request.query, 'BAD_REQUEST');
    const { tasks } = await readRun(request, parts);
    const items: TaskView[] = [];
    let seen = Number(cursor ?? 0);
    for (; seen < tasks.length && items.length < limit; seen++) {
      const task = tasks[seen];
      if (task !== undefined && (state === undefined || task.state === state)) items.push(task);
    }
    return { items, cursor: seen < tasks.length ? String(seen) : null } satisfies TaskPage;
  });

  app.get('/v1/runs/:id/tasks/:task', (request: TaskRequest) => readTask(request, parts));

  app.get('/v1/runs/:id/tasks/:task/attempts', async (request: TaskRequest) => {
    const { attempts } = await readTask(request, parts);
    return { items: attempts, cursor: null } satisfies AttemptPage;
  });
}

async function readTask(request: TaskRequest, parts: RestParts): Promise<TaskView> {
  const { tasks } = await readRun(request, parts);
  const name = nameSchema.safeParse(request.params.task);
  const task = name.success ? tasks.find((found) => found.name === name.data) : undefined;
  if (task === undefined) throw new SignalboxError('TASK_NOT_FOUND', { task: request.params.task });
  return task;
}
