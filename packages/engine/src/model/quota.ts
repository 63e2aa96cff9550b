/**
 * Quotas of a tenant: how much it may ask for. Over the soft limit the tenant is throttled, over the hard one requests are refused
 * (I50). Each is a number per time, but for `tasks`, which counts what runs. A quota of another resource of tasks is one more name
 * here that has a cap, as `tasks` has.
 */
import { FAN_OUT_MS } from './halt.ts';
import type { DagId, ShardNo, TenantId } from './ids.ts';
import { homeOf, type LimitName, tenantLimit } from './limit.ts';

export const QUOTA_NAMES = ['submits', 'deploys', 'runs', 'tasks', 'failures', 'fanout'] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

/** Those that are counted at the home of the tenant, before a request is carried out. */
export type CountedQuota = 'submits' | 'deploys';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** The time that a quota is for; 0 for one that counts what is running. `runs` and `fanout` are of each dag. */
export const QUOTA_PER_MS: Readonly<Record<QuotaName, number>> = {
  submits: MINUTE,
  deploys: HOUR,
  runs: DAY,
  tasks: 0,
  failures: HOUR,
  fanout: FAN_OUT_MS,
};

/** `soft`: it is throttled. `hard`: requests are refused. */
export const QUOTA_LEVELS = ['under', 'soft', 'hard'] as const;
export type QuotaLevel = (typeof QUOTA_LEVELS)[number];

export interface QuotaLimits {
  readonly soft: number | null;
  readonly hard: number | null;
}

/** The shard that keeps the quotas of a tenant. It is the home of its cap of tasks, too. */
export function quotaHome(tenantId: TenantId): ShardNo {
  return homeOf(tenantLimit(tenantId));
}

const PREFIX = 'quota/';

/** What is counted at the home of the tenant. */
export function quotaCount(tenantId: TenantId, quota: CountedQuota): LimitName {
  return `${PREFIX}${quota}/${tenantId}` as LimitName;
}

/** What each shard counts of its own dags. */
export function failureCount(tenantId: TenantId, shard: ShardNo): LimitName {
  return `${PREFIX}failures/${tenantId}/${shard}` as LimitName;
}

export function runCount(tenantId: TenantId, dagId: DagId): LimitName {
  return `${PREFIX}runs/${tenantId}/${dagId}` as LimitName;
}

/** Tasks that a dag creates. Over the hard limit it is halted, and nothing is refused. */
export function fanOutCount(tenantId: TenantId, dagId: DagId): LimitName {
  return `${PREFIX}fanout/${tenantId}/${dagId}` as LimitName;
}

export function isQuotaCount(name: LimitName): boolean {
  return name.startsWith(PREFIX);
}

/** A quota is full when its hard limit is used up. */
export function levelOf(used: number, { soft, hard }: QuotaLimits): QuotaLevel {
  if (hard !== null && used >= hard) return 'hard';
  return soft !== null && used > soft ? 'soft' : 'under';
}
