/** What of a run is paused, by whom and since when. Nothing new of it is claimed; it holds back nobody else (I47). */
import type { Actor, Instant } from '../ids.ts';
import type { State } from '../state.ts';
import type { StoredPause } from '../stored.ts';
import { PAUSED } from './run-table.ts';

export interface Pause {
  readonly by: Actor;
  readonly at: Instant;
  /** When it goes on by itself. */
  readonly until: Instant | null;
}

export class Pauses {
  run: Pause | null = null;
  readonly tasks = new Map<number, Pause>();

  set(taskNo: number | null, pause: Pause | null): void {
    if (taskNo === null) this.run = pause;
    else if (pause === null) this.tasks.delete(taskNo);
    else this.tasks.set(taskNo, pause);
  }

  get(taskNo: number | null): Pause | null {
    return taskNo === null ? this.run : (this.tasks.get(taskNo) ?? null);
  }

  get isEmpty(): boolean {
    return this.run === null && this.tasks.size === 0;
  }
}

/** Whether a task may not be claimed because somebody holds it, or its run. */
export function isPaused({ runs, tasks }: State, slot: number): boolean {
  const run = tasks.run[slot]!;
  if (!runs.has(run, PAUSED)) return false;
  const pauses = runs.pauses.get(run);
  return pauses !== undefined && (pauses.run !== null || pauses.tasks.has(tasks.no[slot]!));
}

/** Before its tasks are put into their lanes. */
export function restorePauses({ runs }: State, run: number, stored: readonly StoredPause[]): void {
  if (stored.length === 0) return;
  const pauses = new Pauses();
  for (const { taskNo, ...pause } of stored) pauses.set(taskNo, pause);
  runs.pauses.set(run, pauses);
  runs.flags[run]! |= PAUSED;
}
