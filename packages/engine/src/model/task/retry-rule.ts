/**
 * Whether a failure is worth another attempt. The most specific rule counts: the first matching pattern for the code, then
 * the first for the text of the error, then the class. Budgets come after that.
 */
import type { RetryPattern, RetryPolicy } from '../dag/spec.ts';
import { type AttemptOutcome, BUDGET_OF } from './outcome.ts';

export interface Failure {
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly error: string | null;
}

/** Lost and stopped attempts are nobody's fault: no pattern speaks of them. */
export function isRetryable(policy: RetryPolicy, { outcome, code, error }: Failure): boolean {
  if (outcome === 'succeeded') return false;
  if (outcome === 'lost' || outcome === 'cancelled') return true;
  const byCode = code === null ? undefined : policy.codes?.find(({ match }) => fitsCode(match, code));
  if (byCode !== undefined) return byCode.retry;
  const byError = error === null ? undefined : policy.errors?.find(({ match }) => fitsText(match, error));
  if (byError !== undefined) return byError.retry;
  return policy.on === undefined ? BUDGET_OF[outcome] !== null : policy.on.includes(outcome);
}

/** Exact, or all that begins so: `exit:*`. */
export function fitsCode(match: RetryPattern['match'], code: string): boolean {
  return match.endsWith('*') ? code.startsWith(match.slice(0, -1)) : code === match;
}

/**
 * The parts between the stars occur in this order, anywhere. Each is looked for once, from where the one before it ended: the
 * time is that of reading the text, whatever the pattern (I68).
 */
export function fitsText(match: RetryPattern['match'], text: string): boolean {
  let from = 0;
  for (const part of match.split('*')) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}
