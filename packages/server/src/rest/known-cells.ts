/**
 * The cells of ended runs in grids. A run that has ended stays as it is until somebody opens it again, and whoever watches a dag asks
 * for the grid several times a second; so each server reads such a run once. Those that were asked for last are kept, up to a number of
 * tasks.
 */
import type { RunId } from '@signalbox/engine';
import type { GridRun } from '@signalbox/protocol';
import type { RunView } from '@signalbox/store';

export interface Cells {
  /** By task of the spec: the place of its state in `TASK_STATES`. */
  readonly states: Uint8Array;
  readonly instances: GridRun['instances'];
  /** Tasks of the run, instances of maps too. */
  readonly size: number;
}

interface Kept extends Cells {
  readonly ending: string;
}

const MOST_TASKS = 4_000_000;

export class KnownCells {
  readonly #runs = new Map<RunId, Kept>();
  readonly #mostTasks: number;
  #tasks = 0;

  constructor(mostTasks = MOST_TASKS) {
    this.#mostTasks = mostTasks;
  }

  get(run: RunView): Cells | undefined {
    const kept = this.#runs.get(run.runId);
    if (kept === undefined || kept.ending !== endingOf(run)) return undefined;
    // Last in the order of the map: those at its beginning go first.
    this.#runs.delete(run.runId);
    this.#runs.set(run.runId, kept);
    return kept;
  }

  keep(run: RunView, cells: Cells): void {
    const ending = endingOf(run);
    if (ending === null) return;
    this.#drop(run.runId);
    this.#runs.set(run.runId, { ...cells, ending });
    this.#tasks += cells.size;
    for (const oldest of this.#runs.keys()) {
      if (this.#tasks <= this.#mostTasks || oldest === run.runId) break;
      this.#drop(oldest);
    }
  }

  #drop(runId: RunId): void {
    this.#tasks -= this.#runs.get(runId)?.size ?? 0;
    this.#runs.delete(runId);
  }
}

/** Which of its ends this is: each change of an ended run opens it again first, and that is stored with it. */
function endingOf({ phase, endedAt, reopenedAt, retries, outcome, notes }: RunView): string | null {
  return phase === 'ended' ? JSON.stringify([endedAt, reopenedAt, retries, outcome, notes]) : null;
}
