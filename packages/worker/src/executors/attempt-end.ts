/**
 * The result of an attempt, as its child process reports it. User code lives in the same process and can write to the same
 * pipe, so only reports that the child itself could send are accepted: a report that the server can't read would block all
 * others (I57).
 */
import { REPORTED_OUTCOMES, type ReportedOutcome } from '@signalbox/protocol/grpc';
import { MAX_CODE_CHARS, MAX_OUTPUT_BYTES, MAX_TIMEOUT_MS } from '@signalbox/protocol/limits';
import { endFields, HAS_PRINTED, IS_LEAVING } from '../child/end-text.ts';
import type { AttemptEnd } from '../child/frames.ts';

const OUTCOMES: ReadonlySet<unknown> = new Set(REPORTED_OUTCOMES);
const MOST_FLAGS = HAS_PRINTED | IS_LEAVING;

const NOTHING: AttemptEnd = {
  outcome: 'succeeded',
  output: '',
  error: '',
  code: '',
  retryAfterMs: 0,
  memoryBytes: 0,
  hasPrinted: false,
  isLeaving: false,
};

type Numbers = [number, number, number, number, number];

/** Null for what no child says. */
export function readAttemptEnd(text: string): AttemptEnd | null {
  if (text === '') return NOTHING;
  const fields = endFields(text);
  if (fields === null) return null;
  const [outcome, output, error, code] = fields as [string, string, string, string];
  const [retryAfterMs, memoryBytes, flags, cpuMicros, peakBytes] = fields.slice(4).map(Number) as Numbers;
  if (!OUTCOMES.has(outcome) || code.length > MAX_CODE_CHARS) return null;
  if (output.length * 3 > MAX_OUTPUT_BYTES && Buffer.byteLength(output) > MAX_OUTPUT_BYTES) return null;
  if (!isCount(retryAfterMs) || retryAfterMs > MAX_TIMEOUT_MS || !isCount(memoryBytes)) return null;
  if (!isCount(flags) || flags > MOST_FLAGS || !isCount(cpuMicros) || !isCount(peakBytes)) return null;
  return {
    outcome: outcome as ReportedOutcome,
    output,
    error,
    code,
    retryAfterMs,
    memoryBytes,
    ...(cpuMicros === 0 && peakBytes === 0 ? {} : { used: { cpuMicros, peakBytes } }),
    hasPrinted: (flags & HAS_PRINTED) !== 0,
    isLeaving: (flags & IS_LEAVING) !== 0,
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
