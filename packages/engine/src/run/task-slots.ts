/** Where the tasks of a run are in the task table. Whoever goes from a task to its slot, or back, asks here. */
import type { TaskSpec } from '../dag/spec.ts';
import type { TaskNo } from '../ids.ts';
import type { State } from '../state.ts';

/** The slot of a task, or -1 when the run has no such task. */
export function slotOf({ runs }: State, run: number, taskNo: number): number {
  return taskNo < runs.versionOf(run).taskCount ? runs.base[run]! + taskNo : -1;
}

export function taskNoOf({ tasks }: State, slot: number): TaskNo {
  return tasks.no[slot] as TaskNo;
}

/** What a task of a live run is to do. */
export function taskSpecOf({ runs, tasks }: State, slot: number): TaskSpec {
  return runs.versionOf(tasks.run[slot]!).task(tasks.no[slot] as TaskNo);
}

/** Visits all tasks of a run, in the order of their numbers. */
export function forEachSlot({ runs }: State, run: number, visit: (slot: number) => void): void {
  const base = runs.base[run]!;
  const end = base + runs.versionOf(run).taskCount;
  for (let slot = base; slot < end; slot++) visit(slot);
}
