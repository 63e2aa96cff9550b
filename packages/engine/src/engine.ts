/** The entry point: one step decides on a batch of commands. It has no I/O, no clock and no randomness of its own (D1). */

import { forgetSettledRuns } from './apply/forget-run.ts';
import { noteLook } from './apply/service.ts';
import { absorbSeen } from './decide/absorb-seen.ts';
import { addTasks } from './decide/add/add-tasks.ts';
import { noteAssetTold, produceAsset } from './decide/asset/produce-asset.ts';
import { takeAsset } from './decide/asset/take-asset.ts';
import { setBackfill, startBackfill } from './decide/backfill/start.ts';
import { resetBreaker } from './decide/breaker/reset.ts';
import { crossBudget } from './decide/budget/cross-budget.ts';
import { askChild, beginChild } from './decide/child/begin-child.ts';
import { childEnded } from './decide/child/child-ended.ts';
import { parkCalls } from './decide/child/park-calls.ts';
import { deployDag } from './decide/dag/deploy.ts';
import { retireDag } from './decide/dag/retire.ts';
import { closeDeadLetters, replayDeadLetter } from './decide/dead-letter/replay.ts';
import type { Effect } from './decide/effect.ts';
import { noteEvent } from './decide/expect/expect.ts';
import { resumeDag } from './decide/halt/halt.ts';
import { hearWorker, workerLeft } from './decide/lease/heard.ts';
import { askSlots, setLimit } from './decide/limit/give-slots.ts';
import { hearCaps, setLimits, settleHolds, takeSlots } from './decide/limit/hold-slots.ts';
import { clearTasks } from './decide/manual/clear.ts';
import { markTasks } from './decide/manual/mark.ts';
import { setPaused } from './decide/manual/pause.ts';
import { setPriority } from './decide/manual/set-priority.ts';
import { lendSlots, loseGateway, recallSlots, returnUnused } from './decide/match/loan.ts';
import { matchSlots } from './decide/match/match.ts';
import { raiseQuota, setQuota, setQuotas, takeQuota } from './decide/quota/set-quota.ts';
import { Recorder } from './decide/recorder.ts';
import { cancelRun } from './decide/run/cancel.ts';
import { settleAgenda } from './decide/run/finish.ts';
import { cancelForKeys } from './decide/run/key-policy.ts';
import { previewCancel } from './decide/run/preview-cancel.ts';
import { strikeRun } from './decide/run/strike.ts';
import { submitRuns } from './decide/run/submit.ts';
import { createSchedules, deleteSchedule, editSchedule } from './decide/schedule/api-schedules.ts';
import { isWalkDue } from './decide/schedule/park.ts';
import { setSchedulePaused } from './decide/schedule/pause-schedule.ts';
import { strikeSchedule } from './decide/schedule/strike-schedule.ts';
import { assertOwned, saveCheckpoint } from './decide/task/checkpoint.ts';
import { extendAttempt } from './decide/task/extend.ts';
import { refuseClaim, reportAttempt } from './decide/task/report.ts';
import { retryTask } from './decide/task/retry-task.ts';
import { setFrozen } from './decide/tenant/set-frozen.ts';
import { setTenants } from './decide/tenant/set-tenants.ts';
import { dropDeadTimers } from './decide/timer/dead-timers.ts';
import { noteQueued } from './decide/timer/note-queued.ts';
import { hasWindowWork, tick } from './decide/timer/tick.ts';
import { holdEvent } from './decide/trigger/hold-event.ts';
import { type Answer, DONE, refuse } from './model/answer.ts';
import type { Change } from './model/change.ts';
import type { Command } from './model/command.ts';
import type { Instant, MonoMs, WorkerId } from './model/ids.ts';
import type { Seen } from './model/stored.ts';
import { shardOfCommand } from './needs.ts';
import { forgetBackfills } from './tables/backfill/backfills.ts';
import { dropLanes } from './tables/queue/enqueue.ts';
import { forgetFarSchedules } from './tables/schedule/due.ts';
import type { State } from './tables/state.ts';

export interface StepInput {
  readonly now: Instant;
  readonly mono: MonoMs;
  /** A whole number below 2^32: all chance of this step. */
  readonly seed: number;
  /** The last batch that is known to be committed. */
  readonly settledBatchNo: number;
  readonly seen: Seen | null;
  /** How many windows it may decide, by how long commits take; a quarter of its changes unless told. */
  readonly windowsPerStep?: number;
}

export interface StepResult {
  readonly batchNo: number;
  /** One for each command, in order. */
  readonly answers: readonly Answer[];
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
  /** The step was full: there is more to do at once. */
  readonly more: boolean;
}

export function step(state: State, commands: readonly Command[], input: StepInput): StepResult {
  begin(state, input);
  const recorder = new Recorder(state);
  if (input.seen !== null) absorbSeen(recorder, input.seen);
  noteOvertaken(recorder, commands);
  const answers = commands.map((command) => decide(recorder, command));
  const hasHeardAll = hearCaps(recorder);
  if (state.agenda.keys.size > 0) cancelForKeys(recorder);
  settleAgenda(recorder);
  parkCalls(recorder);
  const matchedAll = matchSlots(recorder);
  returnUnused(recorder);
  const hasSettled = settleHolds(recorder);
  noteQueued(recorder);
  state.currentRun = null;
  forgetSettled(state);
  const isFull = !matchedAll || !hasHeardAll || !hasSettled || isAgendaOpen(state) || recorder.isFull();
  const more = isFull || isWalkDue(state) || hasWindowWork(state);
  return { batchNo: state.batchNo, answers, changes: recorder.changes, effects: recorder.effects, more };
}

function begin(state: State, input: StepInput): void {
  noteLook(state, input.now);
  state.now = input.now;
  state.mono = input.mono;
  state.seed = input.seed;
  state.batchNo += 1;
  state.settledBatchNo = input.settledBatchNo;
  state.windowsPerStep = input.windowsPerStep ?? null;
  state.sent.settle(input.settledBatchNo, input.mono);
  state.currentSchedule = null;
}

/**
 * Forgets what the database shows by now. At the end of a step, never at its beginning: what `needs` found in memory, and
 * therefore did not ask for, must still be there when the commands are decided (I11, I22).
 */
function forgetSettled(state: State): void {
  const { settledBatchNo } = state;
  forgetSettledRuns(state);
  for (const [name, { batchNo }] of state.recentKeys) {
    if (batchNo > settledBatchNo) break;
    state.recentKeys.delete(name);
  }
  for (const [uid, batchNo] of state.recentUids) {
    if (batchNo > settledBatchNo) break;
    state.recentUids.delete(uid);
  }
  for (const [id, batchNo] of state.recentlyRemoved) {
    if (batchNo > settledBatchNo) break;
    state.recentlyRemoved.delete(id);
  }
  if (state.schedules.idle.size > 0) forgetFarSchedules(state);
  for (const [name, batchNo] of state.recentDeadLetters) {
    if (batchNo > settledBatchNo) break;
    state.recentDeadLetters.delete(name);
  }
  for (const [name, { batchNo }] of state.recentWindows) {
    if (batchNo > settledBatchNo) break;
    state.recentWindows.delete(name);
  }
  if (state.backfills.size > 0) forgetBackfills(state);
  state.dags.trim(
    (dag) => dag.touchedIn <= settledBatchNo && state.held.countOf(dag.id) === 0,
    (dag) => dropLanes(state, dag),
  );
  dropDeadTimers(state);
  state.queues.trim(state.mono);
}

function isAgendaOpen({ agenda }: State): boolean {
  if (agenda.runs.size > 0 || agenda.maps.size > 0 || agenda.dags.size > 0 || agenda.calls.size > 0) return true;
  if (agenda.keys.size > 0 || agenda.queued.size > 0 || agenda.backfills.size > 0 || agenda.past.size > 0) return true;
  return agenda.loaded.length > 0 || agenda.faulty.length > 0;
}

/** A batch that waited for the database may hold several sets of one worker. */
function noteOvertaken(recorder: Recorder, commands: readonly Command[]): void {
  const newest = new Map<WorkerId, Command>();
  for (const command of commands) {
    if (command.kind !== 'WorkerHeard') continue;
    const earlier = newest.get(command.workerId);
    if (earlier !== undefined) recorder.overtaken.add(earlier);
    newest.set(command.workerId, command);
  }
}

function decide(recorder: Recorder, command: Command): Answer {
  const shard = shardOfCommand(command);
  if (shard !== null && !recorder.state.shards.has(shard)) return refuse('NOT_OWNER', String(shard));
  recorder.state.currentRun = runOfCommand(command);
  switch (command.kind) {
    case 'SubmitRuns':
      return submitRuns(recorder, command);
    case 'HoldEvent':
      return holdEvent(recorder, command);
    case 'ProduceAsset':
      return produceAsset(recorder, command);
    case 'TakeAsset':
      return takeAsset(recorder, command);
    case 'NoteAssetTold':
      return noteAssetTold(recorder, command);
    case 'SetLimit':
      return setLimit(recorder, command);
    case 'CrossBudget':
      return crossBudget(recorder, command);
    case 'AskSlots':
      return askSlots(recorder, command);
    case 'TakeSlots':
      return takeSlots(recorder, command);
    case 'SetLimits':
      setLimits(recorder, command);
      return DONE;
    case 'SetQuota':
      return setQuota(recorder, command);
    case 'RaiseQuota':
      return raiseQuota(recorder, command);
    case 'TakeQuota':
      return takeQuota(recorder, command);
    case 'SetQuotas':
      setQuotas(recorder, command);
      return DONE;
    case 'NoteEvent':
      return noteEvent(recorder, command);
    case 'ReportAttempt':
      return reportAttempt(recorder, command);
    case 'ExtendAttempt':
      return extendAttempt(recorder, command);
    case 'RefuseClaim':
      return refuseClaim(recorder, command);
    case 'SaveCheckpoint':
      return saveCheckpoint(recorder, command);
    case 'AssertOwned':
      return assertOwned(recorder, command);
    case 'AddTasks':
      return addTasks(recorder, command);
    case 'CancelRun':
      return command.dryRun ? previewCancel(recorder, command) : cancelRun(recorder, command);
    case 'RetryTask':
      return retryTask(recorder, command);
    case 'ReplayDeadLetter':
      return replayDeadLetter(recorder, command);
    case 'CloseDeadLetters':
      return closeDeadLetters(recorder, command);
    case 'ResetBreaker':
      return resetBreaker(recorder, command);
    case 'ClearTasks':
      return clearTasks(recorder, command);
    case 'MarkTasks':
      return markTasks(recorder, command);
    case 'SetPaused':
      return setPaused(recorder, command);
    case 'SetPriority':
      return setPriority(recorder, command);
    case 'DeployDag':
      return deployDag(recorder, command);
    case 'CreateSchedules':
      return createSchedules(recorder, command);
    case 'EditSchedule':
      return editSchedule(recorder, command);
    case 'DeleteSchedule':
      return deleteSchedule(recorder, command);
    case 'SetSchedulePaused':
      return setSchedulePaused(recorder, command);
    case 'StartBackfill':
      return startBackfill(recorder, command);
    case 'SetBackfill':
      return setBackfill(recorder, command);
    case 'RetireDag':
      return retireDag(recorder, command);
    case 'ResumeDag':
      return resumeDag(recorder, command);
    case 'StrikeRun':
      return strikeRun(recorder, command);
    case 'StrikeSchedule':
      return strikeSchedule(recorder, command);
    case 'BeginChild':
      return beginChild(recorder, command);
    case 'AskChild':
      return askChild(recorder, command);
    case 'ChildEnded':
      return childEnded(recorder, command);
    case 'LendSlots':
      lendSlots(recorder, command);
      return DONE;
    case 'SetTenants':
      setTenants(recorder, command);
      return DONE;
    case 'SetFrozen':
      setFrozen(recorder, command);
      return DONE;
    case 'RecallSlots':
      recallSlots(recorder, command);
      return DONE;
    case 'WorkerHeard':
      hearWorker(recorder, command);
      return DONE;
    case 'WorkerLeft':
      workerLeft(recorder, command);
      return DONE;
    case 'GatewayLost':
      loseGateway(recorder, command);
      return DONE;
    case 'Tick':
      tick(recorder);
      return DONE;
  }
}

function runOfCommand(command: Command): State['currentRun'] {
  switch (command.kind) {
    case 'ReportAttempt':
    case 'ExtendAttempt':
    case 'RefuseClaim':
    case 'SaveCheckpoint':
    case 'AssertOwned':
    case 'AddTasks':
    case 'ChildEnded':
      return command.claim.runId;
    case 'ReplayDeadLetter':
      return command.deadLetter.runId;
    case 'CancelRun':
    case 'RetryTask':
    case 'ClearTasks':
    case 'MarkTasks':
    case 'SetPaused':
    case 'SetPriority':
    case 'StrikeRun':
      return command.runId;
    default:
      return null;
  }
}
