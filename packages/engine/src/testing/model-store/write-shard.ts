/** Writes dags, schedules, dead letters, and what a shard stores besides them. */
import type {
  BackfillChange,
  BackfillMoved,
  BackfillSet,
  DagChange,
  DagRetired,
  DagRevived,
  DeadLetterChange,
  ScheduleChange,
  ScheduleRemoved,
  ScheduleSet,
  ShardChange,
} from '../../model/change.ts';
import { type DeadLetterRef, deadLetterName } from '../../model/dead-letter.ts';
import { type Instant, scheduleIdOf } from '../../model/ids.ts';
import type { StoredDeadLetter } from '../../model/stored.ts';
import {
  type BackfillRow,
  type DagRow,
  dagNameKey,
  type ModelTables,
  silentKey,
  storedKeyKey,
  versionKey,
  windowKey,
} from './tables.ts';
import { require, Violation } from './violation.ts';

export function writeShardChange(
  tables: ModelTables,
  change: DagChange | ScheduleChange | DeadLetterChange | ShardChange | BackfillChange,
  dbNow: number,
): void {
  switch (change.kind) {
    case 'DagDeployed': {
      const { shard, dagId, tenantId, name, versionNo, hash, spec } = change;
      const named = tables.dagNames.get(dagNameKey(tenantId, name));
      require(named === undefined || named === dagId, 'unique (tenant, dag name)', change);
      const before = tables.dags.get(dagId);
      require(before === undefined || (before.shard === shard && before.name === name), 'a dag keeps its name', change);
      require(!tables.versions.has(versionKey(dagId, versionNo)), 'unique (dag, version)', change);
      const { windowsUntil, lastScheduleNo } = before ?? { windowsUntil: 0 as Instant, lastScheduleNo: 0 };
      const kept = { windowsUntil, lastScheduleNo };
      tables.dags.set(dagId, { shard, dagId, tenantId, name, versionNo, isRetired: false, ...kept });
      tables.triggers.delete(dagId);
      if (spec.on !== undefined) tables.triggers.set(dagId, { tenantId, event: spec.on.event, shard, dagId });
      tables.dagNames.set(dagNameKey(tenantId, name), dagId);
      return tables.versions.set(versionKey(dagId, versionNo), { dagId, versionNo, hash, spec });
    }
    case 'DagRetired':
      tables.triggers.delete(change.dagId);
      return setDag(tables, change, () => ({ isRetired: true }));
    case 'DagRevived': {
      const { tenantId, shard, dagId, event } = change;
      if (event !== null) tables.triggers.set(dagId, { tenantId, event, shard, dagId });
      return setDag(tables, change, () => ({ isRetired: false }));
    }
    case 'ScheduleSet': {
      const { kind: _kind, actor: _actor, at: _at, ...schedule } = change;
      const { dagId, scheduleNo, name } = change;
      for (const other of tables.schedules.values()) {
        const isOther = other.dagId !== dagId || other.scheduleNo === scheduleNo || other.name !== name;
        require(isOther, 'unique (dag, schedule name)', change);
      }
      tables.schedules.set(scheduleIdOf(change), schedule);
      return setDag(tables, change, ({ lastScheduleNo }) => ({
        lastScheduleNo: Math.max(lastScheduleNo, scheduleNo),
      }));
    }
    case 'ScheduleRemoved':
      require(tables.schedules.has(scheduleIdOf(change)), 'a removed schedule is there', change);
      tables.schedules.delete(scheduleIdOf(change));
      return setDag(tables, change, ({ windowsUntil }) => ({
        windowsUntil: Math.max(windowsUntil, change.decidedUntil) as Instant,
      }));
    case 'WindowDecided': {
      require(!tables.windows.has(windowKey(change)), 'unique (shard, dag, schedule, firesAt, wallTime)', change);
      tables.windows.set(windowKey(change), change);
      const schedule = tables.schedules.get(scheduleIdOf(change));
      if (schedule === undefined) throw new Violation('a decided window has its schedule', change);
      if (schedule.decidedUntil >= change.untilAt) return;
      return tables.schedules.set(scheduleIdOf(change), {
        ...schedule,
        decidedUntil: change.untilAt,
        fired: schedule.fired + (change.runId === null ? 0 : 1),
      });
    }
    case 'KeyStored': {
      const { kind: _kind, at: _at, ...key } = change;
      require(!tables.keys.has(storedKeyKey(key)), 'unique key', change);
      return tables.keys.set(storedKeyKey(key), key);
    }
    case 'DeadLetterWritten': {
      const { runId, taskNo, attemptNo, tenantId } = change;
      require(tables.deadLetters.get(deadLetterName(change))?.state !==
        'open', 'an open letter is written once', change);
      return tables.deadLetters.set(deadLetterName(change), { runId, taskNo, attemptNo, tenantId, state: 'open' });
    }
    case 'DeadLetterClosed':
      return closeDeadLetter(tables, change, change.as);
    case 'BreakerSet': {
      const { shard, tenantId, dagId, fingerprint, state, pauseMs, openedAt, at: since } = change;
      const key = `${dagId}/${fingerprint ?? 0}`;
      if (state === 'closed') return tables.breakers.delete(key);
      return tables.breakers.set(key, { shard, tenantId, dagId, fingerprint, state, pauseMs, openedAt, since });
    }
    case 'BackfillStarted': {
      const { shard, uid, tenantId, dagId, spec, actor } = change;
      require(!tables.backfills.has(uid), 'unique backfill', change);
      const fresh = { state: 'running', cursorAt: null, isDone: false, createdCount: 0, skippedCount: 0 } as const;
      return tables.backfills.set(uid, { shard, uid, tenantId, dagId, spec, actor, ...fresh });
    }
    case 'BackfillMoved': {
      const { cursorAt, createdCount, skippedCount, isDone } = change;
      return setBackfill(tables, change, { cursorAt, createdCount, skippedCount, isDone });
    }
    case 'BackfillSet':
      return setBackfill(tables, change, { state: change.state });
    case 'WorkerSilenced': {
      const { shard, workerId } = change;
      // Stored once: a second takeover gives the worker no more time (I25).
      if (tables.silent.has(silentKey(shard, workerId))) return;
      return tables.silent.set(silentKey(shard, workerId), { shard, workerId, since: dbNow, servedMs: 0 });
    }
    case 'WorkerHeardAgain':
      return tables.silent.delete(silentKey(change.shard, change.workerId));
  }
}

/** One that is closed stays as it is; a task that is cleared may have none. */
export function closeDeadLetter(tables: ModelTables, deadLetter: DeadLetterRef, as: StoredDeadLetter['state']): void {
  const known = tables.deadLetters.get(deadLetterName(deadLetter));
  if (known?.state === 'open') tables.deadLetters.set(deadLetterName(deadLetter), { ...known, state: as });
}

function setDag(
  tables: ModelTables,
  change: DagRetired | DagRevived | ScheduleSet | ScheduleRemoved,
  fields: (dag: DagRow) => Partial<DagRow>,
): void {
  const dag = tables.dags.get(change.dagId);
  if (dag === undefined) throw new Violation('a changed dag is there', change);
  tables.dags.set(change.dagId, { ...dag, ...fields(dag) });
}

function setBackfill(tables: ModelTables, change: BackfillMoved | BackfillSet, fields: Partial<BackfillRow>): void {
  const known = tables.backfills.get(change.uid);
  if (known === undefined) throw new Violation('a changed backfill is there', change);
  tables.backfills.set(change.uid, { ...known, ...fields });
}
