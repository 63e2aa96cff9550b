/** What a change of the clock between two firings means, in words; null when there is none. */
import { span } from '../../parts/format.ts';

export function clockChange(beforeMinutes: number | undefined, afterMinutes: number): string | null {
  if (beforeMinutes === undefined || beforeMinutes === afterMinutes) return null;
  const way = afterMinutes > beforeMinutes ? 'forward' : 'back';
  return `The clock goes ${way} by ${span(Math.abs(afterMinutes - beforeMinutes) * 60_000)} before this one.`;
}
