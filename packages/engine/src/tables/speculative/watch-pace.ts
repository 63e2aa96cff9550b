/** How long the tasks of a map take, and when a running one is looked at. */
import type { SpeculateSpec } from '../../model/dag/spec.ts';
import type { State } from '../state.ts';
import { specNoOf, taskNoOf, taskSpecOf } from '../task/task-slots.ts';
import { Pace } from './pace.ts';

/** Null unless the task is an instance of a map that may have a second attempt. */
export function speculateOf(state: State, slot: number): SpeculateSpec | null {
  const version = state.runs.versionOf(state.tasks.run[slot]!);
  if (!version.speculates || state.tasks.no[slot]! < version.taskCount) return null;
  return taskSpecOf(state, slot).speculate ?? null;
}

/** An attempt has begun, or was loaded: it is looked at once it has run for as long as any may. */
export function watchPace(state: State, slot: number): void {
  const speculate = speculateOf(state, slot);
  if (speculate === null) return;
  const ranMs = state.mono - state.tasks.claimedMono[slot]!;
  push(state, slot, Math.max(speculate.minMs - ranMs, 0));
}

/** A sibling has finished. */
export function notePace(state: State, slot: number, tookMs: number): void {
  if (speculateOf(state, slot) === null) return;
  const { paces } = state.stragglers;
  const run = state.tasks.run[slot]!;
  const ofRun = paces.get(run) ?? new Map<number, Pace>();
  paces.set(run, ofRun);
  const no = specNoOf(state, slot);
  const pace = ofRun.get(no) ?? new Pace();
  ofRun.set(no, pace);
  pace.add(Math.max(0, tookMs));
}

export function push(state: State, slot: number, delayMs: number): void {
  const [subject, taskNo, stamp] = [state.runIdOfTask(slot), taskNoOf(state, slot), state.tasks.fence[slot]!];
  state.timers.push({ at: state.mono + delayMs, kind: 'pace', subject, taskNo, stamp });
}
