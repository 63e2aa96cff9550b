import type { QueueName, TenantId } from '../../model/ids.ts';

/** Names a queue of a tenant. */
export type QueueKey = `${number}/${string}`;

export function queueKey(tenantId: TenantId, name: QueueName): QueueKey {
  return `${tenantId}/${name}`;
}
