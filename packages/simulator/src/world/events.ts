/** What happens next in the simulated world: one queue of events, by time and among equals by order of coming. */
import type { SimScheduler } from '../fake-store/scheduler.ts';
import type { Chance } from './chance.ts';

export interface Event {
  readonly at: number;
  readonly no: number;
  run: (() => void) | null;
}

export class Events implements SimScheduler {
  /** Events that have run. */
  stepCount = 0;
  #now = 0;
  #lastNo = 0;
  readonly #heap: Event[] = [];
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#chance.next();
  }

  after(ms: number, _what: string, run: () => void): void {
    this.in(ms, run);
  }

  /** The answer is for `cancel`. */
  in(ms: number, run: () => void): Event {
    this.#lastNo += 1;
    const event: Event = { at: this.#now + Math.max(0, ms), no: this.#lastNo, run };
    this.#push(event);
    return event;
  }

  cancel(event: Event): void {
    event.run = null;
  }

  /** Runs the next event, if it is due by then; false when none is. */
  runNext(until: number): boolean {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) {
        this.#now = Math.max(this.#now, until);
        return false;
      }
      this.#pop();
      if (next.run === null) continue;
      this.#now = next.at;
      this.stepCount += 1;
      next.run();
      return true;
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[at] = heap[parent] as Event;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.no < b.no);
}
