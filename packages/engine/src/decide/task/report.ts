import { type Answer, DONE, RECORDED, refuse } from '../../model/answer.ts';
import type { ClaimRef, RefuseClaim, ReportAttempt } from '../../model/command.ts';
import { growSpec } from '../../model/dag/added.ts';
import type { TaskSpec } from '../../model/dag/spec.ts';
import type { AttemptSlot } from '../../model/ids.ts';
import { isStoppedAndCleared, type StoredRun, type StoredTask } from '../../model/stored.ts';
import { readNotes, type TaskNotes } from '../../model/task/notes.ts';
import { ATTEMPT_OUTCOMES, type AttemptOutcome, EVICTED, PREEMPTED } from '../../model/task/outcome.ts';
import { HOLDS_CLAIM } from '../../model/task/task-states.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { claimOf } from '../../tables/attempt/claim-of.ts';
import { attemptWith, findAttempt, isLeading } from '../../tables/attempt/find-attempt.ts';
import { SET_ASIDE } from '../../tables/run/run-table.ts';
import { findTask } from '../../tables/task/find-task.ts';
import { isMember } from '../../tables/task/gang.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import { endTry } from '../gang/end-try.ts';
import type { Recorder } from '../recorder.ts';
import { seenVersion } from '../run/reopen.ts';
import { returnSpeculative } from '../speculative/end-beside.ts';
import { endAttempt, recordedAs } from './end-attempt.ts';

/** A report with the valid token ends the attempt; a repeat gets the same answer; any other changes nothing (I21, I22). */
export function reportAttempt(recorder: Recorder, command: ReportAttempt): Answer {
  const { claim } = command;
  const slot = findTask(recorder.state, claim);
  if (slot === null) return answerFromHistory(recorder, command);
  const { tasks, attempts } = recorder.state;
  const attempt = attemptWith(recorder.state, slot, claim.fence);
  if (attempt !== NO_ATTEMPT && attempts.attemptNo[attempt] === claim.attemptNo) {
    // In a run that was cancelled, or closed by a failure, something else may be recorded, and the worker is told so (I21, I42).
    const isKept = recordedAs(recorder.state, slot, command.outcome) === command.outcome;
    measure(recorder, command);
    endAttempt(recorder, attempt, isMadeRoom(command) ? { ...command, isOrderly: true } : command);
    return isKept ? RECORDED : stale(claim);
  }
  if (recorder.state.runs.has(tasks.run[slot]!, SET_ASIDE)) return refuse('RUN_SET_ASIDE');
  // The attempt that ended last may be told of again, also when the next one runs already (I22).
  const endedBeside = endBesideOf(tasks.notes.get(slot), claim);
  if (endedBeside !== null) return isRepeat(endedBeside, command.outcome, undefined) ? RECORDED : stale(claim);
  if (tasks.endedFence[slot] !== claim.fence) return stale(claim);
  const endedNo = tasks.attemptNo[slot]! - HOLDS_CLAIM[tasks.state[slot]!]!;
  const ended = ATTEMPT_OUTCOMES[tasks.lastOutcome[slot]! - 1] ?? null;
  const task = taskSpecOf(recorder.state, slot);
  // A number may have gone to a speculative attempt since; the fence alone names this one.
  const isSame = endedNo === claim.attemptNo || recorder.state.runs.versionOf(tasks.run[slot]!).speculates;
  return isSame && isRepeat(ended, command.outcome, task) ? RECORDED : stale(claim);
}

/** It was told to stop, for a critical task or because its worker is taken away: no fault of its own (I39). */
function isMadeRoom({ outcome, code }: ReportAttempt): boolean {
  return outcome === 'lost' && (code === PREEMPTED || code === EVICTED);
}

/** For people: nothing is decided by it. */
function measure(recorder: Recorder, { claim: { runId, taskNo, attemptNo, fence }, used = null }: ReportAttempt): void {
  if (used === null) return;
  const { cpuMs, peakBytes } = used;
  recorder.record({
    kind: 'AttemptMeasured',
    runId,
    taskNo,
    attemptNo,
    fence,
    cpuMs,
    peakBytes,
    at: recorder.state.now,
  });
}

/** The worker never began: back to ready under a new token, at no cost (I26). */
export function refuseClaim(recorder: Recorder, { claim }: RefuseClaim): Answer {
  const attempt = findAttempt(recorder.state, claim);
  if (attempt !== null) returnClaim(recorder, attempt, 'refused');
  return DONE;
}

export function returnClaim(
  recorder: Recorder,
  attempt: AttemptSlot,
  reason: 'refused' | 'undelivered' | 'drained',
): void {
  const { state } = recorder;
  if (!isLeading(state, attempt)) return returnSpeculative(recorder, attempt, reason);
  // One that was found to be slow had begun, whatever its worker knows of it.
  if (notesOf(state, state.attempts.task[attempt]!).speculativeAttempt !== undefined) {
    const error = 'The worker no longer has this attempt.';
    return endAttempt(recorder, attempt, { outcome: 'lost', code: 'lost:dropped', error });
  }
  const { runId, taskNo, fence } = claimOf(state, attempt);
  const slot = state.attempts.task[attempt]!;
  recorder.record({ kind: 'ClaimReturned', runId, taskNo, fence, reason, at: state.now });
  if (isMember(state, slot)) endTry(recorder, slot, state.now);
}

/**
 * The attempt is over. Is what the worker says what was recorded? One that the server ended itself (lost, timed out, its run
 * cancelled) has another outcome than what the worker says. A branch that chose what is not there has it too, and its report ended it.
 */
function isRepeat(ended: AttemptOutcome | null, reported: AttemptOutcome, task: TaskSpec | undefined): boolean {
  if (ended === 'permanent' && reported === 'succeeded') return task?.branch === true;
  return ended !== null && ended === reported;
}

function answerFromHistory(recorder: Recorder, { claim, outcome }: ReportAttempt): Answer {
  const run = recorder.endedRuns.get(claim.runId);
  if (run !== undefined && (run.setAside || run.phase !== 'ended')) return refuse('RUN_SET_ASIDE');
  const row = run?.tasks.find((task) => task.taskNo === claim.taskNo);
  const endedBeside = endBesideOf(readNotes(row?.notes), claim);
  if (endedBeside !== null && !isVoid(run!, row!))
    return isRepeat(endedBeside, outcome, undefined) ? RECORDED : stale(claim);
  if (row === undefined || row.fence !== claim.fence || row.attemptNo !== claim.attemptNo) return stale(claim);
  if (isVoid(run!, row)) return stale(claim);
  const known = recorder.state.dags.get(run!.dagId)?.versions.get(run!.versionNo) ?? seenVersion(recorder, run!);
  // An instance of a map is not in the spec: whatever it may be.
  const tasks = known === undefined ? [] : growSpec(known.spec, run!.added).tasks;
  const task = tasks[claim.taskNo] ?? tasks.find(({ branch }) => branch === true);
  return isRepeat(row.outcome, outcome, task) ? RECORDED : stale(claim);
}

/** How the speculative attempt that this is about ended by itself while the leading one went on; null for any other. */
function endBesideOf(notes: TaskNotes | undefined, { fence, attemptNo }: ClaimRef): AttemptOutcome | null {
  const speculative = notes?.speculativeAttempt;
  if (speculative?.fence !== fence || speculative.attemptNo !== attemptNo) return null;
  const { over } = speculative;
  return over === undefined || over === 'returned' || over === 'void' ? null : over;
}

/** As in a run that is in memory: stopped and then cleared by hand, or of a map that was removed (I32). */
function isVoid({ maps = [] }: StoredRun, row: StoredTask): boolean {
  const isGone = (no: number): boolean => {
    const map = maps.findLast(({ firstNo }) => firstNo <= no);
    return map !== undefined && (map.isRemoved || (map.scope !== null && isGone(map.scope)));
  };
  return isStoppedAndCleared(row) || isGone(row.taskNo);
}

function stale(claim: ClaimRef): Answer {
  return refuse('STALE_TOKEN', `${claim.runId}/${claim.taskNo}`);
}
