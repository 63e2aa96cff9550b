import type { Fence } from '../ids.ts';

/** Names one checkpoint of a task: the attempt that left it, and its number within that attempt. */
export interface CheckpointRef {
  readonly fence: Fence;
  readonly no: number;
}
