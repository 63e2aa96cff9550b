/**
 * What a process says about its own failure, through its socket or in the file $SIGNALBOX_FAILURE: class, code, when to
 * retry.
 */
import { MAX_TIMEOUT_MS } from '@signalbox/protocol/limits';
import type { ExitClass } from './exit-class.ts';

export interface SaidFailure {
  readonly class: Exclude<ExitClass, 'succeeded'> | null;
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number;
  readonly memoryBytes: number;
}

const CLASSES: readonly unknown[] = ['transient', 'permanent', 'resource'];
const MOST_CODE_CHARS = 60;

/** A text says what is wrong with it. */
export function readSaid(value: Readonly<Record<string, unknown>>): SaidFailure | string {
  const { class: said = null, code = '', message = '', retryAfterMs = 0, memoryBytes = 0 } = value;
  if (said !== null && !CLASSES.includes(said)) return 'class is transient, permanent or resource';
  if (typeof code !== 'string' || !/^[\w.:-]*$/.test(code) || code.length > MOST_CODE_CHARS) {
    return `code is up to ${MOST_CODE_CHARS} letters, digits and any of . _ : -`;
  }
  if (typeof message !== 'string') return 'message is a text';
  if (!isCount(retryAfterMs)) return 'retryAfterMs is a whole number of milliseconds';
  if (!isCount(memoryBytes)) return 'memoryBytes is a whole number of bytes';
  return {
    class: said as SaidFailure['class'],
    code,
    message: message.slice(0, 2_000),
    retryAfterMs: Math.min(retryAfterMs, MAX_TIMEOUT_MS),
    memoryBytes,
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
