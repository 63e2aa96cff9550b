/** What a worker offers. */
import type { QueueName, TenantId, WorkerTraits } from '@signalbox/engine';

export interface WorkerShape {
  readonly slots: number;
  readonly queues: readonly QueueName[];
  /** Whom it serves; null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
  /** Undefined: it is of an older version, and does not tell. */
  readonly traits?: WorkerTraits;
}
