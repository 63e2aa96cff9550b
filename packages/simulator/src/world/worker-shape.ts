/** What a worker offers. */
import type { QueueName } from '@signalbox/engine';

export interface WorkerShape {
  readonly slots: number;
  readonly queues: readonly QueueName[];
}
