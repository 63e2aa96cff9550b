import { assert } from '../model/assert.ts';
import type { AttemptClaimed, AttemptEnded, ClaimReturned, TaskCleared } from '../model/change.ts';
import type { QuickFailures } from '../model/dead-letter.ts';
import { type AttemptSlot, NOBODY, type RunRow, type TaskSlot, type WorkerId } from '../model/ids.ts';
import { ATTEMPT_OUTCOMES } from '../model/task/outcome.ts';
import {
  CANCELLED,
  FAILED,
  IS_DUE,
  READY,
  RETRYING,
  RUNNING,
  SKIPPED,
  STOPPED,
  SUCCEEDED,
  WAITING,
} from '../model/task/task-states.ts';
import { moveTask, settleAnew, settleDownstream } from '../propagate/move.ts';
import { noteRepeats } from '../propagate/note-repeats.ts';
import { NO_ATTEMPT } from '../tables/attempt/attempt-table.ts';
import { removeAttempt } from '../tables/attempt/attempts.ts';
import { attemptWith, besideOf } from '../tables/attempt/find-attempt.ts';
import { CLAIMED } from '../tables/run/run-table.ts';
import { notePace, watchPace } from '../tables/speculative/watch-pace.ts';
import type { State } from '../tables/state.ts';
import { isCall } from '../tables/task/is-call.ts';
import { mayRun } from '../tables/task/may-run.ts';
import { keepNotes, notesOf } from '../tables/task/task-notes.ts';
import { slotOf } from '../tables/task/task-slots.ts';
import { watchTotal } from '../tables/timer/task-timers.ts';
import { watchBackoff } from '../tables/timer/watch-backoff.ts';
import { noteDeadLetterUsed } from './apply-dead-letter.ts';
import { assertNext, beginAttempt } from './begin-attempt.ts';

type TaskChange = AttemptClaimed | ClaimReturned | AttemptEnded | TaskCleared;

export function applyTaskChange(state: State, change: TaskChange): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0, `${change.kind} is about a task of its run`);
  if (change.kind === 'AttemptClaimed') return claim(state, run, slot, change);
  if (change.kind === 'TaskCleared') return clearTask(state, run, slot, change);
  const attempt = attemptWith(state, slot, change.fence);
  assert(attempt !== NO_ATTEMPT, `${change.kind} has the fence of a running attempt (I21)`);
  assert(besideOf(state, attempt) === NO_ATTEMPT, 'a task goes on or ends with its last attempt (I23)');
  if (change.kind === 'ClaimReturned') return returnClaim(state, slot, attempt);
  endAttempt(state, run, slot, attempt, change);
}

function claim(state: State, run: RunRow, slot: TaskSlot, change: AttemptClaimed): void {
  const { tasks, runs } = state;
  assertNext(state, slot, change);
  const isParked = isCall(state, slot);
  assert(isParked === (change.workerId === NOBODY), 'a call is claimed for nobody, anything else for a worker (I54)');
  moveTask(state, slot, isParked ? WAITING : RUNNING);
  tasks.fence[slot] = change.fence;
  tasks.attemptNo[slot] = change.attemptNo;
  tasks.cleared[slot] = 0;
  const isFirst = notesOf(state, slot).firstAt === undefined;
  keepNotes(state, slot, change.notes);
  if (tasks.queueDueAt.size > 0) tasks.queueDueAt.delete(slot);
  runs.flags[run]! |= CLAIMED;
  const attempt = beginAttempt(state, slot, change);
  const version = runs.versionOf(run);
  if (version.hasClaimTimers && isFirst) watchTotal(state, slot);
  if (version.speculates) watchPace(state, attempt);
}

function returnClaim(state: State, slot: TaskSlot, attempt: AttemptSlot): void {
  const { tasks } = state;
  assert(tasks.state[slot] === RUNNING, 'a call is not returned');
  removeAttempt(state, attempt);
  tasks.attemptNo[slot]! -= 1;
  if (mayRun(state, slot)) return moveTask(state, slot, READY);
  moveTask(state, slot, CANCELLED);
  settleDownstream(state, slot);
}

function endAttempt(state: State, run: RunRow, slot: TaskSlot, attempt: AttemptSlot, change: AttemptEnded): void {
  const { tasks, attempts } = state;
  assert(change.attemptNo === attempts.attemptNo[attempt], 'the attempt that ends is the one that runs');
  const tookMs = state.mono - attempts.claimedMono[attempt]!;
  removeAttempt(state, attempt);
  if (state.runs.versionOf(run).notesWorkers) noteWorker(state, run, change);
  tasks.lostCount[slot] = change.lostCount;
  tasks.endedFence[slot] = change.fence;
  tasks.lastOutcome[slot] = 1 + ATTEMPT_OUTCOMES.indexOf(change.outcome);
  tasks.retryAt[slot] = change.retryAt ?? 0;
  keepNotes(state, slot, change.notes);
  if (change.fingerprint !== null) noteFailure(state, slot, change.fingerprint, change.quick);
  if (change.facts !== null) state.runs.factsOf(run).setTask(change.taskNo, change.facts);
  if (change.retryAt === null) {
    assert(change.taskState !== 'retrying', 'a task that is tried again has a time for it');
    if (change.outcome === 'succeeded' && state.runs.versionOf(run).speculates) notePace(state, slot, tookMs);
    moveTask(state, slot, FINAL_STATE[change.taskState]);
    settleDownstream(state, slot);
    return noteRepeats(state, run, tasks.no[slot]!);
  }
  assert(mayRun(state, slot), 'only tasks of an open run are tried again, or such as close it');
  const backoffMs = change.retryAt - change.endedAt;
  moveTask(state, slot, RETRYING);
  noteRepeats(state, run, tasks.no[slot]!);
  // Without a backoff the decision goes on with it at once.
  if (backoffMs > 0) watchBackoff(state, slot, backoffMs);
}

function noteWorker({ ranOn }: State, run: RunRow, { taskNo, workerId }: AttemptEnded): void {
  const known = ranOn.get(run) ?? new Map<number, WorkerId>();
  ranOn.set(run, known.set(taskNo, workerId));
}

/** Of the last failure: what ends otherwise leaves it as it was. */
export function noteFailure({ tasks }: State, slot: TaskSlot, fingerprint: number, quick: QuickFailures | null): void {
  tasks.fingerprint[slot] = fingerprint;
  tasks.quickCount[slot] = quick?.count ?? 0;
  tasks.quickSince[slot] = quick?.since ?? 0;
}

function clearTask(state: State, run: RunRow, slot: TaskSlot, change: TaskCleared): void {
  const { tasks, runs } = state;
  runs.facts.get(run)?.forgetError(change.taskNo);
  const from = tasks.state[slot]!;
  assert(mayRun(state, slot), 'a task is tried again in an open run, or when it closes it');
  assert(isClearable(from, change), `a task that is ${change.from} is tried again (I32)`);
  assert(change.attemptNo === tasks.attemptNo[slot], 'it is cleared of the attempts that it had');
  if (change.freshBudget) {
    tasks.budgetBase[slot] = change.attemptNo;
    tasks.lostCount[slot] = 0;
  }
  // By hand it goes past breakers, and is no poison before it has tried.
  tasks.fingerprint[slot] = 0;
  tasks.quickCount[slot] = 0;
  if (change.from === 'failed' || change.from === 'expired') noteDeadLetterUsed(state, change);
  tasks.cleared[slot] = 1;
  keepNotes(state, slot, change.notes);
  voidStopped(state, slot);
  // What a task that succeeded has left behind is of no use to the next attempt.
  if (change.from === 'succeeded') runs.checkpoints.get(run)?.delete(change.taskNo);
  state.clearing.push(change.taskNo);
  if (change.more) return;
  const cleared = state.clearing.splice(0);
  settleAnew(state, run, cleared);
  for (const no of cleared) noteRepeats(state, run, no);
}

/** An attempt that was stopped is not told that its report was recorded, whatever it says: it was not (I21). */
export function voidStopped({ tasks }: State, slot: TaskSlot): void {
  if (tasks.lastOutcome[slot] === AS_CANCELLED) tasks.endedFence[slot] = 0;
}

const AS_CANCELLED = 1 + ATTEMPT_OUTCOMES.indexOf('cancelled');

/**
 * One whose backoff was none is ready at once where it was decided, and waits for a tick where it was loaded. One that waited
 * when its run was closed by a failure is cancelled.
 */
function isClearable(code: number, { from }: TaskCleared): boolean {
  if (from !== 'retrying') return code === CODE_OF[from];
  return IS_DUE[code] === 1 || code === CANCELLED;
}

const CODE_OF = {
  succeeded: SUCCEEDED,
  failed: FAILED,
  expired: FAILED,
  cancelled: CANCELLED,
  skipped: SKIPPED,
  stopped: STOPPED,
} as const;

const FINAL_STATE = { succeeded: SUCCEEDED, failed: FAILED, cancelled: CANCELLED } as const;
