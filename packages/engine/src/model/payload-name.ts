import type { AttemptNo, RunId, TaskNo } from './ids.ts';
import type { CheckpointRef } from './task/checkpoint-ref.ts';

/** Names a text of users that is stored outside the rows of runs and tasks. */
export interface PayloadKey {
  readonly runId: RunId;
  /** Null for the params of the run, otherwise the output of that task. */
  readonly taskNo: TaskNo | null;
  /** In place of its output, what an attempt of the task has left for the next one. Only the newest one is there. */
  readonly checkpoint?: CheckpointRef;
  /** In place of its output, why this attempt of the task failed, if it did. */
  readonly errorOf?: AttemptNo;
  /** The row that its output is in, when that is a large one: see `readLargeOutput`. */
  readonly large?: number;
}

/** The key of a payload as text. */
export function payloadName({ runId, taskNo, checkpoint, errorOf, large }: PayloadKey): string {
  if (errorOf !== undefined) return `${runId}/${taskNo}!${errorOf}`;
  if (large !== undefined) return `${runId}/#${large}`;
  if (checkpoint !== undefined) return `${runId}/${taskNo}@${checkpoint.fence}.${checkpoint.no}`;
  return `${runId}/${taskNo ?? 'params'}`;
}
