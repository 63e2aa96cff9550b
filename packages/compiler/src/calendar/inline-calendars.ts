/** Puts the text of iCal files in place of their names: `ical: holidays.ics` of a schedule names a file beside the dag. */
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { isIcal } from '@signalbox/protocol';
import type { SourceFile } from '../compiled.ts';
import { isObject } from '../definition/is-object.ts';

interface InlinedCalendars {
  readonly definition: Record<string, unknown>;
  /** The files that were read. */
  readonly read: readonly string[];
  readonly faults: readonly { readonly path: string; readonly message: string; readonly remedy: string }[];
}

export async function inlineCalendars(
  definition: Record<string, unknown>,
  { path }: Pick<SourceFile, 'path'>,
): Promise<InlinedCalendars> {
  const [read, faults]: [string[], InlinedCalendars['faults'][number][]] = [[], []];
  const inline = async (schedule: unknown, place: string): Promise<unknown> => {
    if (!isObject(schedule) || !isObject(schedule.calendar)) return schedule;
    const { ical } = schedule.calendar;
    if (typeof ical !== 'string' || isIcal(ical)) return schedule;
    const found = await readBeside(dirname(path), ical);
    if (typeof found === 'string') {
      faults.push({ path: `${place}.calendar.ical`, message: `${place}.calendar.ical: ${found}`, remedy: REMEDY });
      return schedule;
    }
    read.push(found.path);
    return { ...schedule, calendar: { ...schedule.calendar, ical: found.text } };
  };
  const { schedule, schedules } = definition;
  const inlined = { ...definition };
  if (schedule !== undefined) inlined.schedule = await inline(schedule, 'schedule');
  if (Array.isArray(schedules)) {
    inlined.schedules = await Promise.all(schedules.map((each, no) => inline(each, `schedules[${no}]`)));
  }
  return { definition: inlined, read, faults };
}

const REMEDY = 'Name an iCal file in the folder of the dag, such as holidays.ics.';

/** A text says why it could not be read. */
async function readBeside(folder: string, name: string): Promise<{ path: string; text: string } | string> {
  const shown = JSON.stringify(name.slice(0, 100));
  const root = await realpath(folder);
  const path = await realpath(join(folder, name)).catch(() => null);
  if (path === null) return `the file ${shown} does not exist`;
  if (!path.startsWith(root + sep)) return `the file ${shown} is outside of the folder of the dag`;
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return `the file ${shown} cannot be read`;
  return isIcal(text)
    ? { path, text }
    : `the file ${shown} is not an iCal file: it does not begin with BEGIN:VCALENDAR`;
}
