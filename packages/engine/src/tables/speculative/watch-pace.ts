/** How long the tasks of a map take, and when a running one is checked. */
import type { SpeculateSpec } from '../../model/dag/spec.ts';
import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import { claimOf } from '../attempt/claim-of.ts';
import type { State } from '../state.ts';
import { specNoOf, taskSpecOf } from '../task/task-slots.ts';
import { setTaskTimer } from '../timer/set-task-timer.ts';
import { Pace } from './pace.ts';

/** Null unless the task is an instance of a map that may have a speculative attempt. */
export function speculateOf(state: State, slot: TaskSlot): SpeculateSpec | null {
  const version = state.runs.versionOf(state.tasks.run[slot]!);
  if (!version.speculates || state.tasks.no[slot]! < version.taskCount) return null;
  return taskSpecOf(state, slot).speculate ?? null;
}

/** An attempt has begun, or was loaded: it is looked at once it has run for as long as any may. */
export function watchPace(state: State, attempt: AttemptSlot): void {
  const speculate = speculateOf(state, state.attempts.task[attempt]!);
  if (speculate === null) return;
  const ranMs = state.mono - state.attempts.claimedMono[attempt]!;
  setTaskTimer(state, 'pace', speculate.minMs - ranMs, claimOf(state, attempt));
}

/** A sibling has finished. */
export function notePace(state: State, slot: TaskSlot, tookMs: number): void {
  if (speculateOf(state, slot) === null) return;
  const { paces } = state.speculation;
  const run = state.tasks.run[slot]!;
  const ofRun = paces.get(run) ?? new Map<number, Pace>();
  paces.set(run, ofRun);
  const no = specNoOf(state, slot);
  const pace = ofRun.get(no) ?? new Pace();
  ofRun.set(no, pace);
  pace.add(Math.max(0, tookMs));
}
