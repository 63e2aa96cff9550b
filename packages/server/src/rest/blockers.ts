/** What holds back the most work right now, as the owners of the shards see it. */
import { type Blocker, type BlockerCode, misfitOf, poolLimit, type Request } from '@signalbox/engine';
import type { BlockerPage, BlockerView } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { callerOf } from './guards.ts';
import { traitsOf } from './queue-facts.ts';
import type { RestParts } from './rest-parts.ts';

const MOST_SHOWN = 100;

export function blockerRoutes(app: FastifyInstance, { main, queries, leftMs }: RestParts): void {
  app.get('/v1/blockers', async (request) => {
    const { tenantId, isSuspended } = callerOf(request);
    const [{ blockers, missing }, { serving }, limits] = await Promise.all([
      main.blockers(tenantId, leftMs(request)),
      main.workers(tenantId, leftMs(request)),
      queries.listSlotLimits({ tenantId, isOfInstallation: false }),
    ]);
    const slotsOf = new Map(limits.map(({ limit, slots }) => [limit, slots]));
    const poolSlots = (name: string) => slotsOf.get(poolLimit(tenantId, name)) ?? null;
    const taking = serving.filter(({ draining, cordoned = false }) => !draining && !cordoned);
    const served = new Set(taking.flatMap(({ queues }) => queues));
    const fits = (name: string, request: Request) =>
      taking.some((worker) => worker.queues.includes(name) && misfitOf(request, traitsOf(worker)) === null);
    const items = [...blockers]
      .sort((a, b) => b.count - a.count || a.since - b.since)
      .slice(0, MOST_SHOWN)
      .map((blocker) => viewOf(blocker, { served, fits, isSuspended, poolSlots }));
    return { items, cursor: null, missing: [...missing] } satisfies BlockerPage;
  });
}

interface Around {
  /** Queues that workers serve. */
  readonly served: ReadonlySet<string>;
  /** One of the workers of the queue has it, used or not. */
  readonly fits: (queue: string, request: Request) => boolean;
  /** The tenant is: all its queues are held, as if they were frozen. */
  readonly isSuspended: boolean;
  /** Null: nobody has set that pool. */
  readonly poolSlots: (name: string) => number | null;
}

function viewOf(blocker: Blocker, around: Around): BlockerView {
  const { code, subject, count, since } = blocker;
  const { isSuspended } = around;
  const name = subject.replace(/^\w+:/, '');
  const shown = codeOf(blocker, name, around);
  const isHeld = isSuspended && code === 'frozen' && subject.startsWith('queue:');
  const [message, remedy] = (isHeld ? suspended : TEXTS[shown])(subject, name);
  return { code: shown, subject, count, since: toIso(since), message, remedy };
}

/** The engine knows neither which workers there are elsewhere, nor how many slots a pool has in all. */
function codeOf({ code, slots = 1, request }: Blocker, name: string, around: Around): keyof typeof TEXTS {
  const { served, fits, poolSlots } = around;
  if ((code === 'workers_busy' || code === 'no_room') && !served.has(name)) return 'no_worker';
  if (code === 'no_room' && request !== undefined && !fits(name, request)) return 'no_worker_fits';
  if (code !== 'pool_full') return code;
  const inAll = poolSlots(name);
  if (inAll === null) return 'pool_missing';
  return inAll < slots ? 'pool_too_small' : 'pool_full';
}

type Texts = (subject: string, name: string) => readonly [message: string, remedy: string];

const suspended: Texts = (_, name) => [
  `The tenant is suspended, so nothing of queue "${name}" starts.`,
  'Ask the administrators of the installation to resume it.',
];

const TEXTS: Readonly<Record<BlockerCode | 'no_worker' | 'no_worker_fits' | 'pool_missing' | 'pool_too_small', Texts>> =
  {
    frozen: (subject) => [`${subject} is frozen, or what it is part of.`, 'See who did it: signalbox freezes'],
    halted: (subject, name) => [
      `Dag ${name} created too many tasks, and is halted.`,
      `Fix it, then let it go on: signalbox thaw ${subject}`,
    ],
    breaker: (_, name) => [`The breaker of dag ${name} is open.`, 'See why: signalbox breakers'],
    limit: (_, name) => [`Dag ${name} runs as many tasks as it may.`, 'Raise maxActiveTasks of the dag.'],
    task_limit: (subject) => [`${subject} runs as often as it may.`, 'Raise maxActive of the task.'],
    rate: (subject) => [`${subject} starts as many tasks per time as it may.`, 'Raise the limit of its rate.'],
    run_limit: (_, name) => [
      `Runs of dag ${name} run as many tasks as they may.`,
      'Raise maxActiveTasksPerRun of the dag.',
    ],
    pool_full: (subject, name) => [
      `The slots of pool "${name}" are in use.`,
      `See who has them: signalbox limits show ${subject}`,
    ],
    pool_missing: (subject, name) => [`Pool "${name}" is not set.`, `Set it: signalbox limits set ${subject} <slots>`],
    pool_too_small: (subject, name) => [
      `Pool "${name}" has fewer slots than a task takes.`,
      `Give it more: signalbox limits set ${subject} <slots>`,
    ],
    cap_full: (subject) => [`The cap of ${subject} is reached.`, 'See the caps: signalbox limits'],
    reserved: (_, name) => [
      `Slots of queue "${name}" are kept for a dag or a tenant.`,
      'Add workers, or see who reserved them: signalbox reservations',
    ],
    workers_busy: (_, name) => [`All slots for queue "${name}" are in use.`, 'Add workers, or slots to workers.'],
    no_room: (_, name) => [
      `Workers of queue "${name}" have no room for what these tasks ask for.`,
      'Wait, add workers of this kind, or ask for less. See what is free: signalbox workers',
    ],
    gang: (_, name) => [
      `Gangs of queue "${name}" wait until all of their members are ready.`,
      'See what each member does: signalbox runs show <run>',
    ],
    no_worker_fits: (_, name) => [
      `No worker of queue "${name}" offers what these tasks ask for.`,
      `Start one that does: signalbox worker --queues ${name} --resources <amounts> --labels <labels>`,
    ],
    no_worker: (_, name) => [`No worker serves queue "${name}".`, `Start one: signalbox worker --queues ${name}`],
    run_key: (_, name) => [
      `Runs of dag ${name} wait for runs with the same key.`,
      `See who has the keys: signalbox runs list --dag ${name}. Or raise the limit under concurrency of the dag.`,
    ],
    run_queued: (_, name) => [`Dag ${name} has as many active runs as it may.`, 'Raise maxActiveRuns of the dag.'],
  };
