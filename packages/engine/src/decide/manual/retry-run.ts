/** Retries a failed run by the policy of its dag: failed tasks are cleared in the commit that ends the run (I32). */

import type { Actor, Instant, RunRow, TaskSlot } from '../../model/ids.ts';
import { RUN_OUTCOMES } from '../../model/run/phase.ts';
import { IS_GIVEN_UP } from '../../model/task/task-states.ts';
import { isClosingTask } from '../../tables/task/may-run.ts';
import { hasOwnState } from '../../tables/task/task-notes.ts';
import { forEachSlot } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';
import { clearSlots } from './clear-slots.ts';

const POLICY = 'policy' as Actor;

/** Answers whether it is. Nothing is done where no failed task could run again: a condition without an answer stays so. */
export function retryRunByPolicy(recorder: Recorder, run: RunRow): boolean {
  const { state } = recorder;
  const { runs, now } = state;
  const { retryRun } = runs.versionOf(run).spec;
  if (retryRun === undefined || RUN_OUTCOMES[runs.outcome[run]! - 1] !== 'failed') return false;
  const retryNo = runs.retries[run]! + 1;
  if (retryNo > retryRun.maxTimes) return false;
  const failed: TaskSlot[] = [];
  forEachSlot(state, run, (slot) => {
    if (IS_GIVEN_UP[state.tasks.state[slot]!] === 0 || !hasOwnState(state, slot)) return;
    // What closes a run does not decide it.
    if (!isClosingTask(state, slot)) failed.push(slot);
  });
  if (failed.length === 0 || clearSlots(recorder, run, failed, { force: false, actor: POLICY, retryNo }) !== null) {
    return false;
  }
  if (retryRun.delayMs > 0) {
    const until = (now + retryRun.delayMs) as Instant;
    const runId = runs.id[run]!;
    recorder.record({ kind: 'PauseSet', runId, taskNo: null, paused: true, until, actor: POLICY, at: now });
  }
  return true;
}
