/**
 * Stores what the host tells of claims and workers, beside the scheduling loop: in small batches, twice a second, on the connections of the
 * settings. A database that is slow or away costs records, and nothing else.
 */
import type { NodeId } from '@signalbox/engine';
import type { FleetHistory } from '@signalbox/host';
import type { Queries, StoredDecision, WorkerEventSeen } from '@signalbox/store';
import type { Tell } from '../log.ts';

const EVERY_MS = 500;
/** So many in a batch: to make the text of more would be felt in the loop. */
const AT_ONCE = 100;
/** What comes beyond that is dropped. */
const MOST_DECISIONS = 4_000;
const MOST_EVENTS = 100_000;
const MOST_FAILURES = 10;

interface RecordParts {
  readonly queries: Pick<Queries, 'keepDecisions' | 'keepWorkerEvents'>;
  readonly nodeId: NodeId;
  readonly tell: Tell;
}

export class FleetRecords implements FleetHistory {
  readonly #parts: RecordParts;
  #decisions: StoredDecision[] = [];
  #events: WorkerEventSeen[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isRunning = false;
  /** In a row. */
  #failures = 0;

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  decided(told: StoredDecision): void {
    if (this.#decisions.length < MOST_DECISIONS) this.#decisions.push(told);
  }

  worker(seen: WorkerEventSeen): void {
    if (this.#events.length < MOST_EVENTS) this.#events.push(seen);
  }

  start(): void {
    this.#timer = setInterval(() => void this.#round(), EVERY_MS);
    this.#timer.unref();
  }

  /** What was told last is stored, if the database takes it at once. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    while (this.#decisions.length + this.#events.length > 0 && this.#failures === 0) await this.#round();
  }

  /** One batch of each. */
  async runOnce(): Promise<void> {
    const { queries, nodeId } = this.#parts;
    const events = this.#events.slice(0, AT_ONCE);
    if (events.length > 0) {
      for (const part of partsOf(events)) await queries.keepWorkerEvents(nodeId, part);
      this.#events.splice(0, events.length);
    }
    const decisions = this.#decisions.slice(0, AT_ONCE);
    if (decisions.length > 0) {
      await queries.keepDecisions(decisions);
      this.#decisions.splice(0, decisions.length);
    }
  }

  async #round(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      await this.runOnce();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures === 1) this.#parts.tell('warn', 'History of the fleet waits.', { error: String(error) });
      // One that cannot be stored must not hold back all that follow.
      if (this.#failures % MOST_FAILURES === 0) this.#drop();
    } finally {
      this.#isRunning = false;
    }
  }

  #drop(): void {
    const dropped = this.#events.splice(0, AT_ONCE).length + this.#decisions.splice(0, AT_ONCE).length;
    this.#parts.tell('warn', 'History of the fleet was dropped.', { dropped });
  }
}

/** A statement does not see its own rows: each part names a worker once. */
function partsOf(events: readonly WorkerEventSeen[]): WorkerEventSeen[][] {
  const parts: WorkerEventSeen[][] = [];
  let named = new Set<string>();
  for (const event of events) {
    const last = parts.at(-1);
    if (last === undefined || named.has(event.workerId)) {
      parts.push([event]);
      named = new Set([event.workerId]);
    } else {
      last.push(event);
      named.add(event.workerId);
    }
  }
  return parts;
}
