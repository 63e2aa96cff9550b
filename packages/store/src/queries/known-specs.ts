/**
 * Specs of versions, parsed once. A version never changes, so what was read of it stays true; of a dag of 10,000 tasks it is 1.7 MB of
 * JSON, and whoever watches such a run asks several times a second. Those that were asked for last are kept, up to a number of tasks.
 */
import type { DagId, DagSpec, ShardNo, VersionNo } from '@signalbox/engine';
import type { Ask } from '../database.ts';
import { call, statement } from '../statement.ts';

export interface VersionKey {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly versionNo: VersionNo;
}

/** By primary key. */
const selectSpec = statement(
  'known_spec',
  `select spec::text from dag_version
   where shard = $1::smallint and dag_id = $2::bigint and version_no = $3::integer`,
);

const MOST_TASKS = 60_000;

export class KnownSpecs {
  readonly #specs = new Map<string, DagSpec>();
  readonly #mostTasks: number;
  #tasks = 0;

  constructor(mostTasks = MOST_TASKS) {
    this.#mostTasks = mostTasks;
  }

  /** Nobody may change what comes back: others have the same object. */
  async read(ask: Ask, { shard, dagId, versionNo }: VersionKey): Promise<DagSpec> {
    const key = `${shard} ${dagId} ${versionNo}`;
    const known = this.#specs.get(key);
    if (known !== undefined) {
      // Last in the order of the map: those at its beginning go first.
      this.#specs.delete(key);
      this.#specs.set(key, known);
      return known;
    }
    const [found] = await ask([call(selectSpec, shard, dagId, versionNo)]);
    const spec = JSON.parse(found?.rows[0]?.[0] ?? 'null') as DagSpec;
    this.#keep(key, spec);
    return spec;
  }

  #keep(key: string, spec: DagSpec): void {
    const before = this.#specs.get(key);
    if (before !== undefined) this.#tasks -= before.tasks.length;
    this.#specs.set(key, spec);
    this.#tasks += spec.tasks.length;
    for (const [oldest, { tasks }] of this.#specs) {
      if (this.#tasks <= this.#mostTasks || oldest === key) break;
      this.#specs.delete(oldest);
      this.#tasks -= tasks.length;
    }
  }
}
