/** What is accepted of a schedule, and should be written otherwise: words of versions before, and settings without effect. */
import { OLD_MISSED } from './schedule-policy-fields.ts';

/** Of a definition, a schedule, or a list of schedules (`items`), as it was written; one sentence each. */
export function scheduleWarnings(written: unknown): readonly string[] {
  const { schedule, schedules, items } = fieldsOf(written);
  return [
    ...warningsAt('', written),
    ...warningsAt('schedule.', schedule),
    ...listed('schedules', schedules),
    ...listed('items', items),
  ];
}

/** What an answer says about that; nothing when there is nothing to say. */
export function warningsOf(written: unknown): { readonly warnings?: string[] } {
  const warnings = scheduleWarnings(written);
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

function listed(field: string, list: unknown): readonly string[] {
  return Array.isArray(list) ? list.flatMap((one, no) => warningsAt(`${field}[${no}].`, one)) : [];
}

function warningsAt(place: string, schedule: unknown): readonly string[] {
  const { missed, missedLimit, every, gap, overlap } = fieldsOf(schedule);
  const found: string[] = [];
  if (missed === 'latest' || missed === 'all')
    found.push(`${place}missed: ${missed} is an old word. Write ${OLD_MISSED[missed]}, which means the same.`);
  if (missedLimit !== undefined && missed !== 'catchup' && missed !== 'all')
    found.push(`${place}missedLimit has no effect without missed: catchup.`);
  // Intervals are not counted on a wall clock.
  for (const [field, value] of Object.entries({ gap, overlap }))
    if (every !== undefined && value !== undefined) found.push(`${place}${field} has no effect with every.`);
  return found;
}

function fieldsOf(written: unknown): Readonly<Record<string, unknown>> {
  return typeof written === 'object' && written !== null ? (written as Record<string, unknown>) : {};
}
