/** What a store should return after some changes: the engine's model store, with the queries of the suite. */
import type {
  Change,
  DagId,
  LoadedTables,
  Need,
  RunId,
  ScheduleId,
  Seen,
  ShardNo,
  StoredDag,
  StoredDeadLetter,
  StoredRun,
  StoredSchedule,
  StoredTask,
  StoredVersion,
  TableName,
  WindowDecided,
} from '@signalbox/engine';
import {
  Gathering,
  type KeptRow,
  ModelTables,
  type RunRow,
  readLive,
  readNeeds,
  writeChanges,
} from '@signalbox/engine/testing';
import { TENANT } from './changes.ts';

/** A run with its tasks, and whether it ever had a claim. */
export type ModelRun = StoredRun & Pick<RunRow, 'claimed'>;

export class Model {
  readonly #tables = new ModelTables();

  constructor() {
    this.#tables.tenants.set(TENANT.tenantId, TENANT.tenant);
  }

  /** All of the change, or nothing of it where the rows do not allow it. */
  apply(change: Change): void {
    try {
      writeChanges(this.#tables, [change], 0);
    } catch (error) {
      this.#tables.log.undo();
      throw error;
    }
    this.#tables.log.keep();
  }

  /** Those that have not ended, as a load brings them. */
  live(): StoredRun[] {
    return this.allRuns().filter(({ phase }) => phase !== 'ended');
  }

  allRuns(): StoredRun[] {
    const gathering = new Gathering(this.#tables);
    for (const run of this.#tables.runs.values()) gathering.run(run);
    return gathering.all().runs.sort((a, b) => a.runId - b.runId);
  }

  get runs(): ReadonlyMap<RunId, ModelRun> {
    return new Map([...this.#tables.runs.values()].map((row) => [row.runId, this.#withTasks(row)]));
  }

  run(runId: RunId): ModelRun {
    const row = this.#tables.runs.get(runId);
    if (row === undefined) throw new Error(`run ${runId} is not in the model`);
    return this.#withTasks(row);
  }

  task(runId: RunId, taskNo: number): StoredTask {
    const task = this.run(runId).tasks.find((one) => one.taskNo === taskNo);
    if (task === undefined) throw new Error(`task ${taskNo} of run ${runId} is not in the model`);
    return task;
  }

  /** Those that became runs. */
  get windowsWithRuns(): WindowDecided[] {
    return [...this.#tables.windows.values()].filter(({ runId }) => runId !== null);
  }

  get dags(): ReadonlyMap<DagId, StoredDag> {
    const rows = [...this.#tables.dags.values()];
    return new Map(rows.map((row) => [row.dagId, { ...row, tenant: TENANT.tenant }]));
  }

  get versions(): readonly StoredVersion[] {
    return [...this.#tables.versions.values()];
  }

  get schedules(): ReadonlyMap<ScheduleId, StoredSchedule> {
    return this.#tables.schedules.toMap();
  }

  get deadLetters(): ReadonlyMap<string, StoredDeadLetter> {
    return this.#tables.deadLetters.toMap();
  }

  /** Rows of described tables, as a load brings them. */
  loaded(shards: readonly ShardNo[]): LoadedTables {
    return readLive(this.#tables, shards, 0).tables;
  }

  /** All rows of a described table. */
  rows<Name extends TableName>(name: Name): KeptRow<Name>[] {
    return this.#tables.described.all(name);
  }

  fetch(needs: readonly Need[]): Seen {
    return readNeeds(this.#tables, needs);
  }

  get payloads(): ReadonlyMap<string, string> {
    return this.#tables.payloads.toMap();
  }

  silentOf(shard: ShardNo): readonly string[] {
    const rows = [...this.#tables.silent.values()].filter((row) => row.shard === shard);
    return rows.map(({ workerId }) => workerId);
  }

  #withTasks(row: RunRow): ModelRun {
    return { ...row, tasks: [...(this.#tables.tasks.get(row.runId)?.values() ?? [])] };
  }
}
