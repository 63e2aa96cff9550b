/**
 * Why a task does not run, for people and programs. It uses only what a reader has at hand: the view of the run and the
 * connected workers. The checks have the order in which a task would be held: first the run, then the task, then its queue.
 */
import { type GangSpec, type Misfit, type Request, span } from '@signalbox/engine';
import { counted, type RunSummary, shownAmount, type TaskView, type Why, type WhyCode } from '@signalbox/protocol';
import { fromIso, toIso } from '../iso-instants.ts';

/** What workers there are for each queue; null when nobody could be asked, so that nothing is claimed about them. */
export interface QueueFacts {
  /** `reserved` are free, and kept for a task that has waited for room for long. */
  slotsOf(queue: string): { readonly slots: number; readonly running: number; readonly reserved: number } | null;
  /** Whether a worker of the queue could run a task with this request, now or ever. */
  fitOf(queue: string, request: Request): FitFact;
}

export type FitFact =
  | { readonly kind: 'fits' }
  /** What no worker has; empty when each part is there, and nowhere all of them. */
  | { readonly kind: 'never'; readonly lacks: readonly Misfit[] }
  /** A gang that all workers together have too few places for, with nothing else running. */
  | { readonly kind: 'few'; readonly gang: GangSpec; readonly places: number }
  /** So many members of a gang have room at the moment. */
  | {
      readonly kind: 'gang';
      readonly gang: GangSpec;
      readonly places: number;
      readonly reserved: 'own' | 'others' | null;
    }
  /** So many workers fit, and none has room; null: it wants one for itself, or several things are short. */
  | {
      readonly kind: 'busy';
      readonly workers: number;
      readonly short: { readonly name: string; readonly amount: number; readonly most: number } | null;
      /** Workers that fit are reserved: one for this very task, or some for others. */
      readonly reserved: 'own' | 'others' | null;
    };

export interface FreezeFact {
  readonly kind: 'cluster' | 'tenant' | 'queue' | 'dag' | 'worker';
  readonly name: string;
  readonly by: string;
  readonly since: string;
  readonly reason: string | null;
}

/** Slots are kept from tasks of the run now. */
export interface ReservedFact {
  /** The limit that they are under meanwhile. */
  readonly limit: string;
  readonly slots: number;
  readonly queues: readonly string[];
  /** `dag nightly`; null: of another tenant, of which nothing is told. */
  readonly keptFor: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly until: string;
  /** How many the others share; null: not known yet. */
  readonly left: number | null;
}

/** The dag created too much. */
export interface HaltFact {
  readonly cause: 'fan_out' | 'live_tasks';
  readonly tasks: number;
  readonly most: number;
  readonly since: string;
}

export interface RunFacts {
  readonly state: RunSummary['state'];
  readonly paused: TaskView['paused'];
  readonly setAsideReason: string | null;
  /** Dags that its window requires, while it waits for them, and until when. */
  readonly requires?: { readonly of: readonly string[]; readonly until: string };
  /** Its key, how many runs may have it, and which have it, while it waits. */
  readonly key?: { readonly key: string; readonly limit: number; readonly heldBy: readonly string[] };
  /** What is frozen that tasks of the run may be of, and how that reads. */
  readonly freezes?: readonly FreezeFact[];
  /** Slots that are kept for others now. */
  readonly reserved?: readonly ReservedFact[];
  /** Its dag is halted. */
  readonly halt?: HaltFact;
  /** Its tenant is. */
  readonly isSuspended?: boolean;
  readonly maxActiveRuns: number | null;
  readonly maxActiveTasks: number | null;
  /** Starts per time that are limited: of a task, or (null) of the dag. */
  readonly rates?: readonly { readonly task: string | null; readonly limit: number; readonly perMs: number }[];
  /** The same of queues, pools, the tenant or the cluster. */
  readonly sharedRates?: readonly { readonly limit: string; readonly slots: number; readonly perMs: number }[];
  /** How many tasks of the run may run, and how many do, where that is limited. */
  readonly ofRun?: { readonly most: number; readonly running: number };
  readonly queues: QueueFacts | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A limit that the task is under, whichever run it is of. */
export interface LimitFact {
  readonly kind: 'task' | 'pool' | 'queue' | 'tenant' | 'cluster';
  readonly name: string;
  /** What the task takes of it. */
  readonly takes: number;
  /** Null: the pool is not set. */
  readonly slots: number | null;
  readonly used: number;
  /** Who has had a slot for the longest time. */
  readonly heldBy: string | null;
}

/** What the matcher says of a task that is ready: see `waitOf` of the engine. */
export interface WaitFact {
  readonly blockers: readonly {
    readonly code: string;
    readonly subject: string;
    readonly until?: number;
    readonly limit?: string;
  }[];
  readonly ahead: number;
}

export interface TaskFacts {
  readonly queue: string;
  /** What it asks of its worker beside a slot. */
  readonly request?: Request;
  /** Where the matcher was asked. */
  readonly wait?: WaitFact;
  /** Limits over several dags. */
  readonly limits?: readonly LimitFact[];
  /** The tasks that it needs and that have not ended, with their states. */
  readonly unmet: readonly { readonly name: string; readonly state: string }[];
  /** It waits for the same task of an earlier window: the run of that, null while it is being looked for; absent: it does not. */
  readonly past?: { readonly run: string | null; readonly at: string | null; readonly downstream: boolean };
}

const because = (code: WhyCode, message: string, until: string | null = null): Why => ({ code, message, until });

/** The first reason. Null while the task runs, and when there is nothing to explain. */
export function whyOf(task: TaskView, of: TaskFacts, run: RunFacts): Why | null {
  return reasonsOf(task, of, run)[0] ?? null;
}

/** All that holds the task, in the order in which it would be looked at. */
export function reasonsOf(task: TaskView, of: TaskFacts, run: RunFacts): readonly Why[] {
  const reasons = allReasons(task, of, run);
  // No server has the run: what else would hold its tasks is no help.
  return run.state === 'set_aside' ? reasons.filter(({ code }) => ALSO_SET_ASIDE.includes(code)) : reasons;
}

/** What has ended keeps its reason. */
const ALSO_SET_ASIDE: readonly WhyCode[] = ['set_aside', 'skipped', 'upstream_failed', 'given_up'];

function allReasons(task: TaskView, of: TaskFacts, run: RunFacts): readonly Why[] {
  switch (task.state) {
    case 'skipped':
      return task.reason === null ? [] : [because('skipped', task.reason)];
    case 'upstream_failed':
      return [because('upstream_failed', task.reason ?? 'A task that it needs did not succeed.')];
    case 'failed':
      return task.deadLetter === null ? [] : [because('given_up', GIVEN_UP[task.deadLetter](task))];
    case 'waiting':
      return task.child?.run == null
        ? []
        : [because('child', `Waits for run ${task.child.run} of dag ${task.child.dag}.`)];
    case 'blocked':
      return [...whyNoneStarts(task, run), ...whyBlocked(task, of)];
    case 'ready':
    case 'retrying':
      return [...whyNoneStarts(task, run), ...whyNotClaimed(task, of, run)];
    case 'expanded': {
      const { ready = 0, running = 0 } = task.instances?.states ?? {};
      return ready === 0 || running > 0 ? [] : [...whyNoneStarts(task, run), ...whyNotClaimed(task, of, run)];
    }
    default:
      return [];
  }
}

const GIVEN_UP: Readonly<Record<NonNullable<TaskView['deadLetter']>, (task: TaskView) => string>> = {
  retries: ({ attempt }) => `Gave up after ${counted(attempt, 'attempt')}: no retries are left.`,
  permanent: () => 'Gave up: the error is permanent, so it was not retried.',
  poison: ({ attempt }) => `Gave up as poison: ${counted(attempt, 'attempt')} failed at once with the same error.`,
  lost: () => 'Gave up: too many attempts were lost with their workers.',
  timeout: () => 'Gave up: its timeout passed.',
};

/** What holds the whole run, or this task, whatever it waits for. */
function whyNoneStarts(task: TaskView, run: RunFacts): readonly Why[] {
  const own = whyRun(run);
  const found = own === null ? [] : [own];
  if (task.paused === null) return found;
  const { by, since, until } = task.paused;
  return [...found, because('task_paused', `The task is paused, by ${by} since ${since}.`, until)];
}

/** What holds all tasks of a run. */
function whyRun(run: RunFacts): Why | null {
  if (run.state === 'set_aside') {
    return because('set_aside', `The run is set aside after an internal error: ${run.setAsideReason ?? 'unknown'}.`);
  }
  if (run.state === 'queued' && run.requires !== undefined) {
    const { of, until } = run.requires;
    return because('requires', `Waits until what the schedule requires is met: ${of.join(', ')}.`, until);
  }
  if (run.state === 'queued' && run.key !== undefined && run.key.heldBy.length >= run.key.limit) {
    const { key, limit, heldBy } = run.key;
    const [first = '', ...others] = heldBy;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const most = limit === 1 ? 'one run' : `${limit} runs`;
    return because('run_key', `At most ${most} with key "${key}" may be active. Run ${first}${more} has it.`);
  }
  if (run.state === 'queued') {
    const limit = run.maxActiveRuns === null ? '' : ` (maxActiveRuns: ${run.maxActiveRuns})`;
    return because('run_queued', `Waits for another run of the dag to end${limit}.`);
  }
  if (run.paused !== null && run.state !== 'ended') {
    return because('run_paused', `The run is paused, by ${run.paused.by} since ${run.paused.since}.`, run.paused.until);
  }
  return null;
}

const NAMES_SHOWN = 3;

function whyBlocked(task: TaskView, { unmet }: TaskFacts): readonly Why[] {
  if (unmet.length === 0) return task.role === 'task' ? [] : [because('closing', 'Runs when the run closes.')];
  const names = unmet.slice(0, NAMES_SHOWN).map(({ name, state }) => `${name} (${state})`);
  const more = unmet.length > NAMES_SHOWN ? ` and ${unmet.length - NAMES_SHOWN} more` : '';
  return [because('upstream', `Waits for ${names.join(', ')}${more}.`)];
}

function whyPast({ name }: TaskView, past: NonNullable<TaskFacts['past']>): Why {
  if (past.run === null)
    return because('past', 'Depends on the past: the run of the window before is being looked for.');
  const and = past.downstream ? ', and those directly downstream of it,' : '';
  return because(
    'past',
    `Waits until ${name}${and} of run ${past.run} (window ${past.at}) has succeeded or was skipped.`,
  );
}

function whyFrozen({ kind, name, by, since, reason }: FreezeFact): Why {
  const what = { cluster: 'The cluster', tenant: 'The tenant', dag: 'The dag', queue: `Queue "${name}"`, worker: '' }[
    kind
  ];
  return because('frozen', `${what} is frozen, by ${by} since ${since}${reason === null ? '' : `: ${reason}`}.`);
}

/** Why a dag is halted, without who it is. */
export function haltReason({ cause, tasks, most }: Pick<HaltFact, 'cause' | 'tasks' | 'most'>): string {
  const limit = `${counted(most, 'task')} ${most === 1 ? 'is' : 'are'} allowed`;
  return cause === 'fan_out'
    ? `it created ${counted(tasks, 'task')} within a minute, and ${limit}`
    : `its live runs have ${counted(tasks, 'task')}, and ${limit}`;
}

const whyHalted = (halt: HaltFact): Why =>
  because('halted', `The dag is halted since ${halt.since}: ${haltReason(halt)}.`);

/** Limits over several dags that have no room for the task; of those that the matcher names, where it was asked. */
function whyLimited(limits: readonly LimitFact[], wait: WaitFact | undefined): readonly Why[] {
  return limits.flatMap((limit): readonly Why[] => {
    const why = whyFull(limit);
    if (wait === undefined) return why === null ? [] : [why];
    if (!wait.blockers.some((blocker) => isOf(blocker, limit))) return [];
    return [
      why ?? because(codeOf(limit), `${whose(limit)} has room, and slots are on their way to the server of the dag.`),
    ];
  });
}

function whyFull(limit: LimitFact): Why | null {
  const { kind, name, takes, slots, used, heldBy } = limit;
  if (slots === null)
    return because('pool_missing', `${whose(limit)} is not set: "signalbox limits set pool:${name} <slots>" sets it.`);
  if (kind === 'pool' && takes > slots)
    return because(
      'pool_too_small',
      `${whose(limit)} has ${counted(slots, 'slot')}, and the task takes ${takes}: it never starts.`,
    );
  if (used + takes <= slots) return null;
  const held = heldBy === null ? '' : `, one by ${heldBy}`;
  if (kind === 'pool') {
    const needs = takes === 1 ? '' : `; the task takes ${takes}`;
    return because(
      'pool_full',
      `${whose(limit)} has ${counted(slots, 'slot')}, and ${used} ${used === 1 ? 'is' : 'are'} in use${held}${needs}.`,
    );
  }
  if (kind === 'task')
    return because(
      'task_limit',
      `At most ${counted(slots, 'attempt')} of ${name} ${slots === 1 ? 'runs' : 'run'} at once (maxActive)${held}.`,
    );
  return because('cap_full', `${whose(limit)} runs at most ${counted(slots, 'task')} at once${held}.`);
}

function whose({ kind, name }: LimitFact): string {
  return {
    task: `Task ${name}`,
    pool: `Pool "${name}"`,
    queue: `Queue "${name}"`,
    tenant: 'The tenant',
    cluster: 'The cluster',
  }[kind];
}

const codeOf = ({ kind }: LimitFact): WhyCode =>
  kind === 'pool' ? 'pool_full' : kind === 'task' ? 'task_limit' : 'cap_full';

/** Blockers name limits as the CLI does: `pool:database`, `queue:default`, `tenant`, `dag:etl task:load`. */
function isOf({ code, subject }: WaitFact['blockers'][number], { kind, name }: LimitFact): boolean {
  if (code === 'task_limit') return kind === 'task' && subject.endsWith(` task:${name}`);
  if (code === 'pool_full') return kind === 'pool' && subject === `pool:${name}`;
  if (code !== 'cap_full') return false;
  return kind === 'queue' ? subject === `queue:${name}` : subject === kind;
}

function whyNotClaimed(task: TaskView, of: TaskFacts, run: RunFacts): readonly Why[] {
  const { queue, past, limits = [], wait } = of;
  const isSeen = (code: string) => wait === undefined || wait.blockers.some((blocker) => blocker.code === code);
  const found: Why[] = [];
  const frozen =
    run.freezes?.filter(({ kind, name }) => kind !== 'worker' && (kind !== 'queue' || name === queue)) ?? [];
  if (run.halt !== undefined) found.push(whyHalted(run.halt));
  found.push(...frozen.map(whyFrozen));
  if (run.isSuspended === true) found.push(because('suspended', 'The tenant is suspended: nothing of it starts.'));
  if (past !== undefined) found.push(whyPast(task, past));
  if (task.retryAt !== null && fromIso(task.retryAt) > run.now) {
    const message = `Attempt ${task.attempt} failed; the next one starts at ${task.retryAt}.`;
    found.push(because('retry', message, task.retryAt));
  }
  if (task.heldBy !== null) found.push(because('breaker', `Held by the ${task.heldBy} until a probe succeeds.`));
  else if (wait !== undefined && isSeen('breaker'))
    found.push(because('breaker', 'Held by the breaker of the dag until a probe succeeds.'));
  if (wait !== undefined && run.maxActiveTasks !== null && isSeen('limit')) found.push(whyDagFull(run.maxActiveTasks));
  if (run.ofRun !== undefined && (wait === undefined ? run.ofRun.running >= run.ofRun.most : isSeen('run_limit')))
    found.push(
      because(
        'run_limit',
        `At most ${counted(run.ofRun.most, 'task')} of a run ${run.ofRun.most === 1 ? 'runs' : 'run'} at once (maxActiveTasksPerRun).`,
      ),
    );
  for (const one of wait?.blockers ?? []) {
    if (one.code === 'rate') found.push(whyRate(one, run));
    if (one.code === 'reserved') found.push(whyReserved(one, run));
    if (one.code === 'gang')
      found.push(because('gang', `The gang starts when all of its members are ready: ${one.subject}.`));
  }
  found.push(...whyLimited(limits, wait));
  if (found.length === 0) return whyNoWorker(of, run);
  // Whatever else holds it: without a worker it would not start either.
  if (run.queues?.slotsOf(queue) === null) return [...found, whyUnserved(queue)];
  const unfit = whyUnfit(of, run);
  return unfit?.code === 'no_worker_fits' ? [...found, unfit] : found;
}

/** No worker of its queue has what it asks for, or none has room for it at the moment. */
function whyUnfit({ queue, request }: TaskFacts, { queues }: RunFacts): Why | null {
  if (request === undefined || queues === null || queues.slotsOf(queue) === null) return null;
  const fit = queues.fitOf(queue, request);
  if (fit.kind === 'fits') return null;
  if (fit.kind === 'never') {
    const lacks = fit.lacks.map(lackText);
    const what = lacks.length === 0 ? 'offers all that the task asks for at once' : lacks.join(', and none ');
    return because('no_worker_fits', `No worker of queue "${queue}" ${what}.`);
  }
  if (fit.kind === 'few') {
    const there =
      fit.gang.share === true
        ? `workers of queue "${queue}" have ${fit.places}`
        : `queue "${queue}" has ${fit.places} that fit`;
    return because('no_worker_fits', `The gang needs ${placesText(fit.gang)} at once, and ${there}.`);
  }
  if (fit.kind === 'gang') {
    const kept = fit.reserved === null ? '' : RESERVED_FOR_GANG[fit.reserved];
    const { gang, places } = fit;
    const room =
      gang.share === true
        ? `${places} ${places === 1 ? 'is' : 'are'} free`
        : `${places} ${places === 1 ? 'has' : 'have'} room`;
    return because('gang', `The gang waits for ${placesText(gang)} at once: ${room}.${kept}`);
  }
  const workers = fit.workers === 1 ? '1 worker fits' : `${fit.workers} workers fit`;
  const kept = fit.reserved === null ? '' : RESERVED[fit.reserved];
  if (request.exclusive)
    return because('no_room', `The task wants a worker for itself: ${workers}, and none is idle.${kept}`);
  if (fit.short === null)
    return because('no_room', `${workers}, and none has room for all that the task asks for.${kept}`);
  const { name, amount, most } = fit.short;
  const wanted = shownAmount(name, amount);
  const free = shownAmount(name, most);
  return because('no_room', `The task waits for ${wanted}: ${workers}, with at most ${free} free.${kept}`);
}

const RESERVED = {
  own: ' A worker is reserved for it, and takes no other work of its priority or below until the task fits.',
  others: ' Workers are reserved for tasks that have waited longer.',
} as const;

const RESERVED_FOR_GANG = {
  own: ' Workers are reserved for it, and take no other work of its priority or below until it has all of them.',
  others: RESERVED.others,
} as const;

const placesText = ({ size, share }: GangSpec): string => (share === true ? `${size} places` : `${size} workers`);

function lackText(misfit: Misfit): string {
  if (misfit.kind === 'label') return `offers label ${misfit.name}=${misfit.value}`;
  if (misfit.kind === 'spot') return 'is not a spot worker';
  const { name, amount, most } = misfit;
  const largest = most === 0 ? '' : `; the largest has ${shownAmount(name, most)}`;
  return `has ${shownAmount(name, amount)}${largest}`;
}

/** `queue:default`, `pool:api`, `tenant`, `cluster`. */
function whySharedRate({ subject, until, limit }: WaitFact['blockers'][number], { sharedRates = [] }: RunFacts): Why {
  const rate = sharedRates.find((one) => one.limit === limit);
  const most = rate === undefined ? '' : `: at most ${rate.slots} per ${span(rate.perMs)}`;
  const [kind = '', name] = subject.split(':');
  const whose = name === undefined ? `The ${kind}` : `${kind === 'pool' ? 'Pool' : 'Queue'} "${name}"`;
  const next = until === undefined ? null : toIso(until);
  return because('rate', `${whose} has started as many attempts as its rate allows${most}.`, next);
}

/** `dag:etl`, or `dag:etl task:load`; else of several dags. */
function whyRate(blocker: WaitFact['blockers'][number], run: RunFacts): Why {
  const { subject, until, limit } = blocker;
  const { rates = [] } = run;
  if (limit !== undefined) return whySharedRate(blocker, run);
  const task = / task:(.*)$/.exec(subject)?.[1] ?? null;
  const rate = rates.find((one) => one.task === task);
  const most = rate === undefined ? '' : `: at most ${rate.limit} per ${span(rate.perMs)}`;
  const next = until === undefined ? null : toIso(until);
  const whose = task === null ? 'The dag' : `Task ${task}`;
  return because('rate', `${whose} has started as many attempts as its rate allows${most}.`, next);
}

function whyReserved({ subject, limit }: WaitFact['blockers'][number], { reserved = [] }: RunFacts): Why {
  const name = `"${subject.replace(/^queue:/, '').replaceAll(',', '", "')}"`;
  const kept = reserved.filter((one) => one.limit === limit);
  const [first] = kept;
  if (first === undefined) return because('reserved', `Slots of queue ${name} are kept for others.`);
  const slots = kept.reduce((sum, one) => sum + one.slots, 0);
  const by = first.by === null ? '' : `, by ${first.by}`;
  const reason = first.reason === null ? '' : `: ${first.reason}`;
  const left = first.left === null ? '' : ` The others share ${counted(first.left, 'slot')} of its workers.`;
  const whose = first.keptFor ?? 'another tenant';
  return because(
    'reserved',
    `${counted(slots, 'slot')} of queue ${name} ${slots === 1 ? 'is' : 'are'} kept for ${whose} until ${first.until}${by}${reason}.${left}`,
    first.until,
  );
}

const whyDagFull = (most: number): Why =>
  because('limit', `The dag runs at most ${counted(most, 'task')} at once (maxActiveTasks).`);

const whyUnserved = (queue: string): Why => because('no_worker', `No worker serves queue "${queue}".`);

const whyBusy = (queue: string, slots: number, reserved: number): Why => {
  const all = slots === 1 ? `The only slot for queue "${queue}" is` : `All ${slots} slots for queue "${queue}" are`;
  const kept = reserved === 0 ? '' : ', or reserved for a larger task that has waited for long';
  return because('workers_busy', `${all} in use${kept}.`);
};

/** Nothing but workers is missing, or its turn has not come. */
function whyNoWorker(of: TaskFacts, run: RunFacts): readonly Why[] {
  const { queue, wait } = of;
  const found: Why[] = [];
  const ahead = wait?.ahead ?? 0;
  const isOne = ahead === 1;
  const before = `${counted(ahead, 'task')} of queue "${queue}" ${isOne ? 'goes' : 'go'} first`;
  if (ahead > 0) found.push(because('position', `Position ${ahead + 1}: ${before}.`));
  if (run.queues === null) return found;
  const workers = run.queues.slotsOf(queue);
  if (workers === null) return [...found, whyUnserved(queue)];
  const unfit = whyUnfit(of, run);
  if (unfit?.code === 'no_worker_fits') return [unfit];
  if (unfit !== null) return [...found, unfit];
  const { slots, running, reserved } = workers;
  if (running + reserved >= slots) return [...found, whyBusy(queue, slots, reserved)];
  if (wait === undefined && run.maxActiveTasks !== null) return [whyDagFull(run.maxActiveTasks)];
  return found;
}

/** What a person would want to know first. */
const TELLING: readonly WhyCode[] = [
  'suspended',
  'halted',
  'frozen',
  'past',
  'pool_missing',
  'pool_too_small',
  'no_worker',
  'no_worker_fits',
  'breaker',
  'task_paused',
  'rate',
  'task_limit',
  'pool_full',
  'cap_full',
  'reserved',
  'no_room',
  'workers_busy',
  'limit',
  'retry',
  'child',
];

/** Why the run does not go on: its own reason, or, while nothing of it runs, that of the task that holds it. */
export function whyRunWaits(tasks: readonly TaskView[], run: RunFacts): Why | null {
  if (run.state === 'ended') return null;
  const own = whyRun(run);
  if (own !== null) return own;
  if (tasks.some(({ state, instances }) => state === 'running' || (instances?.states.running ?? 0) > 0)) return null;
  for (const code of TELLING) {
    const task = tasks.find(({ why }) => why?.code === code);
    if (task?.why != null) return { ...task.why, message: `Task ${task.name}: ${task.why.message}` };
  }
  return null;
}
