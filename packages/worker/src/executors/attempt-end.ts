/**
 * The result of an attempt, as its child process reports it. User code lives in the same process and can write to the same
 * pipe, so only reports that the child itself could send are accepted: a report that the server can't read would block all
 * others (I57).
 */
import { REPORTED_OUTCOMES, type ReportedOutcome } from '@signalbox/protocol/grpc';
import { MAX_CODE_CHARS, MAX_OUTPUT_BYTES, MAX_TIMEOUT_MS } from '@signalbox/protocol/limits';
import type { AttemptEnd } from '../child/frames.ts';

const OUTCOMES: ReadonlySet<unknown> = new Set(REPORTED_OUTCOMES);

/** Null for what no child says. */
export function readAttemptEnd(text: string): AttemptEnd | null {
  let said: Partial<Record<keyof AttemptEnd, unknown>> | null;
  try {
    said = JSON.parse(text) as typeof said;
  } catch {
    return null;
  }
  const { outcome, output, error, code = '', retryAfterMs = 0, memoryBytes = 0, hasPrinted, isLeaving } = said ?? {};
  if (!OUTCOMES.has(outcome) || typeof output !== 'string' || typeof error !== 'string') return null;
  if (Buffer.byteLength(output) > MAX_OUTPUT_BYTES) return null;
  if (typeof code !== 'string' || code.length > MAX_CODE_CHARS) return null;
  if (!isCount(retryAfterMs) || retryAfterMs > MAX_TIMEOUT_MS || !isCount(memoryBytes)) return null;
  return {
    outcome: outcome as ReportedOutcome,
    output,
    error,
    code,
    retryAfterMs,
    memoryBytes,
    hasPrinted: hasPrinted === true,
    isLeaving: isLeaving === true,
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
