/**
 * Reads of whole runs, in batches: those that arrive while others are under way wait for the next one. So a batch grows with the load,
 * and a single reader waits for nobody. What is read is never older than the question: a batch is closed before it begins.
 */
import type { RunUid, TaskNo } from '@signalbox/engine';
import type { Database } from '../database.ts';
import type { KnownDays } from '../leaf.ts';
import { getRun, hasMaps } from './get-run.ts';
import type { KnownSpecs } from './known-specs.ts';
import type { BatchedRun, WantedRun } from './run-batch.ts';
import type { RunDetails } from './run-details.ts';
import { getPayloads, type RunPayloads } from './run-payloads.ts';

/** A run of which all is known that a view of it shows. */
export interface WholeRun {
  readonly run: RunDetails;
  readonly payloads: RunPayloads;
}

interface Sources {
  batch(wanted: readonly WantedRun[]): Promise<readonly (BatchedRun | undefined)[]>;
  alone(wanted: WantedRun, bytesLimit: number): Promise<WholeRun | null>;
  children(wanted: WantedRun, run: BatchedRun['run']): Promise<ReadonlyMap<string, RunUid>>;
}

interface Reading {
  readonly wanted: WantedRun;
  readonly bytesLimit: number;
  readonly resolve: (run: WholeRun | null | PromiseLike<WholeRun | null>) => void;
}

const MOST_IN_BATCH = 64;
/** While one waits for the database, answers of another are written. The other connections of the pool are for what else is asked. */
const BATCHES_AT_ONCE = 2;

export class RunReads {
  readonly #sources: Sources;
  #waiting: Reading[] = [];
  #underWay = 0;
  #isDue = false;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  read(wanted: WantedRun, bytesLimit: number): Promise<WholeRun | null> {
    return new Promise((resolve) => {
      this.#waiting.push({ wanted, bytesLimit, resolve });
      this.#beginSoon();
    });
  }

  /** After all requests that came in together were seen. */
  #beginSoon(): void {
    if (this.#isDue || this.#underWay >= BATCHES_AT_ONCE) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      const readings = this.#waiting.splice(0, MOST_IN_BATCH);
      if (readings.length === 0) return;
      this.#underWay += 1;
      void this.#readAll(readings).finally(() => {
        this.#underWay -= 1;
        if (this.#waiting.length > 0) this.#beginSoon();
      });
      if (this.#waiting.length > 0) this.#beginSoon();
    });
  }

  /** What fails for a batch is tried for each by itself: what is wrong with one run is no other reader's concern. */
  async #readAll(readings: readonly Reading[]): Promise<void> {
    const found = await this.#sources.batch(readings.map(({ wanted }) => wanted)).catch(() => []);
    readings.forEach(({ wanted, bytesLimit, resolve }, i) => {
      const one = found[i];
      resolve(one === undefined ? this.#sources.alone(wanted, bytesLimit) : this.#withChildren(wanted, one));
    });
  }

  async #withChildren(wanted: WantedRun, { run, payloads }: BatchedRun): Promise<WholeRun> {
    return { run: { ...run, children: await this.#sources.children(wanted, run) }, payloads };
  }
}

interface Alone extends WantedRun {
  readonly bytesLimit: number;
}

export async function readRunAlone(
  database: Database,
  days: KnownDays,
  specs: KnownSpecs,
  { tenantId, uid, bytesLimit }: Alone,
): Promise<WholeRun | null> {
  const run = await getRun(database, days, tenantId, { uid, specs });
  if (run === null) return null;
  // Of a run with maps the tasks of its spec are shown.
  const some = hasMaps(run.spec) ? { taskNos: [-1, ...run.spec.tasks.keys()] as TaskNo[] } : {};
  return { run, payloads: await getPayloads(database, days, tenantId, { uid: run.uid, bytesLimit, ...some }) };
}
