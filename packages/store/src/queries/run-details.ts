/** A run with everything that is stored about it. */
import type { DagSpec, DeadLetterReason, RunUid, StoredMap } from '@signalbox/engine';
import type { RunView } from './run-view.ts';
import type { AttemptView, OutlinedTask, TaskView } from './task-view.ts';

/** A run with maps may have a hundred thousand tasks: which of them are wanted is said once their states can be told. */
export type RunOutline = Pick<
  RunDetails,
  'spec' | 'facts' | 'isForced' | 'phase' | 'outcome' | 'outline' | 'maps' | 'notes'
>;

export interface RunDetails extends RunView {
  readonly hash: string;
  readonly spec: DagSpec;
  readonly facts: string | null;
  readonly isForced: boolean;
  /** Those with a row that were asked for: the others are derived from the spec by the engine's `deriveTasks`. */
  readonly tasks: readonly TaskView[];
  /** All that have a row, as far as states are derived of them. */
  readonly outline: readonly OutlinedTask[];
  readonly maps: readonly StoredMap[];
  /** The fingerprints that breakers of the dag hold back; 0 for its new tasks. */
  readonly breakers: readonly number[];
  /** Open dead letters, by task: why it was given up. */
  readonly deadLetters: ReadonlyMap<number, DeadLetterReason>;
  /** The attempts before the newest one of each task, and those that run or ran beside it. */
  readonly supersededAttempts: readonly AttemptView[];
  /** The runs that its tasks have made, by `childKey`. */
  readonly children: ReadonlyMap<string, RunUid>;
}
