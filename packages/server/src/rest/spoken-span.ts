const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** About how long, for sentences: `340 ms`, `4.2 s`, `17 min`, `3.5 h`. */
export function spokenSpan(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  return ms < 2 * HOUR_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${(ms / HOUR_MS).toFixed(1)} h`;
}
