/** A person wants something else of a task than the attempt that runs: its token is void from this commit on, its worker is told. */
import type { Actor, AttemptNo, Fence, Instant, RunId } from '../../model/ids.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';
import { endSecond } from '../speculative/end-beside.ts';

export function stopAttempt(recorder: Recorder, slot: number, actor: Actor): void {
  const { state } = recorder;
  const { tasks, runs } = state;
  endSecond(recorder, slot, { outcome: 'cancelled', error: `Stopped by ${actor}.` }, 'cancelled');
  const workerId = state.workers.at(tasks.worker[slot]!)!.id;
  killAttempt(recorder, slot, 'cancelled');
  recorder.record({
    kind: 'AttemptEnded',
    runId: runs.id[tasks.run[slot]!] as RunId,
    taskNo: taskNoOf(state, slot),
    attemptNo: tasks.attemptNo[slot] as AttemptNo,
    fence: tasks.fence[slot] as Fence,
    workerId,
    outcome: 'cancelled',
    // What it is from here on follows at once, by a change of its own.
    taskState: 'cancelled',
    claimedAt: tasks.claimedAt[slot] as Instant,
    startedAt: null,
    endedAt: state.now,
    retryAt: null,
    lostCount: tasks.lostCount[slot]!,
    output: null,
    facts: null,
    error: `Stopped by ${actor}.`,
    code: null,
    fingerprint: null,
    quick: null,
  });
}
