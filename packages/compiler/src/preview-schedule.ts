/** When a schedule fires next, without a server: by the function that servers decide by. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type Instant, previewSchedule as preview, type SchedulePreview, type TimetableSpec } from '@signalbox/engine';
import { parseOr, type ScheduleInput, SignalboxError, scheduleSchema, toScheduleSpec } from '@signalbox/protocol';
import { zoneData } from '@signalbox/protocol/zones';
import { readText } from './definition/read-text.ts';

/** The firings strictly after `from`, of a schedule as a definition has it. Throws BAD_REQUEST for one of another shape. */
export function previewSchedule(schedule: ScheduleInput, from: number, count: number): SchedulePreview {
  const parsed = parseOr(scheduleSchema, schedule, 'BAD_REQUEST');
  return preview(toScheduleSpec(parsed) as TimetableSpec, from as Instant, count, zoneData);
}

/** A calendar in a file: iCal, or the fields of `calendar` in YAML or JSON. */
export async function readCalendar(path: string): Promise<NonNullable<ScheduleInput['calendar']>> {
  const text = await readFile(path, 'utf8');
  const extension = extname(path).toLowerCase();
  if (extension === '.ics') return { ical: text };
  const outcome = readText(text, extension === '.json' ? 'json' : 'yaml');
  if (outcome.ok) return outcome.read.value as NonNullable<ScheduleInput['calendar']>;
  const [fault] = outcome.faults;
  const message = `${path}:${fault?.line ?? 1}: ${fault?.message ?? 'cannot be read'}`;
  throw new SignalboxError('BAD_REQUEST', { problems: [{ path: 'calendar', message }] });
}
