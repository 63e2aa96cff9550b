/** Words of versions before that are still read. Whoever writes one is told the new one. */
import { OLD_MISSED } from './schedule-policy-fields.ts';

/** Of a definition, a schedule, or a list of schedules (`items`), as it was written; one sentence each. */
export function oldWordsIn(written: unknown): readonly string[] {
  const { schedule, schedules, items } = fieldsOf(written);
  return [
    ...oldWordsOf('', written),
    ...oldWordsOf('schedule.', schedule),
    ...listed('schedules', schedules),
    ...listed('items', items),
  ];
}

/** What an answer says about them; nothing when there are none. */
export function warningsOf(written: unknown): { readonly warnings?: string[] } {
  const warnings = oldWordsIn(written);
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

function listed(field: string, list: unknown): readonly string[] {
  return Array.isArray(list) ? list.flatMap((one, no) => oldWordsOf(`${field}[${no}].`, one)) : [];
}

function oldWordsOf(place: string, schedule: unknown): readonly string[] {
  const { missed } = fieldsOf(schedule);
  if (missed !== 'latest' && missed !== 'all') return [];
  return [`${place}missed: ${missed} is an old word. Write ${OLD_MISSED[missed]}, which means the same.`];
}

function fieldsOf(written: unknown): Readonly<Record<string, unknown>> {
  return typeof written === 'object' && written !== null ? (written as Record<string, unknown>) : {};
}
