/** What the holder of a claim has asked for. */

import { assert } from '../model/assert.ts';
import type { CheckpointSaved, ClaimAsserted } from '../model/change.ts';
import { RUNNING } from '../model/task/task-states.ts';
import { noteCheckpoint } from '../tables/run/checkpoints.ts';
import { holderOf } from '../tables/speculative/seconds.ts';
import type { State } from '../tables/state.ts';
import { slotOf } from '../tables/task/task-slots.ts';

export function applyOfHolder(state: State, change: CheckpointSaved | ClaimAsserted): void {
  const run = state.runs.find(change.runId);
  assert(run >= 0, `${change.kind} is about a run in memory`);
  const slot = slotOf(state, run, change.taskNo);
  assert(slot >= 0 && state.tasks.state[slot] === RUNNING, `${change.kind} is about a running attempt`);
  const holder = holderOf(state, slot, change.fence);
  assert(state.tasks.fence[holder] === change.fence, `${change.kind} has the fence of the claim (I21)`);
  if (change.kind === 'CheckpointSaved') noteCheckpoint(state, run, change.taskNo, change);
}
