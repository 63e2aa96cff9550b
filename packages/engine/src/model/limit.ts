/**
 * Limits that span shards: pools, and caps of a tenant, of a queue, of the whole cluster. Each has a name, and the name says which
 * shard is its home (D10).
 */
import { type DagId, type QueueName, type RunId, SHARD_COUNT, type ShardNo, type TenantId } from './ids.ts';
import { hashOf } from './schedule/spread.ts';

declare const brand: unique symbol;
/** `pool/1/database`, `queue/1/default`, `tenant/1`, `cluster`, `kept/1/7/default`; within a dag `task/7/load`, `run/9`, `rate/7`, `rate/7/load`. */
export type LimitName = string & { readonly [brand]: 'LimitName' };

/** The slots that a task takes in a pool while it runs. */
export interface PoolSpec {
  readonly name: string;
  readonly slots: number;
}

export const MAX_LIMIT = 1_000_000;
export const CLUSTER_LIMIT = 'cluster' as LimitName;
const KEPT = 'kept/';
const STARTS = 'starts/';

export function poolLimit(tenantId: TenantId, name: string): LimitName {
  return `pool/${tenantId}/${name}` as LimitName;
}

export function queueLimit(tenantId: TenantId, name: QueueName): LimitName {
  return `queue/${tenantId}/${name}` as LimitName;
}

export function tenantLimit(tenantId: TenantId): LimitName {
  return `tenant/${tenantId}` as LimitName;
}

/** Of a task over all runs of its dag. It needs no home. */
export function taskLimit(dagId: DagId, task: string): LimitName {
  return `task/${dagId}/${task}` as LimitName;
}

/** Of all tasks of one run. It needs no home. */
export function runLimit(runId: RunId): LimitName {
  return `run/${runId}` as LimitName;
}

/** Of the starts of a task per time, or (without one) of all tasks of a dag. It needs no home. */
export function rateLimit(dagId: DagId, task: string | null): LimitName {
  return `rate/${dagId}${task === null ? '' : `/${task}`}` as LimitName;
}

/** A task in a pool that nobody has set waits; without a cap it does not. */
export function isPool(name: LimitName): boolean {
  return name.startsWith('pool/');
}

/** Whose slots are kept, and in which queues. */
export interface Keep {
  /** A dag, before the other dags of its tenant; or (null) a tenant, before all other tenants. */
  readonly dagId: DagId | null;
  readonly tenantId: TenantId;
  readonly queues: readonly QueueName[];
}

/**
 * What is left to the others while slots are kept: those of the queues but for the kept ones. The name says who the others are:
 * `kept/1/7/default` are all dags of tenant 1 but dag 7, `kept/1/0/batch,default` all tenants but tenant 1.
 */
export function keptLimit({ dagId, tenantId, queues }: Keep): LimitName {
  return `${KEPT}${tenantId}/${dagId ?? 0}/${[...queues].sort().join(',')}` as LimitName;
}

export function isKept(name: LimitName): boolean {
  return name.startsWith(KEPT);
}

/** Whether tasks of this dag and queue are among the others. */
export function isAmongOthers(
  name: LimitName,
  { tenantId, dagId, queue }: { readonly tenantId: TenantId; readonly dagId: DagId; readonly queue: QueueName },
): boolean {
  const kept = keepOf(name);
  const isOther = kept.dagId === null ? kept.tenantId !== tenantId : kept.tenantId === tenantId && kept.dagId !== dagId;
  return isOther && kept.queues.includes(queue);
}

export function keepOf(name: LimitName): Keep {
  const [, tenantId, dagId, queues = ''] = name.split('/');
  return {
    tenantId: Number(tenantId) as TenantId,
    dagId: dagId === '0' ? null : (Number(dagId) as DagId),
    queues: queues.split(',') as QueueName[],
  };
}

/**
 * How many attempts start per time of all that a limit is for: `starts/60000/queue/1/default`. A slot of it is in use from the start of
 * an attempt for as long as that time, so in any such time no more attempts start than there are slots.
 */
export function startsLimit(of: LimitName, perMs: number): LimitName {
  return `${STARTS}${perMs}/${of}` as LimitName;
}

export function isStarts(name: LimitName): boolean {
  return name.startsWith(STARTS);
}

export function startsOf(name: LimitName): { readonly perMs: number; readonly of: LimitName } {
  const [, perMs, ...of] = name.split('/');
  return { perMs: Number(perMs), of: of.join('/') as LimitName };
}

/** As people write it: `pool:database`, `queue:default`, `rate:queue:default`, `cluster`. Whose `tenant` it is, its surroundings say. */
export function shownLimit(limit: LimitName): string {
  if (isStarts(limit)) return `rate:${shownLimit(startsOf(limit).of)}`;
  const [kind = '', , ...rest] = limit.split('/');
  return rest.length === 0 ? kind : `${kind}:${rest.join('/')}`;
}

/** The shard that keeps the limit, and what each shard has of it. */
export function homeOf(name: LimitName): ShardNo {
  return (hashOf(name) % SHARD_COUNT) as ShardNo;
}
