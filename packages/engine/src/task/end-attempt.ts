/** The end of an attempt, however it comes: report, timeout, lost worker, cancel. */
import { chanceOf } from '../chance.ts';
import { stopCall } from '../child/stop-call.ts';
import type { RetryPolicy } from '../dag/spec.ts';
import type { Version } from '../dag/version.ts';
import { type AttemptNo, type Fence, type Instant, NOBODY, type RunId, type TaskNo } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { taskNoOf, taskSpecOf } from '../run/task-slots.ts';
import { backoffMs } from './backoff.ts';
import { type ReadFacts, readTaskFacts } from './facts.ts';
import { mayRun } from './move.ts';
import { type AttemptOutcome, BUDGET_OF } from './outcome.ts';
import { WAITING } from './task-table.ts';

interface Ending {
  readonly outcome: AttemptOutcome;
  readonly output?: string | null;
  readonly error: string | null;
  readonly startedAt?: Instant | null;
  /** Of a call: its child run has ended, or will never be. */
  readonly isChildOver?: true;
}

export function endAttempt(recorder: Recorder, slot: number, ending: Ending): void {
  const { state } = recorder;
  const { tasks, runs } = state;
  // Not before its child run has ended: that would go on without anybody to wait for it.
  if (tasks.state[slot] === WAITING && ending.isChildOver !== true) return stopCall(recorder, slot, ending);
  const run = tasks.run[slot]!;
  const isOpen = mayRun(state, slot);
  const taskNo = taskNoOf(state, slot);
  const attemptNo = tasks.attemptNo[slot] as AttemptNo;
  const version = runs.versionOf(run);
  const read = isOpen && ending.outcome === 'succeeded' ? readFacts(version, taskNo, ending.output ?? null) : NO_FACTS;
  // Once the run's outcome is fixed no report makes the task succeed (I42).
  const reported = isOpen || ending.outcome === 'lost' ? ending.outcome : 'cancelled';
  // A branch that chose what is not there will do so again.
  const outcome = read.ok ? reported : 'permanent';
  const lostCount = tasks.lostCount[slot]! + (outcome === 'lost' ? 1 : 0);
  const failureCount = attemptNo - tasks.budgetBase[slot]! - lostCount;
  const { retry } = taskSpecOf(state, slot);
  const runId = runs.id[run] as RunId;
  const chance = () => chanceOf(state.seed, runId, taskNo, attemptNo);
  const mayRetry = isOpen && outcome !== 'succeeded';
  const delayMs = mayRetry ? retryDelay(retry, outcome, failureCount, lostCount, chance) : null;
  recorder.record({
    kind: 'AttemptEnded',
    runId,
    taskNo,
    attemptNo,
    fence: tasks.fence[slot] as Fence,
    workerId: tasks.state[slot] === WAITING ? NOBODY : state.workers.at(tasks.worker[slot]!)!.id,
    outcome,
    taskState: delayMs !== null ? 'retrying' : !isOpen ? 'cancelled' : outcome === 'succeeded' ? 'succeeded' : 'failed',
    claimedAt: tasks.claimedAt[slot] as Instant,
    startedAt: ending.startedAt ?? null,
    endedAt: state.now,
    retryAt: delayMs === null ? null : ((state.now + delayMs) as Instant),
    lostCount,
    output: outcome === 'succeeded' ? (ending.output ?? null) : null,
    facts: read.ok ? read.text : null,
    error: read.ok ? ending.error : read.error,
  });
}

const NO_FACTS: ReadFacts = { ok: true, text: null };

function readFacts(version: Version, taskNo: TaskNo, output: string | null): ReadFacts {
  if (version.graph.givesFacts[taskNo] === 0) return NO_FACTS;
  const nameOf = (no: number) => version.task(no as TaskNo).name;
  return readTaskFacts(version.task(taskNo), { numbers: version.graph.below(taskNo), nameOf }, output);
}

/** Null when the task is not tried again. Each ended attempt counts once, against the budget of its class (I39). */
function retryDelay(
  policy: RetryPolicy,
  outcome: AttemptOutcome,
  failureCount: number,
  lostCount: number,
  chance: () => number,
): number | null {
  const budget = BUDGET_OF[outcome];
  if (budget === null) return null;
  // At once: it was not the task's fault, as far as anyone knows; the limit is for the task whose fault it is (I28).
  if (budget === 'maxLost') return lostCount < policy.maxLost ? 0 : null;
  return failureCount < policy.maxAttempts ? backoffMs(policy, failureCount, chance()) : null;
}
