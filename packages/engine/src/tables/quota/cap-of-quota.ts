import { quotas, type StoredQuota } from '../../model/change/quota.ts';
import type { State } from '../state.ts';

/** The cap of the tenant is that of its quota of tasks, and changes with it. */
export function isCapOfQuota({ rows }: State, { shard, tenantId }: Pick<StoredQuota, 'shard' | 'tenantId'>): boolean {
  return rows.get(quotas, { shard, tenantId, quota: 'tasks' }) !== undefined;
}
