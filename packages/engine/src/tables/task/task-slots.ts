/** Where the tasks of a run are in the task table. All conversions between task numbers and slots are here. */
import type { TaskSpec } from '../../model/dag/spec.ts';
import type { RunRow, TaskNo, TaskSlot } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { NO_TASK, slotAt } from './task-table.ts';

/** The slot of a task, or -1 when the run has no such task, no longer or not yet. */
export function slotOf({ runs }: State, run: RunRow, taskNo: number): TaskSlot {
  if (taskNo < runs.versionOf(run).taskCount) return slotAt(runs.base[run]!, taskNo);
  return runs.mapsOf(run)?.slotOf(taskNo) ?? NO_TASK;
}

export function taskNoOf({ tasks }: State, slot: TaskSlot): TaskNo {
  return tasks.no[slot]!;
}

/** Its number in the spec: another than its own for an instance of a map. */
export function specNoOf({ runs, tasks }: State, slot: TaskSlot): TaskNo {
  const [no, run] = [tasks.no[slot]!, tasks.run[slot]!];
  return (no < runs.versionOf(run).taskCount ? no : runs.mapsOf(run)!.specOf(no)) as TaskNo;
}

/** What a task of a live run is to do. */
export function taskSpecOf(state: State, slot: TaskSlot): TaskSpec {
  const version = state.runs.versionOf(state.tasks.run[slot]!);
  const no = state.tasks.no[slot]!;
  // By far the most common case, without the detour.
  return version.task(no < version.taskCount ? no : specNoOf(state, slot));
}

/** Visits all tasks of a run that are there, in the order of their numbers. */
export function forEachSlot({ runs }: State, run: RunRow, visit: (slot: TaskSlot) => void): void {
  const base = runs.base[run]!;
  const version = runs.versionOf(run);
  const end = base + version.taskCount;
  for (let slot: number = base; slot < end; slot++) visit(slot as TaskSlot);
  if (version.graph.maps !== null) runs.mapsOf(run)?.forEachSlot(visit);
}
