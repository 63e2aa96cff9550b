/** Why a schedule can't be used. A deploy with such a schedule is refused, and checks without a server report the same. */
import type { Instant } from '../ids.ts';
import { compileTimetable, type TimetableSpec } from './timetable.ts';
import { windowAfter, type ZoneSource, zoneOrNull } from './window-after.ts';

export interface ScheduleFault {
  readonly field: 'cron' | 'zone';
  readonly message: string;
  readonly remedy: string;
}

/** Null when it can be used. `now` is the instant from which on it must fire at least once. */
export function scheduleFault(spec: TimetableSpec, now: Instant, zoneData: ZoneSource): ScheduleFault | null {
  // What an `H` in the expression is spread by alters when it fires, not whether it does.
  const compiled = compileTimetable(spec, '');
  if (!compiled.ok) {
    const { field, at, message, remedy } = compiled.problem;
    if (field === 'zone') return { field, message, remedy };
    return { field: 'cron', message: `${message.slice(0, -1)} (column ${at} of "${spec.cron}").`, remedy };
  }
  const { timetable } = compiled;
  const { zone } = timetable;
  if (zoneOrNull(zoneData, zone, now, now) === null) {
    const remedy = 'Give a name of the IANA database, such as Europe/Berlin.';
    return { field: 'zone', message: `The time zone ${JSON.stringify(zone)} is not known.`, remedy };
  }
  if (windowAfter(timetable, now, zoneData) !== null) return null;
  const message = `The cron expression "${spec.cron}" never fires: no date matches it.`;
  return { field: 'cron', message, remedy: 'Correct the day of month or the month.' };
}
