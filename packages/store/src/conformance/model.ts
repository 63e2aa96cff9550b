/** What a store should return after some changes: the engine's model store, with the queries of the suite. */
import type {
  Change,
  DagId,
  Need,
  RunId,
  ScheduleId,
  Seen,
  ShardNo,
  StoredBackfill,
  StoredBreaker,
  StoredDag,
  StoredDeadLetter,
  StoredHeldEvents,
  StoredKey,
  StoredRun,
  StoredSchedule,
  StoredTask,
  StoredVersion,
} from '@signalbox/engine';
import {
  type BackfillRow,
  Gathering,
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

  apply(change: Change): void {
    writeChanges(this.#tables, [change], 0);
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

  get keys(): readonly StoredKey[] {
    return [...this.#tables.keys.values()];
  }

  get deadLetters(): ReadonlyMap<string, StoredDeadLetter> {
    return this.#tables.deadLetters.toMap();
  }

  get backfills(): readonly BackfillRow[] {
    return [...this.#tables.backfills.values()];
  }

  liveBackfills(shards: readonly ShardNo[]): readonly StoredBackfill[] {
    return readLive(this.#tables, shards, 0).backfills;
  }

  fetch(needs: readonly Need[]): Seen {
    return readNeeds(this.#tables, needs);
  }

  get breakers(): ReadonlyMap<string, StoredBreaker> {
    return this.#tables.breakers.toMap();
  }

  get held(): ReadonlyMap<string, StoredHeldEvents> {
    return this.#tables.held.toMap();
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
