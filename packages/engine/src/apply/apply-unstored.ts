/** Applies moves of tasks that are not stored: see `model/unstored-change.ts`. */

import { assert } from '../model/assert.ts';
import { AWAITS_RETRY, READY, RETRYING, RUNNING, SUCCEEDED } from '../model/task/task-states.ts';
import type { UnstoredChange } from '../model/unstored-change.ts';
import { moveTask, settleDownstream } from '../propagate/move.ts';
import type { State } from '../tables/state.ts';
import { slotOf } from '../tables/task/task-slots.ts';

export function applyUnstored(state: State, change: UnstoredChange): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0, `${change.kind} is about a task of its run`);
  const from = state.tasks.state[slot]!;
  switch (change.kind) {
    case 'RetryReleased':
      assert(AWAITS_RETRY[from] === 1, 'a task that waits for its retry is released');
      return moveTask(state, slot, READY);
    case 'RetryHeld':
      assert(from === READY, 'a task that is ready is held back');
      return moveTask(state, slot, RETRYING);
    case 'SuccessAssumed':
      if (AWAITS_RETRY[from] === 1) moveTask(state, slot, READY);
      if (from !== RUNNING) moveTask(state, slot, RUNNING);
      moveTask(state, slot, SUCCEEDED);
      return settleDownstream(state, slot);
  }
}
