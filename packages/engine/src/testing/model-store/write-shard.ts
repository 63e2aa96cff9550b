/** Writes dags, schedules, dead letters and the silence of workers. */
import type {
  DagChange,
  DagDeployed,
  DagRetired,
  DagRevived,
  DeadLetterChange,
  ScheduleChange,
  ScheduleRemoved,
  ScheduleSet,
  WorkerHeardAgain,
  WorkerSilenced,
} from '../../model/change.ts';
import type { DagSpec } from '../../model/dag/spec.ts';
import { type DeadLetterRef, deadLetterName } from '../../model/dead-letter.ts';
import { type Instant, scheduleIdOf } from '../../model/ids.ts';
import type { StoredDeadLetter } from '../../model/stored.ts';
import { type DagRow, dagNameKey, type ModelTables, silentKey, versionKey, windowKey } from './tables.ts';
import { require, Violation } from './violation.ts';

export function writeShardChange(
  tables: ModelTables,
  change: DagChange | ScheduleChange | DeadLetterChange | WorkerSilenced | WorkerHeardAgain,
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
      writeTriggers(tables, change, spec.on);
      tables.dagNames.set(dagNameKey(tenantId, name), dagId);
      return tables.versions.set(versionKey(dagId, versionNo), { dagId, versionNo, hash, spec });
    }
    case 'DagRetired':
      tables.triggers.delete(change.dagId);
      return setDag(tables, change, () => ({ isRetired: true }));
    case 'DagRevived': {
      const { event, triggers } = change;
      writeTriggers(tables, change, triggers ?? (event === null ? undefined : { event }));
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
    case 'ScheduleParked': {
      const { dueAt, decidedUntil } = change;
      const schedule = tables.schedules.get(scheduleIdOf(change));
      if (schedule === undefined) throw new Violation('a parked schedule is there', change);
      const until = Math.max(decidedUntil, schedule.decidedUntil) as Instant;
      return tables.schedules.set(scheduleIdOf(change), { ...schedule, dueAt, decidedUntil: until });
    }
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
    case 'WindowSkipped': {
      const { skipped } = change;
      const window = tables.windows.get(windowKey({ ...change, wallTime: null }));
      if (window?.runId !== change.runId) throw new Violation('a window that is skipped had its run', change);
      return tables.windows.set(windowKey(window), { ...window, skipped });
    }
    case 'DeadLetterWritten': {
      const { runId, taskNo, attemptNo, tenantId } = change;
      require(tables.deadLetters.get(deadLetterName(change))?.state !==
        'open', 'an open letter is written once', change);
      return tables.deadLetters.set(deadLetterName(change), { runId, taskNo, attemptNo, tenantId, state: 'open' });
    }
    case 'DeadLetterClosed':
      return closeDeadLetter(tables, change, change.as);
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

/** A row for each type of event. */
function writeTriggers(
  tables: ModelTables,
  { tenantId, shard, dagId }: DagDeployed | DagRevived,
  on: DagSpec['on'],
): void {
  tables.triggers.delete(dagId);
  if (on === undefined) return;
  const list = 'event' in on ? [{ name: on.event, type: on.event }] : on;
  const types = [...new Set(list.map(({ type }) => type))];
  const rows = types.map((event) => {
    const triggers = list.filter(({ type }) => type === event);
    return { tenantId, event, shard, dagId, triggers };
  });
  if (rows.length > 0) tables.triggers.set(dagId, rows);
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
