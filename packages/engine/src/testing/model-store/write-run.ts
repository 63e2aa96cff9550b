/** Writes runs, their maps, added tasks and pauses. */
import type {
  AddedChange,
  Change,
  MapChange,
  PastChange,
  PauseSet,
  PrioritySet,
  RunChange,
  RunForced,
  RunReopened,
  RunSlow,
  RunTimedOut,
} from '../../model/change.ts';
import { type RunId, shardOfRun } from '../../model/ids.ts';
import { payloadName } from '../../model/payload-name.ts';
import { notesCreated } from '../../model/run/run-notes.ts';
import type { ModelTables, RunRow } from './tables.ts';
import { require, Violation } from './violation.ts';

export type RunRowChange =
  | RunChange
  | RunReopened
  | RunForced
  | PauseSet
  | PrioritySet
  | RunSlow
  | RunTimedOut
  | PastChange
  | MapChange
  | AddedChange;

export function writeRunChange(tables: ModelTables, change: RunRowChange): void {
  switch (change.kind) {
    case 'RunCreated': {
      const { runId, uid, tenantId, dagId, versionNo, priority, admitted, params, facts, at, parent, scheduleNo } =
        change;
      const { firesAt, windowStart: start, backfill } = change;
      require(!tables.runs.has(runId), 'unique run id', change);
      require(!tables.runUids.has(uid), 'unique run uid', change);
      const since = admitted ? { admittedAt: at } : {};
      const run = { runId, uid, tenantId, dagId, versionNo, priority, admitted, createdAt: at, ...since };
      const fresh = {
        phase: 'open',
        outcome: null,
        isForced: false,
        strikes: 0,
        setAside: false,
        claimed: false,
        graceMs: null,
        retries: 0,
        pauses: [],
      } as const;
      tables.runs.set(runId, {
        ...run,
        ...fresh,
        hasParams: params !== null,
        facts,
        ...(parent && { parent }),
        ...(firesAt !== null && { window: { at: firesAt, start: start ?? firesAt } }),
        ...(backfill && { backfill }),
        ...(scheduleNo !== undefined && { scheduleNo }),
        ...notesCreated(change),
      });
      tables.runUids.set(uid, runId);
      tables.liveOf(shardOfRun(runId)).set(runId, runId);
      if (params !== null) tables.payloads.set(payloadName({ runId, taskNo: null }), params);
      return;
    }
    case 'RunAdmitted':
      return setRun(tables, change, { admitted: true, admittedAt: change.at });
    case 'RunYielded': {
      const { admittedAt: _admittedAt, ...run } = liveRun(tables, change);
      tables.runs.set(change.runId, { ...run, admitted: false });
      return;
    }
    case 'PastChecked':
    case 'RequirementsChecked':
    case 'RunSlow':
    case 'RunTimedOut':
      return setRun(tables, change, { notes: change.notes });
    case 'TasksAdded':
    case 'TasksDropped': {
      const { added = [] } = liveRun(tables, change);
      const known = new Map(added.map((one) => [one.no, one]));
      for (const one of change.tasks) known.set(one.no, one);
      return setRun(tables, change, { added: [...known.values()].sort((a, b) => a.no - b.no) });
    }
    case 'MapExpanded': {
      const { group, scope, firstNo, total } = change;
      const { maps = [] } = liveRun(tables, change);
      require(!maps.some((map) => map.firstNo === firstNo), 'unique (run, first number)', change);
      const map = { group, scope, firstNo, total, unfolded: 0, isRemoved: false };
      return setRun(tables, change, { maps: [...maps, map], claimed: true });
    }
    case 'MapUnfolded':
    case 'MapRemoved': {
      const { maps = [] } = liveRun(tables, change);
      const known = maps.find(({ firstNo, isRemoved }) => firstNo === change.firstNo && !isRemoved);
      if (known === undefined) throw new Violation('a changed map is there', change);
      const next = change.kind === 'MapUnfolded' ? { unfolded: change.until } : { isRemoved: true };
      return setRun(tables, change, { maps: maps.map((map) => (map === known ? { ...map, ...next } : map)) });
    }
    case 'PauseSet': {
      const { taskNo, paused, until, actor: by, at } = change;
      const run = liveRun(tables, change);
      const others = run.pauses.filter((pause) => pause.taskNo !== taskNo);
      const ended = paused ? undefined : run.pauses.find((pause) => pause.taskNo === taskNo);
      // The times of a run begin when the delay of its retry policy is over.
      const isDelayOver = taskNo === null && ended !== undefined && ended.until !== null;
      const since = isDelayOver && run.admittedAt !== undefined ? { admittedAt: at } : {};
      const pauses = paused ? [...others, { taskNo, by, at, until }] : others;
      return setRun(tables, change, { ...since, pauses: pauses.sort((a, b) => (a.taskNo ?? -1) - (b.taskNo ?? -1)) });
    }
    case 'PrioritySet':
      return setRun(tables, change, { priority: change.priority });
    case 'RunReopened': {
      const { runId, admitted } = change;
      const run = tables.runs.get(runId);
      if (run?.phase !== 'ended') throw new Violation('a run that is opened again has ended', change);
      const retries = change.retryNo > 0 ? change.retryNo : run.retries;
      const { notes: before, admittedAt: _admittedAt, ...kept } = run;
      const since = admitted ? { admittedAt: change.at } : {};
      const notes = change.asClosing ? before : change.notes;
      const phase = change.asClosing ? ({ phase: 'closing' } as const) : ({ phase: 'open', outcome: null } as const);
      tables.runs.set(runId, {
        ...kept,
        ...phase,
        isForced: false,
        admitted,
        retries,
        ...since,
        ...(notes && { notes }),
      });
      return tables.liveOf(shardOfRun(runId)).set(runId, runId);
    }
    case 'RunClosing':
      return setRun(tables, change, {
        phase: 'closing',
        outcome: change.outcome,
        ...(change.graceMs === undefined ? {} : { graceMs: change.graceMs }),
      });
    case 'RunForced':
      require(tables.runs.get(change.runId)?.phase === 'closing', 'a run that is forced to its end is closing', change);
      return setRun(tables, change, { isForced: true });
    case 'RunEnded':
      setRun(tables, change, { phase: 'ended', outcome: change.outcome, endedAt: change.at });
      return tables.liveOf(shardOfRun(change.runId)).delete(change.runId);
    case 'RunStruck':
      return setRun(tables, change, { strikes: change.strikes, setAside: change.setAside });
    case 'CallbackDue':
      return;
  }
}

/** Any change of a run: what is not live can't be changed. */
type OfRun = Extract<Change, { readonly runId: RunId }>;

export function liveRun(tables: ModelTables, change: OfRun): RunRow {
  const run = tables.runs.get(change.runId);
  if (run === undefined || run.phase === 'ended') throw new Violation('a changed run is live', change);
  return run;
}

export function setRun(tables: ModelTables, change: OfRun, fields: Partial<RunRow>): void {
  tables.runs.set(change.runId, { ...liveRun(tables, change), ...fields });
}
