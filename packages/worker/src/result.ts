/** Turns what a handler returned or threw into a report. User code can return and throw any value. */

import { lostNumberIn } from '@signalbox/protocol/exact-json';
import type { ReportedOutcome } from '@signalbox/protocol/grpc';
import { MAX_ERROR_CHARS, MAX_OUTPUT_BYTES, MAX_REPORTED_BYTES } from '@signalbox/protocol/limits';
import { errorCode, type Failure, failureOf } from '@signalbox/sdk/handler';

/** What an attempt used. 0: not measured. */
export interface Used {
  readonly cpuMicros: number;
  readonly peakBytes: number;
}

export interface Result {
  readonly outcome: ReportedOutcome;
  /** JSON text; empty for none. */
  readonly output: string;
  readonly error: string;
  /** For people and retry policies: `exit:137`, `http:503`, `error:TypeError`. */
  readonly code?: string;
  /** What a server has asked us to wait before another attempt. */
  readonly retryAfterMs?: number;
  /** What the next attempt would need. */
  readonly memoryBytes?: number;
  /** Absent: not measured. */
  readonly used?: Used;
}

const NOTHING: Result = { outcome: 'succeeded', output: '', error: '' };

export const failure = (outcome: ReportedOutcome, error: string, code = ''): Result => ({
  outcome,
  output: '',
  error,
  ...(code === '' ? {} : { code }),
});

/** An output that can't be stored fails the task for good: trying again would do its work again for the same end (I56). */
export function resultOfReturn(value: unknown): Result {
  if (value === undefined) return NOTHING;
  let output: string | undefined;
  try {
    output = JSON.stringify(value);
  } catch (error) {
    return failure('permanent', `What the handler returned is not JSON: ${shownError(error)}`);
  }
  const lost = lostNumberIn(value, output ?? '');
  if (lost !== null) {
    const where = lost.path === '' ? '' : `${lost.path}: `;
    return failure('permanent', `What the handler returned can't be kept: ${where}${lost.message}`);
  }
  if (output === undefined) return failure('permanent', `What the handler returned is not JSON: a ${typeof value}`);
  // A UTF-16 unit takes at most 3 bytes of UTF-8, so that most outputs need not be measured.
  if (output.length * 3 > MAX_OUTPUT_BYTES) {
    const size = Buffer.byteLength(output);
    if (size > MAX_OUTPUT_BYTES) {
      return failure(
        'permanent',
        `The output has ${size} bytes of JSON; the limit is ${MAX_OUTPUT_BYTES}. Store it elsewhere and return a reference to it.`,
      );
    }
  }
  return { outcome: 'succeeded', output, error: '' };
}

/** Too large for a report: it is stored before that. */
export function isLargeOutput(output: string): boolean {
  return output.length * 3 > MAX_REPORTED_BYTES && Buffer.byteLength(output) > MAX_REPORTED_BYTES;
}

export function resultOfThrow(error: unknown): Result {
  return { ...classified(error), error: shownError(error) };
}

/** A fault that the worker itself has found: its own stack would tell users nothing. */
export function resultOfFault(error: unknown): Result {
  return { ...classified(error), error: error instanceof Error ? error.message : String(error) };
}

/** By what the error says of itself; whatever says nothing may pass. */
function classified(error: unknown): Result {
  const { said, code } = saidOf(error);
  return {
    outcome: said?.class ?? 'transient',
    output: '',
    error: '',
    code,
    ...(said?.retryAfterMs === undefined ? {} : { retryAfterMs: said.retryAfterMs }),
    ...(said?.memoryBytes === undefined ? {} : { memoryBytes: said.memoryBytes }),
  };
}

function saidOf(error: unknown): { readonly said: Failure | null; readonly code: string } {
  try {
    return { said: failureOf(error), code: errorCode(error) };
  } catch {
    return { said: null, code: 'error:unknown' }; // A proxy may throw at any question.
  }
}

/** The signal's own error, or that of what was called with the signal; by itself or as a cause. */
const OBEYED = /(?:^|\nCaused by: )(?:AttemptStopped|AbortError)\b/;

/** The function stopped because no server was heard: its worker has lost it, and it is not to blame. What else it says is its own. */
export function resultAfterLapse(result: Result): Result {
  if (result.outcome !== 'transient' || !OBEYED.test(result.error)) return result;
  return failure('lost', result.error, 'lost:stopped');
}

const MAX_CAUSES = 5;
/** Of what user code has thrown; what is stored is cut further, once secrets are masked in it. */
const MAX_THROWN_CHARS = 256 * 1024;

/** Longer ones are cut to what is stored of an error. */
export function cutError(error: string): string {
  return error.length > MAX_ERROR_CHARS ? `${error.slice(0, MAX_ERROR_CHARS - 1)}…` : error;
}

/** Stack and causes. Never throws. */
export function shownError(thrown: unknown): string {
  try {
    const parts: string[] = [];
    for (let error = thrown; parts.length <= MAX_CAUSES; ) {
      parts.push(error instanceof Error ? shownStack(error) : String(error));
      if (!(error instanceof Error) || error.cause === undefined) break;
      error = error.cause;
    }
    const text = parts.join('\nCaused by: ').replaceAll('\0', '\u{fffd}');
    return text.slice(0, MAX_THROWN_CHARS);
  } catch {
    return 'The handler threw something that cannot be shown.';
  }
}

/** Where user code was called from: what lies below it is the worker's own. */
const CALLER = /\/executors\/call-handler\.[jt]s:/;
/** The folder of a bundle in the cache, before the path of a source. */
const BUNDLE_FOLDER = /(?:file:\/\/)?[^\s()]*\/[0-9a-f]{64}\//;

/** The message comes first whatever the stack is: V8 fixes the stack's first line when the error is made. */
function shownStack(error: Error): string {
  const title = `${error.name}: ${error.message}`;
  const frames = String(error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  const caller = frames.findIndex((line) => CALLER.test(line));
  const own = caller === -1 ? frames : frames.slice(0, caller);
  return [title, ...own.map((line) => line.replace(BUNDLE_FOLDER, ''))].join('\n');
}
