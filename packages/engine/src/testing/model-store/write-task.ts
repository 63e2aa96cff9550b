/** Writes tasks and their attempts. */
import type {
  AttemptChange,
  AttemptExtended,
  SpeculativeChange,
  TaskCleared,
  TaskExpired,
  TaskMarked,
  TaskQueued,
  TaskSlow,
} from '../../model/change.ts';
import { type AttemptNo, type Fence, type Instant, NOBODY, type RunId, type TaskNo } from '../../model/ids.ts';
import { payloadName } from '../../model/payload-name.ts';
import type { StoredTask } from '../../model/stored.ts';
import { readNotes } from '../../model/task/notes.ts';
import { type ModelTables, Table } from './tables.ts';
import { require, Violation } from './violation.ts';
import { liveRun, setRun } from './write-run.ts';
import { closeDeadLetter } from './write-shard.ts';

type TaskRowChange =
  | AttemptChange
  | SpeculativeChange
  | TaskCleared
  | TaskMarked
  | TaskQueued
  | TaskExpired
  | TaskSlow
  | AttemptExtended;

export function writeTaskChange(tables: ModelTables, change: TaskRowChange): void {
  switch (change.kind) {
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
    case 'SpeculativeClaimed':
    case 'SpeculativeReturned':
    case 'SpeculativeEnded':
    case 'SpeculativeTookOver':
      return applySpeculative(tables, change);
    case 'TaskCleared': {
      const { runId, taskNo, attemptNo, fence, freshBudget } = change;
      const task = tables.tasks.get(runId)?.get(taskNo);
      if (task?.state !== change.from || task.fence !== fence)
        throw new Violation('a cleared task is as it was', change);
      liveRun(tables, change);
      const budget = freshBudget ? { lostCount: 0, budgetBase: attemptNo } : {};
      const checkpoint = change.from === 'succeeded' ? null : task.checkpoint;
      if (checkpoint === null && task.checkpoint !== null)
        tables.payloads.delete(payloadName({ runId, taskNo, checkpoint: task.checkpoint }));
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
    case 'CheckpointSaved': {
      const { runId, taskNo, fence, no, value } = change;
      const task = runningTask(tables, change);
      if (task.checkpoint !== null) tables.payloads.delete(payloadName({ runId, taskNo, checkpoint: task.checkpoint }));
      tables.payloads.set(payloadName({ runId, taskNo, checkpoint: { fence, no } }), value);
      return setTask(tables, runId, { ...task, checkpoint: { fence, no } });
    }
    case 'ClaimAsserted':
    case 'AttemptMeasured':
      runningTask(tables, change);
      return;
    case 'TaskMarked':
      if (change.state !== 'failed') closeDeadLetter(tables, change, 'discarded');
      return markTask(tables, change);
  }
}

function markTask(tables: ModelTables, change: TaskMarked): void {
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

function setOutput(tables: ModelTables, task: { runId: RunId; taskNo: TaskNo }, output: string | null): void {
  const name = payloadName({ runId: task.runId, taskNo: task.taskNo });
  if (output === null) tables.payloads.delete(name);
  else tables.payloads.set(name, output);
}

function runningTask(
  tables: ModelTables,
  change: Extract<
    TaskRowChange,
    {
      kind:
        | 'ClaimReturned'
        | 'AttemptEnded'
        | 'CheckpointSaved'
        | 'ClaimAsserted'
        | 'AttemptMeasured'
        | 'TaskSlow'
        | 'AttemptExtended';
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

/** The fence of the speculative attempt that runs, if any. */
function besideOf(task: StoredTask | undefined): number | null {
  const { speculativeAttempt } = readNotes(task?.notes);
  return speculativeAttempt === undefined || speculativeAttempt.over !== undefined ? null : speculativeAttempt.fence;
}

/** The leading attempt ends with its own statement, and the speculative one ends before it. */
function applySpeculative(tables: ModelTables, change: SpeculativeChange): void {
  const { runId, taskNo, notes } = change;
  const task = tables.tasks.get(runId)?.get(taskNo);
  const beside = besideOf(task);
  if (task?.state !== 'running') throw new Violation('a task that runs twice runs', change);
  if (change.kind === 'SpeculativeClaimed') {
    require(beside === null && change.fence > task.fence, 'no more than two attempts of a task run', change);
    return setTask(tables, runId, { ...task, notes });
  }
  const isHeld = change.kind === 'SpeculativeTookOver' ? change.next.fence === beside : change.fence === beside;
  require(isHeld, 'an ended speculative attempt is held', change);
  if (change.kind === 'SpeculativeReturned') return setTask(tables, runId, { ...task, notes });
  if (change.kind === 'SpeculativeTookOver') require(task.fence === change.fence, 'an ended claim is held', change);
  const attempt = `${runId}/${taskNo}/${change.attemptNo}`;
  require(!tables.attempts.has(attempt), 'unique (run, task, attempt number)', change);
  tables.attempts.set(attempt, change);
  const { attemptNo, error } = change;
  if (error !== null) tables.payloads.set(payloadName({ runId, taskNo, errorOf: attemptNo }), error);
  setTask(tables, runId, { ...task, ...(change.kind === 'SpeculativeTookOver' ? change.next : {}), notes });
}

function unclaimedTask({ taskNo, at }: { readonly taskNo: TaskNo; readonly at: Instant }): StoredTask {
  const none = { retryAt: null, endedAt: null, outcome: null, facts: null, checkpoint: null, notes: null } as const;
  const failure = { fingerprint: null, quick: null } as const;
  const counts = { attemptNo: 0 as AttemptNo, fence: 0 as Fence, lostCount: 0, budgetBase: 0 };
  return { taskNo, state: 'cleared', workerId: NOBODY, claimedAt: at, ...counts, ...none, ...failure };
}

function setTask(tables: ModelTables, runId: RunId, task: StoredTask): void {
  let tasks = tables.tasks.get(runId);
  if (tasks === undefined) {
    tasks = new Table(tables.log);
    tables.tasks.set(runId, tasks);
  }
  tasks.set(task.taskNo, task);
}
