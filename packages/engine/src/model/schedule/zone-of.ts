import type { TimetableSpec } from './schedule-spec.ts';

const IN_CRON = /^\s*(?:CRON_)?TZ=(\S+)/i;

/** The time zone that the windows of a schedule depend on; null for UTC, which never changes. */
export function zoneOf({ zone, cron }: Pick<TimetableSpec, 'zone' | 'cron'>): string | null {
  if (zone !== 'UTC') return zone;
  for (const expression of cron === undefined ? [] : [cron].flat()) {
    const named = IN_CRON.exec(expression)?.[1];
    if (named !== undefined && named !== 'UTC') return named;
  }
  return null;
}
