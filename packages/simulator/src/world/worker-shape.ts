/** What a worker offers. */
import type { QueueName, TenantId } from '@signalbox/engine';

export interface WorkerShape {
  readonly slots: number;
  readonly queues: readonly QueueName[];
  /** Whom it serves; null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
}
