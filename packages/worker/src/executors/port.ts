/** What every way of running an attempt offers, so that the runner need not know which one it is. */
import type { Assignment } from '@signalbox/protocol/grpc';
import type { StopReason } from '@signalbox/sdk';
import type { Attempt, AttemptContext } from '../attempt.ts';
import type { AttemptLog } from '../logs/attempt-log.ts';
import type { Result } from '../result.ts';
import type { Work } from '../work.ts';

export interface Job {
  readonly attempt: Attempt;
  readonly assignment: Assignment;
  readonly work: Work;
  /** What a handler in this process would see; its inputs have been found. */
  readonly context: AttemptContext;
  readonly log: AttemptLog;
}

export interface Execution {
  /** Asks it to end. What it comes to is still heard. */
  stop(reason: StopReason): void;
  /** Ends it by force, with all that it started. False where that can't be done: its end is not waited for. */
  kill(): boolean;
}

export interface Executor {
  /** Calls `end` once, when nothing of the attempt runs any more; also within this call. */
  start(job: Job, end: (result: Result) => void): Execution;
  /** The worker leaves: no attempt of it runs any more. */
  close(): Promise<void>;
}
