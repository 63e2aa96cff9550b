/**
 * Why one task does not run, as a chain: what holds its run, the tasks that it waits for and what holds those, limits, its place in
 * the queue, workers. Of a task that is ready the owner of its shard is asked, which looks at what the matcher looks at.
 */
import { counted, SignalboxError, type TaskView, type TaskWhy, taskIdSchema } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromIso, toIso } from '../iso-instants.ts';
import { callerOf } from './guards.ts';
import { askMatcher } from './matcher-facts.ts';
import type { RestParts } from './rest-parts.ts';
import { readTasksOf } from './runs.ts';
import { reasonsOf, type WaitFact } from './why.ts';
import { suggestionFor } from './why-suggestions.ts';

type TaskRequest = FastifyRequest<{ Params: { id: string; task: string } }>;
type Found = Awaited<ReturnType<typeof readTasksOf>>;

/** A view is shown without it rather than late. */
const PATIENCE_MS = 1_000;
/** How many tasks that wait for each other are followed. */
const MOST_FOLLOWED = 10;

export function taskWhyRoutes(app: FastifyInstance, parts: RestParts): void {
  app.get('/v1/runs/:id/tasks/:task/why', async (request: TaskRequest): Promise<TaskWhy> => {
    const asked = await look(request, parts, request.params.task);
    const chain: TaskWhy['chain'] = [...asked.links];
    let last = asked;
    for (let i = 0; i < MOST_FOLLOWED && last.next !== null; i++) {
      last = await look(request, parts, last.next);
      chain.push(...last.links);
    }
    const [first] = chain;
    const { task, found } = asked;
    const suggestion = suggestionFor(chain, { run: found.run.uid, dag: found.run.dagName, queueOf: last.queue });
    return {
      run: found.run.uid,
      dag: found.run.dagName,
      task: task.name,
      state: task.state,
      code: first?.code ?? null,
      message: first?.message ?? withoutReason(task),
      until: first?.until ?? null,
      chain,
      suggestion,
      ahead: asked.wait?.blockers.length === 0 ? asked.wait.ahead : null,
      predictedStart: last === asked ? await predict(request, parts, asked, chain) : null,
      missing: [...last.missing],
    };
  });
}

interface Looked {
  readonly task: TaskView;
  readonly found: Found;
  readonly queue: string;
  readonly links: TaskWhy['chain'];
  /** The task that it waits for. */
  readonly next: string | null;
  /** As the matcher sees it; null where it was not asked or did not answer. */
  readonly wait: WaitFact | null;
  readonly missing: readonly string[];
}

async function look(request: TaskRequest, parts: RestParts, name: string): Promise<Looked> {
  const given = taskIdSchema.safeParse(name);
  const found = await readTasksOf(request, parts, ({ names }) => {
    const no = given.success ? names.numberOf(given.data) : null;
    return no === null ? [] : [no];
  });
  const [task] = found.tasks;
  const [of] = found.of;
  if (task === undefined || of === undefined) throw new SignalboxError('TASK_NOT_FOUND', { task: name });
  const facts = { ...found.facts, isSuspended: callerOf(request).isSuspended };
  const { tenantId } = callerOf(request);
  const asked = await askMatcher(parts, {
    tenantId,
    run: found.run,
    task,
    taskNo: found.nos[0]!,
    queue: of.queue,
    facts,
  });
  const wait = asked?.wait ?? null;
  const reasons = reasonsOf(task, wait === null ? of : { ...of, wait }, facts);
  const isUnknown = asked !== null && asked.wait === null && reasons.length === 0;
  const links = isUnknown ? [loading(asked.missing)] : reasons;
  return {
    task,
    found,
    queue: of.queue,
    links: links.map((why) => ({ ...why, task: task.name })),
    next: task.state === 'blocked' ? nextOf(of.unmet) : null,
    wait,
    missing: asked?.missing ?? [],
  };
}

function loading(missing: readonly string[]) {
  const message =
    missing.length > 0
      ? `Server ${missing.join(', ')} did not answer: it may have the run.`
      : 'No server has the run in memory yet: its shard is being loaded.';
  return { code: 'loading', message, until: null } as const;
}

/** What will not go on by itself tells more than what runs, and that more than what only waits. */
const FOLLOWED = ['retrying', 'ready', 'expanded', 'waiting', 'running', 'blocked'];

function nextOf(unmet: readonly { readonly name: string; readonly state: string }[]): string | null {
  for (const state of FOLLOWED) {
    const one = unmet.find((upstream) => upstream.state === state);
    if (one !== undefined) return one.name;
  }
  return null;
}

function withoutReason({ state }: TaskView): string {
  if (state === 'running') return 'The task is running.';
  if (state === 'ready') return 'Nothing holds it: a worker takes it at once.';
  return `The task is ${state}: it waits for nothing.`;
}

const MINUTE_MS = 60_000;

/** Only where nothing but time, or its place in the queue, holds it. */
async function predict(
  request: TaskRequest,
  { main }: RestParts,
  { wait, queue, task, found }: Looked,
  chain: TaskWhy['chain'],
): Promise<TaskWhy['predictedStart']> {
  const { now } = found.facts;
  if (chain.length > 0 && chain.every(({ until }) => until !== null)) {
    const at = Math.max(...chain.map(({ until }) => fromIso(until!)));
    return { at: toIso(at), basis: 'What holds it ends by itself then.' };
  }
  if (wait === null || wait.blockers.length > 0 || task.state !== 'ready') return null;
  if (chain.length === 0) return { at: toIso(now), basis: 'A worker has a free slot.' };
  if (chain.some(({ code }) => code !== 'position' && code !== 'workers_busy')) return null;
  const { queues } = await main.queues(callerOf(request).tenantId, PATIENCE_MS).catch(() => ({ queues: [] }));
  const perMinute = queues.find((one) => one.queue === queue)?.startsPerMinute ?? 0;
  if (perMinute <= 0) return null;
  const at = now + ((wait.ahead + 1) / perMinute) * MINUTE_MS;
  const rate = perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute);
  return {
    at: toIso(Math.round(at)),
    basis: `${counted(wait.ahead, 'task goes', 'tasks go')} first, and queue "${queue}" starts ${rate === 1 ? '1 task' : `${rate} tasks`} a minute.`,
  };
}
