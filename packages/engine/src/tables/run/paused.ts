/** Which tasks are paused now. */

import type { RunRow, TaskSlot } from '../../model/ids.ts';
import type { StoredPause } from '../../model/stored.ts';
import type { State } from '../state.ts';
import { Pauses } from './pauses.ts';
import { PAUSED } from './run-table.ts';

/** Whether a task may not be claimed because somebody holds it, or its run. */
export function isPaused({ runs, tasks }: State, slot: TaskSlot): boolean {
  const run = tasks.run[slot]!;
  if (!runs.has(run, PAUSED)) return false;
  const pauses = runs.pauses.get(run);
  return pauses !== undefined && (pauses.run !== null || pauses.tasks.has(tasks.no[slot]!));
}

/** Before its tasks are put into their lanes. */
export function restorePauses({ runs }: State, run: RunRow, stored: readonly StoredPause[]): void {
  if (stored.length === 0) return;
  const pauses = new Pauses();
  for (const { taskNo, ...pause } of stored) pauses.set(taskNo, pause);
  runs.pauses.set(run, pauses);
  runs.flags[run]! |= PAUSED;
}
