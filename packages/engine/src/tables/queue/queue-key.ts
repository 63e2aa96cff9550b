import type { QueueName, TenantId } from '../../model/ids.ts';

/** Names a queue of a tenant, and with `request` the part of it that asks for the same of workers. */
export type QueueKey = `${number}/${string}`;

/** Names of queues have no line breaks. */
export function queueKey(tenantId: TenantId, name: QueueName, request = ''): QueueKey {
  return request === '' ? `${tenantId}/${name}` : `${tenantId}/${name}\n${request}`;
}
