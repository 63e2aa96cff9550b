/** The workers that lend slots to one queue, in turn. */
import type { Worker } from '../worker/worker-table.ts';
import type { QueueKey } from './queue-key.ts';

export class Offers {
  private readonly queue: QueueKey;
  private readonly workers: Worker[] = [];
  private readonly places = new Map<Worker, number>();
  private turn = 0;

  constructor(queue: QueueKey) {
    this.queue = queue;
  }

  get size(): number {
    return this.workers.length;
  }

  add(worker: Worker): void {
    if (this.places.has(worker)) return;
    this.places.set(worker, this.workers.length);
    this.workers.push(worker);
  }

  remove(worker: Worker): void {
    const place = this.places.get(worker);
    if (place === undefined) return;
    const last = this.workers.pop()!;
    if (last !== worker) {
      this.workers[place] = last;
      this.places.set(last, place);
    }
    this.places.delete(worker);
  }

  /** The worker whose turn it is. Those without a free slot are dropped when they come up. */
  peek(): Worker | undefined {
    while (this.workers.length > 0) {
      if (this.turn >= this.workers.length) this.turn = 0;
      const worker = this.workers[this.turn]!;
      if (worker.free > 0 && worker.queueKeys.includes(this.queue)) return worker;
      this.remove(worker);
    }
    return undefined;
  }

  /** Any other than this one that has a free slot, the next in turn first. */
  anyBut(own: Worker | undefined): Worker | null {
    for (let i = 0; i < this.workers.length; i++) {
      const worker = this.workers[(this.turn + i) % this.workers.length]!;
      if (worker !== own && worker.free > 0 && worker.queueKeys.includes(this.queue)) return worker;
    }
    return null;
  }

  passTurn(): void {
    this.turn += 1;
  }
}
