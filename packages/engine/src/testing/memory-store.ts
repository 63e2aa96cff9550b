/** What a database would contain, in memory: the other side of "restored equals live" (I19). */
import type { Heads } from '../apply/restore.ts';
import type { Change, WindowDecided } from '../model/change.ts';
import { type Epoch, type RunId, type ShardNo, shardOfRun, type WorkerId } from '../model/ids.ts';
import type { Need, Seen, StoredDeadLetter, StoredRun, StoredSchedule } from '../model/stored.ts';
import { Gathering, readLive, readNeeds } from './model-store/read.ts';
import { ModelTables } from './model-store/tables.ts';
import { writeChanges } from './model-store/write.ts';

interface ShardRow {
  epoch: number;
  commitNo: number;
  lastRunId: RunId;
  lastDagNo: number;
  /** The end of the last break in service, by the database's own clock. */
  missedUntil: number | null;
}

export class MemoryStore {
  readonly journal: Change[] = [];
  readonly tables = new ModelTables();
  private readonly shards = new Map<ShardNo, ShardRow>();

  commit(changes: readonly Change[], at: number): void {
    for (const change of changes) this.prepare(change);
    writeChanges(this.tables, changes, at);
    this.tables.log.keep();
    this.journal.push(...changes);
  }

  /** A takeover: the epoch rises, and what is live is handed over. */
  take(shards: readonly ShardNo[], now: number): Heads {
    for (const shard of shards) this.shard(shard).epoch += 1;
    return this.heads(shards, now);
  }

  /** Nobody served these shards for longer than the grace, until now. */
  noteBreak(shards: readonly ShardNo[], now: number): void {
    for (const shard of shards) this.shard(shard).missedUntil = now;
  }

  heads(shards: readonly ShardNo[], now: number): Heads {
    return {
      ...readLive(this.tables, shards, Number.POSITIVE_INFINITY),
      shards: shards.map((shard) => {
        const { epoch, commitNo, lastRunId, lastDagNo, missedUntil } = this.shard(shard);
        const silentWorkers = [...this.tables.silent.values()]
          .filter((row) => row.shard === shard)
          .map(({ workerId, since }) => ({
            workerId: workerId as WorkerId,
            silentMs: now - since,
            servedMs: now - since,
          }));
        const missedAgoMs = missedUntil === null ? null : now - missedUntil;
        return { shard, epoch: epoch as Epoch, commitNo, lastRunId, lastDagNo, missedAgoMs, silentWorkers };
      }),
    };
  }

  /** As retention does with one that has ended. */
  drop(runId: RunId): void {
    this.tables.runs.delete(runId);
    this.tables.tasks.delete(runId);
  }

  fetch(needs: readonly Need[]): Seen {
    return readNeeds(this.tables, needs);
  }

  get schedules(): readonly StoredSchedule[] {
    return [...this.tables.schedules.values()];
  }

  get windows(): readonly WindowDecided[] {
    return [...this.tables.windows.values()];
  }

  get deadLetters(): ReadonlyMap<string, StoredDeadLetter> {
    return this.tables.deadLetters.toMap();
  }

  runsStored(): readonly StoredRun[] {
    const gathering = new Gathering(this.tables);
    for (const run of this.tables.runs.values()) gathering.run(run);
    return gathering.all().runs;
  }

  silentWorkers(shard: ShardNo): readonly WorkerId[] {
    const rows = [...this.tables.silent.values()].filter((row) => row.shard === shard);
    return rows.map(({ workerId }) => workerId as WorkerId);
  }

  /** Tenants are there before their dags, and a commit notes the last numbers that it has used. */
  private prepare(change: Change): void {
    if (change.kind === 'DagDeployed') {
      const { tenantId, shard, dagId } = change;
      if (!this.tables.tenants.has(tenantId)) this.tables.tenants.set(tenantId, 'acme');
      const row = this.shard(shard);
      row.lastDagNo = Math.max(row.lastDagNo, Math.floor(dagId / 64));
    } else if (change.kind === 'RunCreated') {
      const row = this.shard(shardOfRun(change.runId));
      if (change.runId > row.lastRunId) row.lastRunId = change.runId;
    }
  }

  private shard(shard: ShardNo): ShardRow {
    let row = this.shards.get(shard);
    if (row === undefined) {
      row = { epoch: 0, commitNo: 0, lastRunId: 0 as RunId, lastDagNo: 0, missedUntil: null };
      this.shards.set(shard, row);
    }
    return row;
  }
}
