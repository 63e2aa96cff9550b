/** Attempts that take too long, each of which waits for slots of limits and of a worker for a speculative one beside it. */
import type { AttemptSlot, RunRow } from '../../model/ids.ts';
import { laneOf } from '../queue/enqueue.ts';
import type { State } from '../state.ts';

export function wantSpeculative(state: State, attempt: AttemptSlot): void {
  state.speculation.wanted.set(attempt, state.mono);
  countWanted(state, attempt, 1);
}

/** It has a speculative attempt beside it, or may have none any more. */
export function forgetWanted(state: State, attempt: AttemptSlot): void {
  if (state.speculation.wanted.delete(attempt)) countWanted(state, attempt, -1);
}

/** Those of one run: their lanes are about to change, or have changed. */
export function wantedOfRun(state: State, run: RunRow): readonly AttemptSlot[] {
  const { attempts, speculation, tasks } = state;
  return [...speculation.wanted.keys()].filter((attempt) => tasks.run[attempts.task[attempt]!] === run);
}

export function countWanted(state: State, attempt: AttemptSlot, by: 1 | -1): void {
  const slot = state.attempts.task[attempt]!;
  const lane = laneOf(state, state.tasks.run[slot]!, slot);
  lane.slow += by;
  lane.update();
}
