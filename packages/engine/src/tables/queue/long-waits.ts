/**
 * Since when tasks with a request wait for room, by queue and class. Tasks that ask for little can fill each room that comes free before
 * one that asks for much fits; so a queue from which nothing was claimed for long asks gateways to reserve a worker for it.
 *
 * In memory only: after a takeover the wait begins anew.
 */
import { CLASSES } from './classes.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** How often queues are looked at. */
const LOOK_MS = 1_000;
/** Of one tenant and queue, however many different requests wait in it. */
const MOST_PER_QUEUE = 2;

export class LongWaits {
  private readonly since = new Map<ReadyQueue, (number | undefined)[]>();
  private lookedAt = Number.NEGATIVE_INFINITY;
  /** Queues that a worker should be reserved for, and the class of the task that waits. */
  private reserving = new Map<ReadyQueue, number>();

  get isEmpty(): boolean {
    return this.reserving.size === 0;
  }

  /** The class for which the queue wants a worker reserved; null: for none. */
  classOf(queue: ReadyQueue): number | null {
    const found = this.reserving.get(queue);
    return found === undefined || queue.waitingAt(found) === 0 ? null : found;
  }

  /** A task of the queue was claimed: those behind it wait from now on. */
  claimed(queue: ReadyQueue, priority: number, mono: number): void {
    const since = this.since.get(queue);
    if (since !== undefined) since[priority] = mono;
    if (this.reserving.get(queue) === priority) this.reserving.delete(queue);
  }

  /** `queues` are those with a request. */
  look(queues: Iterable<ReadyQueue>, afterMs: number, mono: number): void {
    if (mono - this.lookedAt < LOOK_MS) return;
    this.lookedAt = mono;
    for (const queue of queues) this.note(queue, mono);
    this.reserving = this.choose(afterMs, mono);
  }

  private note(queue: ReadyQueue, mono: number): void {
    const known = this.since.get(queue);
    let isWaiting = false;
    const since = known ?? CLASSES.map(() => undefined);
    for (const priority of CLASSES) {
      if (queue.waitingAt(priority) === 0) since[priority] = undefined;
      else {
        since[priority] ??= mono;
        isWaiting = true;
      }
    }
    if (!isWaiting) this.since.delete(queue);
    else if (known === undefined) this.since.set(queue, since);
  }

  /** Those that have waited longest first. */
  private choose(afterMs: number, mono: number): Map<ReadyQueue, number> {
    const long: { readonly queue: ReadyQueue; readonly priority: number; readonly at: number }[] = [];
    for (const [queue, since] of this.since) {
      const priority = since.findIndex((at) => at !== undefined && mono - at >= afterMs);
      if (priority >= 0) long.push({ queue, priority, at: since[priority]! });
    }
    const chosen = new Map<ReadyQueue, number>();
    const counts = new Map<string, number>();
    for (const { queue, priority } of long.sort((a, b) => a.at - b.at)) {
      const name = `${queue.tenantId}/${queue.name}`;
      const count = counts.get(name) ?? 0;
      if (count === MOST_PER_QUEUE) continue;
      counts.set(name, count + 1);
      chosen.set(queue, priority);
    }
    return chosen;
  }
}
