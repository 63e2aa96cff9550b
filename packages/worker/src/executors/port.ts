/** The interface of all executors, so the runner does not depend on which one it uses. */
import type { Assignment } from '@signalbox/protocol/grpc';
import type { Attempt } from '../attempt.ts';
import type { AttemptContext } from '../attempt-context.ts';
import type { AttemptLines } from '../logs/lazy-log.ts';
import type { Result } from '../result.ts';
import type { Work } from '../work.ts';
import type { Execution } from './execution.ts';

export interface Job {
  readonly attempt: Attempt;
  readonly assignment: Assignment;
  readonly work: Work;
  /** What a handler in this process would see; its inputs have been found. */
  readonly context: AttemptContext;
  readonly log: AttemptLines;
  /** Whether it was given a slot. If not, the executor takes one for it when it begins. */
  readonly hasSlot: boolean;
}

/**
 * The attempt has no result, through no fault of its own: it has not begun, or its process was ended because of another attempt
 * in it. The server gets the claim back, which costs the task no retry (I26).
 */
export interface Returned {
  readonly returned: string;
  /** Whether it had begun. */
  readonly hasBegun: boolean;
  /** Set if this attempt, or one beside it, has ended the process, and nobody can tell which. */
  readonly isSuspect: boolean;
}

export type Ended = Result | Returned;

export interface JobListener {
  /** Its clocks run from here on. Not called for one that ends before it has begun. */
  began(): void;
  /** Called once, when nothing of the attempt runs any more. */
  end(ended: Ended): void;
}

export interface Executor {
  /** May call the listener within this call. */
  start(job: Job, listener: JobListener): Execution;
  /** The worker leaves: no attempt of it runs any more. */
  close(): Promise<void>;
}
