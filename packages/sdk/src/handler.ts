/** What users write: a function that does the work of a task, and the context of the attempt that it receives. */

import type { Checkpoint, NewTask } from './attempt-requests.ts';

export type { Checkpoint, NewTask } from './attempt-requests.ts';
export {
  errorCode,
  type Failure,
  type FailureOptions,
  failureOf,
  isPermanent,
  PermanentError,
  ResourceError,
  RetryAfter,
  retryAfterOf,
  TransientError,
} from './failure.ts';

/** The options of the worker decide where a line goes. The attempt that it belongs to is added. */
export interface Log {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/**
 * The window of its schedule that a run is for: its logical time, which stays the same however late the run starts. The data interval
 * goes from `start`, the window before, to `end`: the daily run of midnight covers the day before.
 */
export interface RunWindow {
  /** The scheduled time. */
  readonly at: Date;
  readonly start: Date;
  /** The same instant as `at`. */
  readonly end: Date;
}

/** `Inputs`, `Params` and `Item` are set by code that knows the types, such as `dag()`. They are not checked at run time. */
/** A member of a gang: attempts that began together, on several workers. */
export interface GangMember {
  /** From 0. */
  readonly rank: number;
  readonly size: number;
  /** The hosts of all members, by rank; empty for one that is not known. */
  readonly hosts: readonly string[];
}

export interface HandlerContext<Inputs = Readonly<Record<string, unknown>>, Params = unknown, Item = unknown> {
  readonly tenant: string;
  readonly dag: string;
  /** UUID of the run. */
  readonly run: string;
  /** Name of the task. */
  readonly task: string;
  /** 1, 2, 3 … */
  readonly attempt: number;
  /** The window that the run is for; null for a run on demand. */
  readonly window: RunWindow | null;
  /** What the run was submitted with; null when with nothing. */
  readonly params: Params;
  /** What the task's `inputs` name: values, and what its references point to. Empty when it has none. */
  readonly inputs: Inputs;
  /** Within a map: the item that this instance of the task runs for. Undefined elsewhere. */
  readonly item: Item;
  /** Its number in the innermost map, from 0. */
  readonly index: number;
  /** All maps that the task is in, outermost first; empty when it is in none. */
  readonly map: readonly { readonly group: string; readonly index: number; readonly item: unknown }[];
  /** In a gang: which member this is, and where the others run. Null elsewhere. */
  readonly gang: GangMember | null;
  /** What the tasks that this one needs have returned, by their names; of a mapped one, a list. */
  readonly upstream: Readonly<Record<string, unknown>>;
  /** Names of the tasks that this one needs and that failed, or did not run because of a failure: it runs all the same. */
  readonly failedUpstream: readonly string[];
  /** The same over all attempts of the task: give it to outside systems, so that they do a thing once. */
  readonly effectKey: string;
  /** Larger than that of any earlier attempt of the task: an outside system that remembers it can refuse a late one. */
  readonly fence: number;
  /** Proves to Signalbox that this attempt holds the task. Keep it secret: anybody who has it can act for the attempt. */
  readonly token: string;
  /** Fires when the result is no longer wanted; its reason is an `AttemptStopped`. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /**
   * The value of a secret that the task names under `secrets`. The worker has it from SIGNALBOX_SECRET_<NAME> or from a
   * file of its secrets folder; it is masked in the log. Throws a `PermanentError` that says what to set.
   */
  readonly secret: (name: string) => string;
  /**
   * Tells people how far it is: a fraction from 0 to 1, or null for what is not known, and a few words. It costs next to nothing, goes along with
   * the next heartbeat, and shows that the attempt is not stuck. @example progress(done / all, `${done} files`)
   */
  readonly progress: (fraction?: number | null, note?: string) => void;
  /** Asks for more time than the task's timeout gives; resolves with what is left, in milliseconds. Rejects when it gets none. */
  readonly extend: (ms: number) => Promise<number>;
  /** Kept for the next attempt of the task, on any worker. An attempt that no longer holds the task can't save one. */
  readonly checkpoint: Checkpoint;
  /**
   * Asks the server whether this attempt still holds the task: before a write to an outside system that knows neither the effect
   * key nor the fence. Rejects with an `AttemptStopped` when it does not, or was cancelled.
   */
  readonly assertOwned: () => Promise<void>;
  /**
   * Adds tasks to the run, all of them or none, made of templates of the dag; the task needs `adds: true`. They begin once this
   * task has succeeded. Those that an attempt before this one has added and this one does not add are skipped. Wait for it:
   * what is not added when the function returns never is.
   */
  readonly addTasks: (tasks: readonly NewTask[]) => Promise<void>;
  /** Calls back once when the task's soft timeout is over. The signal does not fire for it. */
  readonly onSlow: (call: () => void) => void;
}

/**
 * Does the work of a task. What it returns must be JSON of at most 8 MiB, or nothing. Throwing fails the attempt, which
 * may be tried again; a `PermanentError` fails the task, `RetryAfter` and `ResourceError` say what the next attempt needs.
 *
 * @example const greet: Handler = ({ params }) => ({ greeting: `Hello, ${String(params)}` });
 */
export type Handler<Inputs = Readonly<Record<string, unknown>>, Params = unknown, Item = unknown> = (
  context: HandlerContext<Inputs, Params, Item>,
) => unknown;

/**
 * `stuck`: no progress for longer than the task allows. `lost`: no server has been heard for the time of the lease.
 * `superseded`: another attempt of the task was quicker. `stale`: another attempt holds the task by now.
 */
export type StopReason =
  | 'cancelled'
  | 'timeout'
  | 'stuck'
  | 'lost'
  | 'superseded'
  | 'stale'
  | 'killed'
  | 'preempted'
  | 'evicted';

/** Why an attempt's signal fired. */
export class AttemptStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason, message: string) {
    super(message);
    this.name = 'AbortError';
    this.reason = reason;
  }
}
