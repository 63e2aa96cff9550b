/** The enums of `worker.proto` by their numbers, for writing and for reading. */
import type { ReportedOutcome, ReportVerdict } from './worker-messages.ts';

export const OUTCOME_NO = {
  succeeded: 1,
  transient: 2,
  permanent: 3,
  cancelled: 4,
  timeout: 5,
  resource: 6,
  stuck: 7,
  lost: 8,
} as const satisfies Record<ReportedOutcome, number>;

export const VERDICT_NO = { accepted: 1, stale: 2 } as const satisfies Record<ReportVerdict, number>;

export const OUTCOMES = byNumber<ReportedOutcome>(OUTCOME_NO);
export const VERDICTS = byNumber<ReportVerdict>(VERDICT_NO);

function byNumber<Name extends string>(numbers: Record<Name, number>): ReadonlyMap<unknown, Name> {
  return new Map(Object.entries(numbers).map(([name, no]) => [no, name as Name]));
}
