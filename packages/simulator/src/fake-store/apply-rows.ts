/**
 * Changes to rows, in the order in which they were decided, one by one. Written without a look at the production store, so
 * that the two can be held against each other. What a constraint or a missing row would stop is a `Violation`.
 */
import type {
  AttemptNo,
  Change,
  DeadLetterRef,
  Fence,
  Instant,
  RunId,
  SecondClaimed,
  SecondEnded,
  SecondReturned,
  SecondTookOver,
  ShardNo,
  StoredDeadLetter,
  StoredTask,
  TaskMarked,
  TaskNo,
  TaskNotes,
} from '@signalbox/engine';
import { deadLetterName, NOBODY, notesCreated, shardOfRun } from '@signalbox/engine';
import { payloadName } from '@signalbox/store';
import {
  type DagRow,
  dagNameKey,
  type RunRow,
  silentKey,
  storedKeyKey,
  Table,
  type Tables,
  versionKey,
  windowKey,
} from './tables.ts';

export class Violation extends Error {
  readonly change: Change;
  constructor(message: string, change: Change) {
    super(message);
    this.name = 'Violation';
    this.change = change;
  }
}

export function shardOfChange(change: Change): ShardNo {
  return 'shard' in change ? change.shard : shardOfRun(change.runId);
}

/** Applies all or throws; the caller undoes what was done so far. References are looked at when all is written. */
export function applyChanges(tables: Tables, changes: readonly Change[], dbNow: number): void {
  for (const change of changes) applyChange(tables, change, dbNow);
  for (const change of changes) checkReferences(tables, change);
}

function applyChange(tables: Tables, change: Change, dbNow: number): void {
  const { kind } = change;
  switch (kind) {
    case 'DagDeployed': {
      const { shard, dagId, tenantId, name, versionNo, hash, spec } = change;
      const named = tables.dagNames.get(dagNameKey(tenantId, name));
      require(named === undefined || named === dagId, 'unique (tenant, dag name)', change);
      const before = tables.dags.get(dagId);
      require(before === undefined || (before.shard === shard && before.name === name), 'a dag keeps its name', change);
      require(!tables.versions.has(versionKey(dagId, versionNo)), 'unique (dag, version)', change);
      const windowsUntil = before?.windowsUntil ?? (0 as Instant);
      tables.dags.set(dagId, { shard, dagId, tenantId, name, versionNo, isRetired: false, windowsUntil });
      tables.triggers.delete(dagId);
      if (spec.on !== undefined) tables.triggers.set(dagId, { tenantId, event: spec.on.event, shard, dagId });
      tables.dagNames.set(dagNameKey(tenantId, name), dagId);
      return tables.versions.set(versionKey(dagId, versionNo), { dagId, versionNo, hash, spec });
    }
    case 'DagRetired':
      tables.triggers.delete(change.dagId);
      return setDag(tables, change, { isRetired: true });
    case 'DagRevived': {
      const { tenantId, shard, dagId, event } = change;
      if (event !== null) tables.triggers.set(dagId, { tenantId, event, shard, dagId });
      return setDag(tables, change, { isRetired: false });
    }
    case 'ScheduleSet': {
      const { shard, dagId, revision, spec, paused, decidedUntil, fault } = change;
      return tables.schedules.set(dagId, { shard, dagId, revision, spec, paused, decidedUntil, fault });
    }
    case 'ScheduleRemoved':
      require(tables.schedules.has(change.dagId), 'a removed schedule is there', change);
      tables.schedules.delete(change.dagId);
      return setDag(tables, change, { windowsUntil: change.decidedUntil });
    case 'WindowDecided': {
      require(!tables.windows.has(windowKey(change)), 'unique (shard, dag, firesAt, wallTime)', change);
      tables.windows.set(windowKey(change), change);
      const schedule = tables.schedules.get(change.dagId);
      if (schedule === undefined) throw new Violation('a decided window has its schedule', change);
      if (schedule.decidedUntil >= change.untilAt) return;
      return tables.schedules.set(change.dagId, { ...schedule, decidedUntil: change.untilAt });
    }
    case 'RunCreated': {
      const { runId, uid, tenantId, dagId, versionNo, priority, admitted, params, facts, at, parent } = change;
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
        ...notesCreated(change),
      });
      tables.runUids.set(uid, runId);
      tables.liveOf(shardOfRun(runId)).set(runId, runId);
      if (params !== null) tables.payloads.set(payloadName({ runId, taskNo: null }), params);
      return;
    }
    case 'RunAdmitted':
      return setRun(tables, change, { admitted: true, admittedAt: change.at });
    case 'KeyStored': {
      const { kind: _kind, at: _at, ...key } = change;
      require(!tables.keys.has(storedKeyKey(key)), 'unique key', change);
      return tables.keys.set(storedKeyKey(key), key);
    }
    case 'AttemptClaimed': {
      const { runId, taskNo, attemptNo, fence, workerId, at } = change;
      const before = tables.tasks.get(runId)?.get(taskNo);
      require((before === undefined) === change.firstOfTask, 'the first claim of a task makes its row', change);
      const run = liveRun(tables, change);
      require(run.claimed || change.firstOfRun, 'the first claim of a run marks it', change);
      setRun(tables, change, { claimed: true });
      const kept = { checkpoint: before?.checkpoint ?? null, notes: change.notes ?? before?.notes ?? null };
      const failures = { fingerprint: before?.fingerprint ?? null, quick: before?.quick ?? null };
      const counts = { lostCount: before?.lostCount ?? 0, budgetBase: before?.budgetBase ?? 0, ...failures };
      const open = { retryAt: null, endedAt: null, outcome: null, facts: null, ...kept, ...counts };
      return setTask(tables, runId, { taskNo, state: 'running', attemptNo, fence, workerId, claimedAt: at, ...open });
    }
    case 'ClaimReturned':
      return setTask(tables, change.runId, { ...runningTask(tables, change), state: 'returned' });
    case 'AttemptEnded': {
      const {
        runId,
        taskNo,
        attemptNo,
        taskState: state,
        outcome,
        retryAt,
        endedAt,
        lostCount,
        output,
        facts,
        error,
      } = change;
      const attempt = `${runId}/${taskNo}/${attemptNo}`;
      require(!tables.attempts.has(attempt), 'unique (run, task, attempt number)', change);
      tables.attempts.set(attempt, change);
      const task = runningTask(tables, change);
      const notes = change.notes ?? task.notes;
      const { fingerprint, quick } = change;
      const failure = fingerprint === null ? {} : { fingerprint, quick };
      setTask(tables, runId, { ...task, state, outcome, retryAt, endedAt, lostCount, facts, notes, ...failure });
      if (outcome === 'succeeded') setOutput(tables, change, output);
      if (error !== null) tables.payloads.set(payloadName({ runId, taskNo, errorOf: attemptNo }), error);
      return;
    }
    case 'SecondClaimed':
    case 'SecondReturned':
    case 'SecondEnded':
    case 'SecondTookOver':
      return applySecond(tables, change);
    case 'TaskCleared': {
      const { runId, taskNo, attemptNo, fence, freshBudget } = change;
      const task = tables.tasks.get(runId)?.get(taskNo);
      if (task?.state !== change.from || task.fence !== fence)
        throw new Violation('a cleared task is as it was', change);
      liveRun(tables, change);
      const budget = freshBudget ? { lostCount: 0, budgetBase: attemptNo } : {};
      const checkpoint = change.from === 'succeeded' ? null : task.checkpoint;
      const notes = change.notes ?? task.notes;
      const fresh = { facts: null, checkpoint, fingerprint: null, quick: null };
      if (change.from === 'failed' || change.from === 'expired') closeDeadLetter(tables, change, 'replayed');
      return setTask(tables, runId, { ...task, state: 'cleared', ...budget, notes, ...fresh });
    }
    case 'TaskQueued':
    case 'TaskExpired':
    case 'TaskSlow':
    case 'AttemptExtended': {
      const { runId, taskNo, notes } = change;
      liveRun(tables, change);
      const task = tables.tasks.get(runId)?.get(taskNo);
      const isNew = change.kind === 'TaskQueued' && change.isNew;
      require((task === undefined) === isNew, 'a task gets its row once', change);
      const isFree = task?.state === 'retrying' || task?.state === 'returned' || task?.state === 'cleared';
      if (change.kind === 'TaskExpired') {
        require(isFree, 'an expired task does not run', change);
        return setTask(tables, runId, { ...task!, state: 'expired', attemptNo: change.attemptNo, notes });
      }
      if (change.kind !== 'TaskQueued') runningTask(tables, change);
      else setRun(tables, change, { claimed: true });
      return setTask(tables, runId, { ...(task ?? unclaimedTask(change)), notes });
    }
    case 'RunSlow':
    case 'RunTimedOut':
      return setRun(tables, change, { notes: change.notes });
    case 'CheckpointSaved': {
      const { runId, taskNo, fence, no, value } = change;
      const task = runningTask(tables, change);
      if (task.checkpoint !== null) tables.payloads.delete(payloadName({ runId, taskNo, checkpoint: task.checkpoint }));
      tables.payloads.set(payloadName({ runId, taskNo, checkpoint: { fence, no } }), value);
      return setTask(tables, runId, { ...task, checkpoint: { fence, no } });
    }
    case 'ClaimAsserted':
      runningTask(tables, change);
      return;
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
    case 'TaskMarked':
      if (change.state !== 'failed') closeDeadLetter(tables, change, 'discarded');
      return markTask(tables, change);
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
      setRun(tables, change, { phase: 'ended', outcome: change.outcome });
      return tables.liveOf(shardOfRun(change.runId)).delete(change.runId);
    case 'RunStruck':
      return setRun(tables, change, { strikes: change.strikes, setAside: change.setAside });
    case 'CallbackDue':
      return;
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
    case 'WorkerSilenced': {
      const { shard, workerId } = change;
      // Stored once: a second takeover gives the worker no more time (I25).
      if (tables.silent.has(silentKey(shard, workerId))) return;
      return tables.silent.set(silentKey(shard, workerId), { shard, workerId, since: dbNow, servedMs: 0 });
    }
    case 'WorkerHeardAgain':
      return tables.silent.delete(silentKey(change.shard, change.workerId));
    default:
      return kind satisfies never;
  }
}

/** One that is closed stays as it is; a task that is cleared may have none. */
function closeDeadLetter(tables: Tables, deadLetter: DeadLetterRef, as: StoredDeadLetter['state']): void {
  const known = tables.deadLetters.get(deadLetterName(deadLetter));
  if (known?.state === 'open') tables.deadLetters.set(deadLetterName(deadLetter), { ...known, state: as });
}

function checkReferences(tables: Tables, change: Change): void {
  switch (change.kind) {
    case 'DagDeployed':
      return require(tables.tenants.has(change.tenantId), 'a dag has its tenant', change);
    case 'ScheduleSet':
      return require(tables.dags.has(change.dagId), 'a schedule has its dag', change);
    case 'WindowDecided':
      return require(change.runId === null || tables.runs.has(change.runId), 'a window has its run', change);
    case 'RunCreated': {
      require(tables.versions.has(versionKey(change.dagId, change.versionNo)), 'a run has its version', change);
      return require(tables.dags.get(change.dagId)?.tenantId ===
        change.tenantId, 'a run has the tenant of its dag', change);
    }
    case 'KeyStored':
      return require(tables.runs.has(change.runId), 'a key has its run', change);
    default:
      return;
  }
}

function markTask(tables: Tables, change: TaskMarked): void {
  const { runId, taskNo, attemptNo, fence, state, facts, at, output } = change;
  const before = tables.tasks.get(runId)?.get(taskNo);
  const run = liveRun(tables, change);
  require((before === undefined) === change.firstOfTask, 'a mark makes the row of a task that had none', change);
  require(run.claimed || change.firstOfRun, 'the first row of a run marks it', change);
  require(before?.state !== 'running' && fence > (before?.fence ?? 0), 'a marked task does not run', change);
  setRun(tables, change, { claimed: true });
  const known = before ?? {
    workerId: NOBODY,
    claimedAt: at,
    lostCount: 0,
    budgetBase: 0,
    checkpoint: null,
    notes: null,
    fingerprint: null,
    quick: null,
  };
  const marked = { taskNo, attemptNo, fence, state: state === 'cancelled' ? 'stopped' : state, facts } as const;
  setTask(tables, runId, { ...known, ...marked, retryAt: null, endedAt: at, outcome: null });
  if (state === 'succeeded') setOutput(tables, change, output);
}

function setOutput(tables: Tables, task: { runId: RunId; taskNo: TaskNo }, output: string | null): void {
  const name = payloadName({ runId: task.runId, taskNo: task.taskNo });
  if (output === null) tables.payloads.delete(name);
  else tables.payloads.set(name, output);
}

type OfRun = Extract<
  Change,
  {
    runId: RunId;
    kind: `Run${string}` | `Map${string}` | `Task${string}` | 'AttemptClaimed' | 'AttemptExtended' | 'PauseSet';
  }
>;

function liveRun(tables: Tables, change: OfRun): RunRow {
  const run = tables.runs.get(change.runId);
  if (run === undefined || run.phase === 'ended') throw new Violation('a changed run is live', change);
  return run;
}

function setRun(tables: Tables, change: OfRun, fields: Partial<RunRow>): void {
  tables.runs.set(change.runId, { ...liveRun(tables, change), ...fields });
}

function setDag(
  tables: Tables,
  change: Extract<Change, { kind: 'DagRetired' | 'DagRevived' | 'ScheduleRemoved' }>,
  fields: Partial<DagRow>,
): void {
  const dag = tables.dags.get(change.dagId);
  if (dag === undefined) throw new Violation('a changed dag is there', change);
  tables.dags.set(change.dagId, { ...dag, ...fields });
}

function runningTask(
  tables: Tables,
  change: Extract<
    Change,
    {
      taskNo: TaskNo;
      kind: 'ClaimReturned' | 'AttemptEnded' | 'CheckpointSaved' | 'ClaimAsserted' | 'TaskSlow' | 'AttemptExtended';
    }
  >,
) {
  const task = tables.tasks.get(change.runId)?.get(change.taskNo);
  // What asks and times are about may be the attempt beside it.
  const isBeside = change.kind !== 'ClaimReturned' && change.kind !== 'AttemptEnded' && besideOf(task) === change.fence;
  if (task?.state !== 'running' || (task.fence !== change.fence && !isBeside))
    throw new Violation('an ended claim is held', change);
  return task;
}

/** The fence of the second attempt that runs, if any. */
function besideOf(task: StoredTask | undefined): number | null {
  const { second } = JSON.parse(task?.notes ?? '{}') as TaskNotes;
  return second === undefined || second.over !== undefined ? null : second.fence;
}

/** The first ends with its own statement, which the second's row must not outlive. */
function applySecond(tables: Tables, change: SecondClaimed | SecondReturned | SecondEnded | SecondTookOver): void {
  const { runId, taskNo, notes } = change;
  const task = tables.tasks.get(runId)?.get(taskNo);
  const beside = besideOf(task);
  if (task?.state !== 'running') throw new Violation('a task that runs twice runs', change);
  if (change.kind === 'SecondClaimed') {
    require(beside === null && change.fence > task.fence, 'no more than two attempts of a task run', change);
    return setTask(tables, runId, { ...task, notes });
  }
  const isHeld = change.kind === 'SecondTookOver' ? change.next.fence === beside : change.fence === beside;
  require(isHeld, 'an ended second attempt is held', change);
  if (change.kind === 'SecondReturned') return setTask(tables, runId, { ...task, notes });
  if (change.kind === 'SecondTookOver') require(task.fence === change.fence, 'an ended claim is held', change);
  const attempt = `${runId}/${taskNo}/${change.attemptNo}`;
  require(!tables.attempts.has(attempt), 'unique (run, task, attempt number)', change);
  tables.attempts.set(attempt, change);
  const { attemptNo, error } = change;
  if (error !== null) tables.payloads.set(payloadName({ runId, taskNo, errorOf: attemptNo }), error);
  setTask(tables, runId, { ...task, ...(change.kind === 'SecondTookOver' ? change.next : {}), notes });
}

function unclaimedTask({ taskNo, at }: { readonly taskNo: TaskNo; readonly at: Instant }): StoredTask {
  const none = { retryAt: null, endedAt: null, outcome: null, facts: null, checkpoint: null, notes: null } as const;
  const failure = { fingerprint: null, quick: null } as const;
  const counts = { attemptNo: 0 as AttemptNo, fence: 0 as Fence, lostCount: 0, budgetBase: 0 };
  return { taskNo, state: 'cleared', workerId: NOBODY, claimedAt: at, ...counts, ...none, ...failure };
}

function setTask(tables: Tables, runId: RunId, task: StoredTask): void {
  let tasks = tables.tasks.get(runId);
  if (tasks === undefined) {
    tasks = new Table(tables.log);
    tables.tasks.set(runId, tasks);
  }
  tasks.set(task.taskNo, task);
}

function require(holds: boolean, what: string, change: Change): void {
  if (!holds) throw new Violation(what, change);
}
