/** What a worker offers. */
import type { QueueName, QueueWeights, TenantId, WorkerTraits } from '@signalbox/engine';

export interface WorkerShape {
  readonly slots: number;
  readonly queues: readonly QueueName[];
  /** In which proportion it takes from its queues; undefined: the oldest run first. */
  readonly weights?: QueueWeights;
  /** Whom it serves; null: every tenant. */
  readonly tenants: readonly TenantId[] | null;
  /** Undefined: it is of an older version, and does not tell. */
  readonly traits?: WorkerTraits;
}
