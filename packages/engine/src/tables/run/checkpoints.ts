/** The last checkpoint of each task of a run. */
import type { RunRow } from '../../model/ids.ts';
import type { CheckpointRef } from '../../model/task/checkpoint-ref.ts';
import type { State } from '../state.ts';

export function checkpointOf({ runs }: State, run: RunRow, taskNo: number): CheckpointRef | null {
  return runs.checkpoints.size === 0 ? null : (runs.checkpoints.get(run)?.get(taskNo) ?? null);
}

export function noteCheckpoint({ runs }: State, run: RunRow, taskNo: number, { fence, no }: CheckpointRef): void {
  const known = runs.checkpoints.get(run) ?? new Map<number, CheckpointRef>();
  known.set(taskNo, { fence, no });
  runs.checkpoints.set(run, known);
}
