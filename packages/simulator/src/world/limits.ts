/** Limits that span shards: which tasks take slots of pools, and what people set, drawn. */
import type { Actor, Command, DagSpec, LimitName, QueueName, ShardNo, TaskSpec, TenantId } from '@signalbox/engine';
import {
  CLUSTER_LIMIT,
  homeOf,
  isPool,
  isStarts,
  poolLimit,
  queueLimit,
  startsLimit,
  tenantLimit,
} from '@signalbox/engine';
import type { CapRule } from '@signalbox/store';
import type { FakeDatabase } from '../fake-store/index.ts';
import type { Chance } from './chance.ts';
import { type PlannedDag, QUEUES } from './workload.ts';

type Described = Pick<FakeDatabase['tables'], 'described'>;

/** Short: what they hold back must be able to end within the history. */
const STARTS_PER = [1_000, 4_000] as const;
const POOLS = ['first', 'second'] as const;
/** What a task takes of a pool at most. */
export const LARGEST = 2;

/** In half of the histories nobody uses such limits. */
export function usesLimits(chance: Chance): boolean {
  return chance.fork('use of limits').happens(0.5);
}

export function planPools(chance: Chance, dags: readonly PlannedDag[]): PlannedDag[] {
  const own = chance.fork('limits of tasks and runs');
  const rates = chance.fork('starts per time');
  const ofTemplates = chance.fork('pools of templates');
  return dags.map((dag) => ({
    ...dag,
    versions: dag.versions.map((spec) =>
      withRates(rates, withOwnLimits(own, inPools(ofTemplates, withPools(chance, spec)))),
    ),
  }));
}

function withOwnLimits(chance: Chance, spec: DagSpec): DagSpec {
  const tasks = spec.tasks.map((task) =>
    task.child === undefined && chance.happens(0.2) ? { ...task, maxActive: chance.int(1, 2) } : task,
  );
  return { ...spec, tasks, ...(chance.happens(0.25) && { maxActiveTasksPerRun: chance.int(1, 3) }) };
}

/** Short ones: what they hold back must be able to end within the history. */
function withRates(chance: Chance, spec: DagSpec): DagSpec {
  const rate = () => ({ limit: chance.int(1, 4), perMs: chance.pick([1_000, 3_000, 8_000]) });
  const tasks = spec.tasks.map((task) =>
    task.child === undefined && chance.happens(0.15) ? { ...task, rate: rate() } : task,
  );
  return { ...spec, tasks, ...(chance.happens(0.15) && { rate: rate() }) };
}

function withPools(chance: Chance, spec: DagSpec): DagSpec {
  return chance.happens(0.6) ? { ...spec, tasks: spec.tasks.map((task) => inPool(chance, task)) } : spec;
}

/** Tasks that are added take slots as their templates say. */
function inPools(chance: Chance, { templates, ...spec }: DagSpec): DagSpec {
  return templates === undefined ? spec : { ...spec, templates: templates.map((task) => inPool(chance, task)) };
}

function inPool(chance: Chance, task: TaskSpec): TaskSpec {
  if (task.child !== undefined || !chance.happens(0.6)) return task;
  return { ...task, pool: { name: chance.pick(POOLS), slots: chance.happens(0.8) ? 1 : LARGEST } };
}

const poolsOf = (tenants: readonly TenantId[]): LimitName[] =>
  tenants.flatMap((tenantId) => POOLS.map((name) => poolLimit(tenantId, name)));

/** Homes of all limits that are ever set. */
export function homesOf(tenants: readonly TenantId[]): ShardNo[] {
  const caps = tenants.flatMap((tenantId) => QUEUES.flatMap((queue) => capsOf(tenantId, queue)));
  const all = [...poolsOf(tenants), ...caps];
  const starts = all.flatMap((of) => STARTS_PER.map((perMs) => startsLimit(of, perMs)));
  return [...new Set([...all, ...starts].map(homeOf))];
}

function capsOf(tenantId: TenantId, queue: QueueName): LimitName[] {
  return [CLUSTER_LIMIT, tenantLimit(tenantId), queueLimit(tenantId, queue)];
}

/** Somebody sets a pool or a cap, or lifts a cap. */
export function planLimit(chance: Chance, tenants: readonly TenantId[], actor: Actor): Command {
  const tenantId = chance.pick(tenants);
  const caps = capsOf(tenantId, chance.pick(QUEUES));
  const starts = chance.fork('starts of several dags');
  if (starts.happens(0.2)) {
    const of = starts.pick([...caps, ...poolsOf(tenants)]);
    const limit = startsLimit(of, starts.pick(STARTS_PER));
    return setLimit(limit, starts.happens(0.3) ? null : starts.int(1, 4), tenantId, actor);
  }
  const isOfPool = chance.happens(0.7);
  const limit = isOfPool ? chance.pick(poolsOf(tenants)) : chance.pick(caps);
  const slots = !isOfPool && chance.happens(0.3) ? null : chance.int(1, 4);
  return setLimit(limit, slots, tenantId, actor);
}

/** Without these some tasks would never begin. */
export function limitsLeft(tables: Described, tenants: readonly TenantId[], actor: Actor): Command[] {
  const set = new Map(tables.described.all('limits').map(({ limit, slots }) => [limit, slots]));
  const tooSmall = poolsOf(tenants).filter((limit) => (set.get(limit) ?? 0) < LARGEST);
  const starts = [...set].flatMap(([limit, slots]) => (isStarts(limit) && slots !== null ? [limit] : []));
  return [
    ...tooSmall.map((limit) => setLimit(limit, LARGEST, tenants[0]!, actor)),
    // What is left would take long.
    ...starts.map((limit) => setLimit(limit, null, tenants[0]!, actor)),
  ];
}

function setLimit(limit: LimitName, slots: number | null, tenantId: TenantId, actor: Actor): Command {
  return { kind: 'SetLimit', shard: homeOf(limit), tenantId, limit, slots, actor };
}

/** As a node reads them from the database. */
export function capsIn(tables: Described): CapRule[] {
  return tables.described
    .all('limits')
    .filter(({ limit }) => !isPool(limit))
    .map(({ limit, no, slots }) => ({ limit, no, isLimited: slots !== null }));
}
