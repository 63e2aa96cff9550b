/** Applies requests of the holder of a claim. */

import { assert } from '../model/assert.ts';
import type { AttemptMeasured, CheckpointSaved, ClaimAsserted } from '../model/change.ts';
import { RUNNING } from '../model/task/task-states.ts';
import { NO_ATTEMPT } from '../tables/attempt/attempt-table.ts';
import { attemptWith } from '../tables/attempt/find-attempt.ts';
import { noteCheckpoint } from '../tables/run/checkpoints.ts';
import type { State } from '../tables/state.ts';
import { slotOf } from '../tables/task/task-slots.ts';

export function applyOfHolder(state: State, change: CheckpointSaved | ClaimAsserted | AttemptMeasured): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0 && state.tasks.state[slot] === RUNNING, `${change.kind} is about a running attempt`);
  assert(attemptWith(state, slot, change.fence) !== NO_ATTEMPT, `${change.kind} has the fence of the claim (I21)`);
  if (change.kind === 'CheckpointSaved') noteCheckpoint(state, run, change.taskNo, change);
}
