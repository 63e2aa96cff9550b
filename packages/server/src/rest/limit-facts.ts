/** What limits over several dags say of tasks that wait. They are read when a view contains tasks that wait for a worker. */
import {
  CLUSTER_LIMIT,
  type DagId,
  type LimitName,
  poolLimit,
  type QueueName,
  queueLimit,
  type TenantId,
  taskLimit,
  tenantLimit,
} from '@signalbox/engine';
import { toIso } from '../iso-instants.ts';
import type { RestParts } from './rest-parts.ts';
import type { LimitFact } from './why.ts';

/** A view is shown without it rather than late. */
const PATIENCE_MS = 1_000;
/** The main thread is asked for no more limits than this for one view. */
const MOST_ASKED = 20;

export interface LimitedTask {
  readonly name: string;
  readonly queue: string;
  readonly maxActive?: number;
  readonly pool?: { readonly name: string; readonly slots: number };
  readonly placement?: { readonly gang?: { readonly size: number } };
}

interface Owner {
  readonly tenantId: TenantId;
  readonly dagId: DagId;
}

/** What limits each task; nothing where that could not be read. */
export type LimitFacts = (task: LimitedTask) => readonly LimitFact[];

interface LimitParts {
  readonly queries: Pick<RestParts['queries'], 'findSlotLimits'>;
  readonly main: Pick<RestParts['main'], 'slots'>;
}

/** `tasks`: those that wait. Of limits beyond the first few only their size is told. */
export async function readLimitFacts(
  { main, queries }: LimitParts,
  { tenantId, dagId }: Owner,
  tasks: readonly LimitedTask[],
): Promise<LimitFacts> {
  try {
    const unlike = [...new Map(tasks.map((task) => [likeness(task), task])).values()];
    const names = [...new Set(unlike.flatMap((task) => limitsOf({ tenantId, dagId }, task).map(({ limit }) => limit)))];
    const slotsOf = new Map((await queries.findSlotLimits(names)).map(({ limit, slots }) => [limit, slots]));
    for (const { name, maxActive } of tasks) {
      if (maxActive !== undefined) slotsOf.set(taskLimit(dagId, name), maxActive);
    }
    const asked = names.filter((limit) => slotsOf.has(limit)).slice(0, MOST_ASKED);
    const seen = await Promise.all(asked.map((limit) => main.slots(limit, PATIENCE_MS)));
    const useOf = new Map(asked.map((limit, i) => [limit, seen[i]!]));
    const factsOf = (task: LimitedTask) =>
      limitsOf({ tenantId, dagId }, task).flatMap(({ limit, kind, name, takes }): LimitFact[] => {
        const slots = slotsOf.get(limit);
        if (slots === undefined)
          return kind === 'pool' ? [{ kind, name, takes, slots: null, used: 0, heldBy: null }] : [];
        const { used = 0, holders: [first] = [] } = useOf.get(limit) ?? {};
        // Of other tenants nobody learns anything (I65).
        const heldBy =
          first === undefined || kind === 'cluster'
            ? null
            : `${first.task} of run ${first.run} (dag ${first.dag}) since ${toIso(first.since)}`;
        return [{ kind, name, takes, slots, used, heldBy }];
      });
    const known = new Map<string, readonly LimitFact[]>();
    return (task) => {
      const like = likeness(task);
      const facts = known.get(like) ?? factsOf(task);
      known.set(like, facts);
      return facts;
    };
  } catch {
    return () => [];
  }
}

/** Tasks that are alike have the same limits: a run may have 10,000 of one queue. */
function likeness({ name, queue, pool, maxActive }: LimitedTask): string {
  if (pool === undefined && maxActive === undefined) return queue;
  return JSON.stringify([queue, pool?.name, pool?.slots, maxActive === undefined ? null : name]);
}

interface LimitOfTask {
  readonly limit: LimitName;
  readonly kind: LimitFact['kind'];
  readonly name: string;
  readonly takes: number;
}

function limitsOf(
  { tenantId, dagId }: Owner,
  { name: task, queue, pool, maxActive, placement }: LimitedTask,
): LimitOfTask[] {
  // A gang takes its slots together.
  const each = placement?.gang?.size ?? 1;
  const own: LimitOfTask[] =
    maxActive === undefined ? [] : [{ limit: taskLimit(dagId, task), kind: 'task', name: task, takes: each }];
  const caps: LimitOfTask[] = [
    ...own,
    { limit: queueLimit(tenantId, queue as QueueName), kind: 'queue', name: queue, takes: each },
    { limit: tenantLimit(tenantId), kind: 'tenant', name: '', takes: each },
    { limit: CLUSTER_LIMIT, kind: 'cluster', name: '', takes: each },
  ];
  if (pool === undefined) return caps;
  const { name, slots } = pool;
  return [{ limit: poolLimit(tenantId, name), kind: 'pool', name, takes: slots * each }, ...caps];
}
