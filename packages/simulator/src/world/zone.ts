/** The simulated world has one time zone; those of the real one have tests of their own. */
import type { Instant, ZoneData } from '@signalbox/engine';

const TWO_DAYS_MS = 2 * 86_400_000;

export function utcOnly(zone: string, from: Instant, until: Instant): ZoneData {
  if (zone !== 'UTC') throw new RangeError(`there is no time zone ${zone} in this world`);
  const fromMs = from - TWO_DAYS_MS;
  return { zone, tzVersion: 'sim', fromMs, untilMs: until + TWO_DAYS_MS, initialOffsetMs: 0, transitions: [] };
}
