/** Sums of ended runs, as they are answered: outcomes counted, durations as percentiles. */
import type { EndedSums } from '@signalbox/protocol';
import type { EndedRuns } from '@signalbox/store';

/** Runs that took at most so long, for the durations of those that succeeded. */
interface Durations {
  readonly withinMs: number;
  readonly runs: number;
}

export function sumsOf(ended: readonly EndedRuns[]): EndedSums {
  const count = (outcome: EndedRuns['outcome']) =>
    ended.reduce((sum, one) => sum + (one.outcome === outcome ? one.runs : 0), 0);
  const durations = ended
    .flatMap(({ outcome, withinMs, runs }) =>
      outcome === 'succeeded' && withinMs !== null ? [{ withinMs, runs }] : [],
    )
    .sort((a, b) => a.withinMs - b.withinMs);
  return {
    succeeded: count('succeeded'),
    failed: count('failed'),
    cancelled: count('cancelled'),
    p50Ms: percentile(durations, 50),
    p95Ms: percentile(durations, 95),
    p99Ms: percentile(durations, 99),
  };
}

/** The bound that so many percent of the runs stay within; shortest first. */
function percentile(sorted: readonly Durations[], percent: number): number | null {
  const wanted = (sorted.reduce((sum, { runs }) => sum + runs, 0) * percent) / 100;
  let seen = 0;
  for (const { withinMs, runs } of sorted) {
    seen += runs;
    if (seen >= wanted) return Math.round(withinMs);
  }
  return null;
}
