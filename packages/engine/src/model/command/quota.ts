/** Commands about quotas of tenants. The first two come from people, the others from nodes. */
import type { Actor, Instant, ShardNo, TenantId } from '../ids.ts';
import type { CountedQuota, QuotaLimits, QuotaName } from '../quota.ts';

interface OfQuota {
  /** The home of the tenant. */
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly quota: QuotaName;
  readonly actor: Actor;
}

/** Without any limit there is no such quota any more. A raise ends with it. */
export interface SetQuota extends OfQuota, QuotaLimits {
  readonly kind: 'SetQuota';
}

/** Other limits for a while. */
export interface RaiseQuota extends OfQuota, QuotaLimits {
  readonly kind: 'RaiseQuota';
  readonly until: Instant;
  readonly reason: string;
}

/** Counts a request before it is carried out. One that is sent twice may count twice. */
export interface TakeQuota {
  readonly kind: 'TakeQuota';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly quota: CountedQuota;
  readonly count: number;
}

export interface QuotaRule extends QuotaLimits {
  readonly tenantId: TenantId;
  readonly quota: QuotaName;
  /** Of `failures`: how many there are in all shards. Of `runs` and `fanout`: how many the dag with the most has. */
  readonly used: number;
}

/** The quotas of all tenants, as a node has read them. Raises that are over do not count. */
export interface SetQuotas {
  readonly kind: 'SetQuotas';
  readonly quotas: readonly QuotaRule[];
}
