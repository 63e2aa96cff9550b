/** The interface of all executors, so the runner does not depend on which one it uses. */
import type { Assignment } from '@signalbox/protocol/grpc';
import type { Attempt } from '../attempt.ts';
import type { AttemptContext } from '../attempt-context.ts';
import type { AttemptLog } from '../logs/attempt-log.ts';
import type { Result } from '../result.ts';
import type { Work } from '../work.ts';
import type { Execution } from './execution.ts';

export interface Job {
  readonly attempt: Attempt;
  readonly assignment: Assignment;
  readonly work: Work;
  /** What a handler in this process would see; its inputs have been found. */
  readonly context: AttemptContext;
  readonly log: AttemptLog;
}

export interface Executor {
  /** Calls `end` once, when nothing of the attempt runs any more; also within this call. */
  start(job: Job, end: (result: Result) => void): Execution;
  /** The worker leaves: no attempt of it runs any more. */
  close(): Promise<void>;
}
