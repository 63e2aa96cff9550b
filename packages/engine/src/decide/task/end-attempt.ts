/** Ends an attempt, for whatever reason: report, timeout, lost worker, cancel. */

import { chanceOf } from '../../model/chance.ts';
import type { AttemptEnded } from '../../model/change.ts';
import type { AttemptNo, AttemptSlot, Fence, Instant, TaskNo, TaskSlot } from '../../model/ids.ts';
import { type ReadFacts, readTaskFacts, type TaskFacts } from '../../model/task/facts.ts';
import { noting } from '../../model/task/notes.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import { WAITING } from '../../model/task/task-states.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { workerIdOf } from '../../tables/attempt/claim-of.ts';
import { besideOf } from '../../tables/attempt/find-attempt.ts';
import type { Version } from '../../tables/dag/dag.ts';
import type { State } from '../../tables/state.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { specNoOf, taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { dropUnnamed } from '../add/drop-unnamed.ts';
import { produceAssets } from '../asset/produce-asset.ts';
import { passRetry } from '../breaker/pass.ts';
import { stopCall } from '../child/stop-call.ts';
import { ofGang } from '../gang/budgets.ts';
import { endTry } from '../gang/end-try.ts';
import type { Recorder } from '../recorder.ts';
import { endOneOfTwo } from '../speculative/end-beside.ts';
import { classifyFailure, followEnd } from './follow-end.ts';
import { countEnd, memoryAfter, retryDelayMs } from './plan-retry.ts';

interface Ending {
  readonly outcome: AttemptOutcome;
  readonly output?: string | null;
  /** Where the output itself is elsewhere. */
  readonly facts?: ReadFacts;
  readonly error: string | null;
  readonly startedAt?: Instant | null;
  /** Of a call: its child run has ended, or will never be. */
  readonly isChildOver?: true;
  readonly code?: string | null;
  readonly retryAfterMs?: number | null;
  readonly memoryBytes?: number | null;
  /** It was lost with a worker that was told to stop: that counts against no budget (I28, I39). */
  readonly isOrderly?: true;
  /** The time of the whole task is over: there is no other. */
  readonly isLast?: boolean;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function endAttempt(recorder: Recorder, attempt: AttemptSlot, ending: Ending): void {
  const { state } = recorder;
  const { attempts, tasks, runs } = state;
  const slot = attempts.task[attempt]!;
  // Not before its child run has ended: that would go on without anybody to wait for it.
  if (tasks.state[slot] === WAITING && ending.isChildOver !== true) return stopCall(recorder, attempt, ending);
  const run = tasks.run[slot]!;
  const isOpen = mayRun(state, slot);
  const taskNo = taskNoOf(state, slot);
  const attemptNo = attempts.attemptNo[attempt] as AttemptNo;
  const version = runs.versionOf(run);
  const read =
    isOpen && ending.outcome === 'succeeded'
      ? (ending.facts ?? readFacts(version, specNoOf(state, slot), ending.output ?? null))
      : NO_FACTS;
  const reported = recordedAs(state, slot, ending.outcome);
  // A branch that chose what is not there will do so again.
  const outcome = read.ok ? reported : 'permanent';
  const error = read.ok ? ending.error : read.error;
  if (besideOf(state, attempt) !== NO_ATTEMPT && !endOneOfTwo(recorder, attempt, { ...ending, outcome, error })) return;
  const isOrderly = outcome === 'lost' && ending.isOrderly === true;
  const lostCount = tasks.lostCount[slot]! + (outcome === 'lost' && !isOrderly ? 1 : 0);
  const task = taskSpecOf(state, slot);
  const isGang = version.hasGangs && task.placement?.gang !== undefined;
  const runId = runs.id[run]!;
  const isFailure = isOpen && outcome !== 'succeeded';
  const code = ending.code ?? null;
  const notes = notesOf(state, slot);
  const uncounted = (notes.uncounted ?? 0) + (isOrderly ? 1 : 0);
  const classified = classifyFailure(recorder, attempt, { outcome, code, error });
  let { counts, memoryBytes } = notes;
  let delayMs: number | null = null;
  if (isFailure) {
    counts = countEnd(task.retry, notes, outcome);
    memoryBytes = memoryAfter(task, notes, { outcome, memoryBytes: ending.memoryBytes ?? null });
    if (!classified.isPoison && ending.isLast !== true) {
      const failureCount = attemptNo - tasks.budgetBase[slot]! - lostCount - uncounted;
      const retryAfterMs = ending.retryAfterMs ?? null;
      const chance = () => chanceOf(state.seed, runId, taskNo, attemptNo);
      const own = { failureCount, lostCount, counts };
      const failed = { outcome, code, error, retryAfterMs, chance, ...(isGang ? ofGang(state, slot, own) : own) };
      delayMs = retryDelayMs(task.retry, failed);
    }
  }
  const { fingerprint, quick } = classified;
  const end: Writable<AttemptEnded> = {
    kind: 'AttemptEnded',
    runId,
    taskNo,
    attemptNo,
    fence: attempts.fence[attempt] as Fence,
    workerId: workerIdOf(state, attempt),
    outcome,
    taskState: delayMs !== null ? 'retrying' : !isOpen ? 'cancelled' : outcome === 'succeeded' ? 'succeeded' : 'failed',
    claimedAt: attempts.claimedAt[attempt] as Instant,
    startedAt: ending.startedAt ?? null,
    endedAt: state.now,
    retryAt: delayMs === null ? null : ((state.now + delayMs) as Instant),
    lostCount,
    fingerprint,
    quick,
    output: outcome === 'succeeded' ? (ending.output ?? null) : null,
    facts:
      isFailure && delayMs === null && task.tellsError === true
        ? errorFacts(outcome, code)
        : read.ok
          ? read.text
          : null,
    error,
    code,
  };
  // Afterwards: spreads in the literal would double the cost of an end that has neither.
  if (notes.speculative === attemptNo) end.speculative = true;
  if (version.keepsNotes || isOrderly) {
    const kept = { counts, memoryBytes, queuedAt: undefined, uncounted: uncounted || undefined };
    Object.assign(end, noting(notes, kept));
  }
  // Also one that may add nothing any more: a task that was added once more may have another template by now.
  if (end.taskState === 'succeeded' && runs.added.has(run)) dropUnnamed(recorder, slot);
  recorder.record(end);
  if (end.taskState === 'succeeded' && task.produces !== undefined) {
    produceAssets(recorder, run, task.name, task.produces);
  }
  if (end.retryAt !== null && end.retryAt <= end.endedAt) passRetry(recorder, slot);
  followEnd(recorder, slot, end, classified, code);
  if (isGang && end.taskState !== 'succeeded') endTry(recorder, slot, end.retryAt);
}

/**
 * What is recorded of an attempt that says that it ended so. Once the run's outcome is fixed no report makes the task succeed, or
 * fail (I42); an attempt that was lost never was stopped in order, whatever became of its run.
 */
export function recordedAs(state: State, slot: TaskSlot, outcome: AttemptOutcome): AttemptOutcome {
  return outcome === 'lost' || mayRun(state, slot) ? outcome : 'cancelled';
}

function errorFacts(outcome: AttemptOutcome, code: string | null): string {
  return JSON.stringify({ error: { class: outcome, code } } satisfies TaskFacts);
}

const NO_FACTS: ReadFacts = { ok: true, text: null };

function readFacts(version: Version, specNo: TaskNo, output: string | null): ReadFacts {
  if (version.graph.givesFacts[specNo] === 0) return NO_FACTS;
  const nameOf = (no: number) => version.task(no as TaskNo).name;
  return readTaskFacts(version.task(specNo), { numbers: version.graph.below(specNo), nameOf }, output);
}
