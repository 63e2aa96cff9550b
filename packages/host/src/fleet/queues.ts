/** What the queues of all nodes have to do. Each node counts the tasks of its own shards. */
import { type QueueLoad, queueLoads, type State } from '@signalbox/engine';
import type { QueueSeen } from '../peer/message.ts';
import type { Clock } from '../ports.ts';
import type { StartRates } from './start-rates.ts';

/** Counting walks all lanes and attempts, and anybody may ask: for this long the last count is the answer. */
const KEPT_MS = 250;

export class QueueCounts {
  private readonly rates: StartRates;
  private readonly clock: Pick<Clock, 'mono'>;
  private last: { readonly at: number; readonly state: State; readonly queues: QueueSeen[] } | null = null;

  constructor(rates: StartRates, clock: Pick<Clock, 'mono'>) {
    this.rates = rates;
    this.clock = clock;
  }

  of(state: State | null): QueueSeen[] {
    if (state === null) return [];
    const at = this.clock.mono();
    if (this.last?.state !== state || at - this.last.at >= KEPT_MS)
      this.last = { at, state, queues: count(state, this.rates) };
    return this.last.queues;
  }
}

function count(state: State, rates: StartRates): QueueSeen[] {
  return queueLoads(state).map((load) => ({
    ...withoutTime(load),
    oldestMs: load.oldestAt === null ? null : Math.max(0, state.now - load.oldestAt),
    startsPerMinute: rates.perMinute(load.tenantId, load.queue),
  }));
}

function withoutTime({ oldestAt: _oldestAt, ...load }: QueueLoad) {
  return load;
}

/** Adds up the counts of several nodes. */
export function sumQueues(lists: readonly (readonly QueueSeen[])[]): QueueSeen[] {
  const found = new Map<string, QueueSeen>();
  for (const one of lists.flat()) {
    const key = `${one.tenantId} ${one.queue}`;
    const known = found.get(key);
    found.set(key, known === undefined ? one : sum(known, one));
  }
  return [...found.values()];
}

function sum(a: QueueSeen, b: QueueSeen): QueueSeen {
  return {
    tenantId: a.tenantId,
    queue: a.queue,
    waiting: a.waiting + b.waiting,
    held: a.held + b.held,
    running: a.running + b.running,
    oldestMs: a.oldestMs === null ? b.oldestMs : Math.max(a.oldestMs, b.oldestMs ?? 0),
    startsPerMinute: a.startsPerMinute + b.startsPerMinute,
  };
}
