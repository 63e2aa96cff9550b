/** What users write: a function that does the work of a task, and what it is told about the attempt it makes. */

const PERMANENT: unique symbol = Symbol.for('signalbox.permanent');

/** Where a line goes is up to whoever started the worker; the attempt it belongs to is added. */
export interface Log {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** `Inputs`, `Params` and `Item` are for whoever knows them, such as `dag()`; nothing checks them when the task runs. */
export interface HandlerContext<Inputs = Readonly<Record<string, unknown>>, Params = unknown, Item = unknown> {
  readonly tenant: string;
  readonly dag: string;
  /** UUID of the run. */
  readonly run: string;
  /** Name of the task. */
  readonly task: string;
  /** 1, 2, 3 … */
  readonly attempt: number;
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
  /** What the tasks that this one needs have returned, by their names; of a mapped one, a list. */
  readonly upstream: Readonly<Record<string, unknown>>;
  /** Names of the tasks that this one needs and that failed, or did not run because of a failure: it runs all the same. */
  readonly failedUpstream: readonly string[];
  /** The same over all attempts of the task: give it to outside systems, so that they do a thing once. */
  readonly effectKey: string;
  /** Larger than that of any earlier attempt of the task: an outside system that remembers it can refuse a late one. */
  readonly fence: number;
  /** Proves to Signalbox that this attempt holds the task. Not for others: whoever has it can speak for the attempt. */
  readonly token: string;
  /** Fires when the result is no longer wanted; its reason is an `AttemptStopped`. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /**
   * The value of a secret that the task names under `secrets`. The worker has it from SIGNALBOX_SECRET_<NAME> or from a
   * file of its secrets folder; it is masked in the log. Throws a `PermanentError` that says what to set.
   */
  readonly secret: (name: string) => string;
}

/**
 * Does the work of a task. What it returns must be JSON of at most 256 KiB, or nothing. Throwing fails the attempt, which
 * may be tried again; throwing a `PermanentError` fails the task.
 *
 * @example const greet: Handler = ({ params }) => ({ greeting: `Hello, ${String(params)}` });
 */
export type Handler<Inputs = Readonly<Record<string, unknown>>, Params = unknown, Item = unknown> = (
  context: HandlerContext<Inputs, Params, Item>,
) => unknown;

/** A failure that trying again would not mend. */
export class PermanentError extends Error {
  // Seen by its mark and not by its class: user code may load another copy of this package than the worker does.
  readonly [PERMANENT] = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PermanentError';
  }
}

export function isPermanent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && PERMANENT in error;
}

/**
 * `stuck`: no progress for longer than the task allows. `lost`: no server has been heard for the time of the lease.
 * `superseded`: another attempt of the task was quicker. `stale`: another attempt holds the task by now.
 */
export type StopReason = 'cancelled' | 'timeout' | 'stuck' | 'lost' | 'superseded' | 'stale' | 'killed';

/** Why an attempt's signal fired. */
export class AttemptStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason, message: string) {
    super(message);
    this.name = 'AbortError';
    this.reason = reason;
  }
}
