/**
 * Whose turn it is, of the queues of workers that give them weights. Each claim raises the tag of its queue by one over its weight; the
 * queue with the lowest tag goes first. A queue without work is passed over, and saves nothing up: it comes back where the others are.
 *
 * What was claimed counts, whatever its class: priorities are decided before it is asked whose turn it is.
 */
import type { QueueName } from '../../model/ids.ts';

/** By name. A queue that is not named has the weight 1. */
export type QueueWeights = Readonly<Record<string, number>>;

export class QueueTurns {
  private readonly weights: QueueWeights;
  private readonly tags = new Map<QueueName, number>();
  /** The tag of the last claim: nobody begins below it. */
  private now = 0;

  constructor(weights: QueueWeights) {
    this.weights = weights;
  }

  /** The lower, the sooner. */
  tagOf(name: QueueName): number {
    return Math.max(this.tags.get(name) ?? 0, this.now);
  }

  take(name: QueueName): void {
    this.now = this.tagOf(name);
    this.tags.set(name, this.now + 1 / (this.weights[name] ?? 1));
  }
}
