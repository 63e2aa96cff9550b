/**
 * The part of a handler's context that sends requests to the server, whoever transports them: a worker, a child process of
 * one, or a test. All functions also work when they are taken out of the context, because handlers destructure it.
 */
import { lostNumberIn } from '@signalbox/protocol/exact-json';
import {
  MAX_ADDED_BYTES,
  MAX_CHECKPOINT_BYTES,
  MAX_PROGRESS_NOTE_CHARS,
  MAX_TIMEOUT_MS,
} from '@signalbox/protocol/limits';
import { PermanentError } from './failure.ts';

/** How an attempt's questions reach the server. */
export interface AttemptRequester {
  progress(fraction: number | null, note: string): void;
  /** Resolves with the time that is left, in milliseconds. */
  extend(ms: number): Promise<number>;
  /** JSON text. Resolves when it is committed. */
  saveCheckpoint(value: string): Promise<void>;
  assertOwned(): Promise<void>;
  /** JSON text of a list of tasks. Resolves when they are part of the run. */
  addTasks(tasks: string): Promise<void>;
}

/** A task that a running one adds to its run. */
export interface NewTask {
  /** Unique within the run. An attempt that is tried again adds the same tasks under the same names. */
  readonly name: string;
  /** What it does: a template of the dag, or its name. */
  readonly template: string | { readonly name: string };
  /** Values, over those of the template. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** What it waits for, beside the task that adds it: tasks of the run, or tasks added in the same call. */
  readonly needs?: readonly (string | { readonly name: string })[];
  /** Tasks that have not begun: from now on they need it too. */
  readonly before?: readonly (string | { readonly name: string })[];
}

export interface Checkpoint {
  /** What was saved last, by this attempt or an earlier one of the task; null when there is nothing. */
  // oxlint-disable-next-line no-unnecessary-type-parameters -- says what its user knows: nothing checks what was stored
  get<T = unknown>(): T | null;
  /** JSON of at most 256 KiB. Resolves when it is stored: the next attempt of the task finds it. */
  set(value: unknown): Promise<void>;
}

export interface AttemptRequests {
  readonly progress: (fraction?: number | null, note?: string) => void;
  readonly extend: (ms: number) => Promise<number>;
  readonly checkpoint: Checkpoint;
  readonly assertOwned: () => Promise<void>;
  readonly addTasks: (tasks: readonly NewTask[]) => Promise<void>;
  readonly onSlow: (call: () => void) => void;
  /** For whoever made the context: the soft timeout is over. */
  slow(): void;
}

/** `saved` is the JSON text that an earlier attempt has left; empty for none. */
export function makeAttemptRequests(requester: AttemptRequester, saved: string): AttemptRequests {
  let last = saved;
  let isSlow = false;
  let calls: (() => void)[] = [];
  return {
    progress: (fraction, note) =>
      requester.progress(fractionOf(fraction), String(note ?? '').slice(0, MAX_PROGRESS_NOTE_CHARS)),
    extend: (ms) => {
      if (!(Number.isFinite(ms) && ms > 0)) {
        return Promise.reject(new TypeError(`extend(${String(ms)}): give milliseconds above 0.`));
      }
      return handled(requester.extend(Math.min(Math.ceil(ms), MAX_TIMEOUT_MS)));
    },
    checkpoint: {
      // oxlint-disable-next-line no-unnecessary-type-parameters
      get: <T>() => (last === '' ? null : (JSON.parse(last) as T | null)),
      set: (value) => {
        try {
          last = checkpointText(value);
        } catch (error) {
          return Promise.reject(error);
        }
        return handled(requester.saveCheckpoint(last));
      },
    },
    assertOwned: () => handled(requester.assertOwned()),
    addTasks: (tasks) => {
      try {
        return handled(requester.addTasks(newTasksText(tasks)));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    onSlow: (call) => {
      if (isSlow) queueMicrotask(call);
      else calls.push(call);
    },
    slow: () => {
      if (isSlow) return;
      isSlow = true;
      const due = calls;
      calls = [];
      for (const call of due) call();
    },
  };
}

/** Whoever does not wait for the server's answer, and is over before it comes, must not end its process by that. */
function handled<T>(asked: Promise<T>): Promise<T> {
  asked.catch(() => {});
  return asked;
}

function fractionOf(fraction: number | null | undefined): number | null {
  if (fraction === undefined || fraction === null || Number.isNaN(fraction)) return null;
  return Math.min(1, Math.max(0, fraction));
}

/** What can't be added fails the task for good: the next attempt would add the same. */
function newTasksText(tasks: readonly NewTask[]): string {
  const nameOf = (named: string | { readonly name: string }) => (typeof named === 'string' ? named : named.name);
  let text: string;
  try {
    text = JSON.stringify(
      tasks.map(({ template, needs, before, ...task }) => ({
        ...task,
        template: nameOf(template),
        ...(needs === undefined ? {} : { needs: needs.map(nameOf) }),
        ...(before === undefined ? {} : { before: before.map(nameOf) }),
      })),
    );
  } catch (error) {
    throw new PermanentError(`The tasks to be added are not JSON: ${String(error)}`);
  }
  const size = Buffer.byteLength(text);
  if (size <= MAX_ADDED_BYTES) return text;
  throw new PermanentError(
    `The tasks to be added have ${size} bytes of JSON; the limit is ${MAX_ADDED_BYTES}. Add them in several calls.`,
  );
}

/** What can't be stored fails the task for good: the next attempt would come to the same point with the same. */
export function checkpointText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value ?? null);
  } catch (error) {
    throw new PermanentError(`The checkpoint is not JSON: ${String(error)}`);
  }
  if (text === undefined) throw new PermanentError(`The checkpoint is not JSON: a ${typeof value}`);
  const lost = lostNumberIn(value, text);
  if (lost !== null) {
    const where = lost.path === '' ? '' : `${lost.path}: `;
    throw new PermanentError(`The checkpoint cannot be saved: ${where}${lost.message}`);
  }
  const size = Buffer.byteLength(text);
  if (size > MAX_CHECKPOINT_BYTES) {
    throw new PermanentError(
      `The checkpoint has ${size} bytes of JSON; the limit is ${MAX_CHECKPOINT_BYTES}. Store it elsewhere and save a reference to it.`,
    );
  }
  return text;
}
