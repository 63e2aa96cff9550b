/**
 * Notes of a task: data beside its row, for tasks that use more than plain retries and one timeout. They are JSON. Each
 * change that alters them writes them completely, so they are the same live, on load and in replay (I19). Plain tasks have
 * none.
 */
import type { TaskSpec } from '../dag/spec.ts';
import type { AttemptNo, Fence, Instant, WorkerId } from '../ids.ts';
import type { AttemptOutcome } from './outcome.ts';

/** The speculative attempt of a task, as its notes keep it until the task is claimed again. */
interface SpeculativeNote {
  /** 0 for one that came back without having begun: its number was not used (I26). */
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  readonly claimedAt: Instant;
  /** As in the notes of a task. */
  readonly deadlineAt?: Instant | undefined;
  readonly slowAt?: Instant | undefined;
  /** How it ended while the first ran on. `void`: by the server, and whatever it still says is refused (I21). */
  readonly over?: AttemptOutcome | 'returned' | 'void';
}

export interface TaskNotes {
  /** How many attempts ended so since its budgets began, where classes have budgets of their own (I39). */
  readonly counts?: Readonly<Partial<Record<AttemptOutcome, number>>> | undefined;
  /** What its next attempt may have, once it was more than the task says. */
  readonly memoryBytes?: number | undefined;
  /** When its first attempt was claimed since its budgets began: the time of the whole task counts from here. */
  readonly firstAt?: Instant | undefined;
  /** Since when it was ready for the newest claim, or is. */
  readonly queuedAt?: Instant | undefined;
  /** Of the running attempt, once it got more time than its timeout. */
  readonly deadlineAt?: Instant | undefined;
  /** When the newest attempt was found to be slow. */
  readonly slowAt?: Instant | undefined;
  /** All attempts that were, where a hook runs for each. */
  readonly slowAttempts?: readonly number[] | undefined;
  /** It failed without an attempt that ended so: it waited for too long, or all of it took too long. */
  readonly expired?: { readonly by: 'queue' | 'total'; readonly at: Instant } | undefined;
  /** Of a hook that runs each time that something happens: which time its attempts are about, counted from 0. */
  readonly firing?: number | undefined;
  /** The speculative attempt beside the running one, or the last that there was. */
  readonly speculativeAttempt?: SpeculativeNote | undefined;
  /** Attempts since its budgets began that count against none: another of the task went on when they ended. */
  readonly uncounted?: number | undefined;
  /** The same of all its attempts: they were followed by no retry. */
  readonly endedBeside?: number | undefined;
  /** The number of the newest attempt, where that began as a speculative one. */
  readonly speculative?: number | undefined;
}

/**
 * The key of each field in the text, in the order of the text, so that equal notes are equal texts. Servers of several versions read
 * the same rows during an upgrade, so a key is never renamed.
 */
const STORED_AS = {
  counts: 'counts',
  memoryBytes: 'memoryBytes',
  firstAt: 'firstAt',
  queuedAt: 'queuedAt',
  deadlineAt: 'deadlineAt',
  slowAt: 'slowAt',
  slowAttempts: 'slowAttempts',
  expired: 'expired',
  firing: 'firing',
  speculativeAttempt: 'second',
  uncounted: 'uncounted',
  endedBeside: 'doubled',
  speculative: 'speculative',
} as const satisfies Record<keyof TaskNotes, string>;

const FIELDS = Object.entries(STORED_AS) as [keyof TaskNotes, string][];

/** The notes of a row or a change. */
export function readNotes(text: string | null | undefined): TaskNotes {
  if (text === null || text === undefined) return {};
  const stored = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
  const known = FIELDS.filter(([, key]) => stored[key] !== undefined);
  return Object.fromEntries(known.map(([field, key]) => [field, stored[key]]));
}

/** For a change: the notes with these fields set, or with `undefined` taken out; nothing where that alters nothing. */
export function noting(before: TaskNotes, fields: TaskNotes): { readonly notes?: string } {
  const text = textOf({ ...before, ...fields });
  return text === textOf(before) ? NO_NOTES : { notes: text };
}

/** The same for a change that is about nothing else. */
export function notesWith(before: TaskNotes, fields: TaskNotes): string {
  return textOf({ ...before, ...fields });
}

export const NO_NOTES: { readonly notes?: string } = {};

function textOf(notes: TaskNotes): string {
  const ordered: Record<string, unknown> = {};
  for (const [field, key] of FIELDS) if (notes[field] !== undefined) ordered[key] = notes[field];
  return JSON.stringify(ordered);
}

/** Whether anything is ever kept of this task. */
export function keepsNotes(task: TaskSpec): boolean {
  if (task.retry.budgets !== undefined || task.onResource !== undefined) return true;
  return task.totalTimeoutMs !== undefined || task.queueTimeoutMs !== undefined || task.softTimeoutMs !== undefined;
}

/** Whether times of it begin with a claim, beside the timeout of an attempt. */
export function hasClaimTimers({ softTimeoutMs, stuckMs, totalTimeoutMs }: TaskSpec): boolean {
  return softTimeoutMs !== undefined || stuckMs !== undefined || totalTimeoutMs !== undefined;
}
