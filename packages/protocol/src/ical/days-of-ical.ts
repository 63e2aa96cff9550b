/**
 * What an iCal file says about days. Each event becomes a row of days, with the rule by which it comes again; titles,
 * times of day and all else are left out. A timed event counts for each day that it touches.
 */
import type { DayRuleShape } from './day-rule-shape.ts';
import { IcalFault, type IcalLine, icalLines } from './lines.ts';
import { readRepeat } from './read-repeat.ts';
import { DAY_MS, type IcalTime, icalDuration, icalTime, showDay } from './times.ts';

type IcalDays =
  | { readonly ok: true; readonly days: readonly DayRuleShape[] }
  | { readonly ok: false; readonly line: number; readonly message: string; readonly remedy: string };

export function isIcal(text: string): boolean {
  return /^\uFEFF?BEGIN:VCALENDAR\s/i.test(text);
}

/** `zone` is that of the schedule: times in UTC count for the date that they have there. */
export function daysOfIcal(text: string, zone: string): IcalDays {
  try {
    const events = eventsIn(text.replace(/^\uFEFF/, '')).map((lines) => readEvent(lines, zone));
    return { ok: true, days: joinOverrides(events.filter((event) => event !== null)) };
  } catch (error) {
    if (!(error instanceof IcalFault)) throw error;
    return { ok: false, line: error.line, message: error.message, remedy: error.remedy };
  }
}

/** The lines of each VEVENT, without those of alarms in it. */
function eventsIn(text: string): IcalLine[][] {
  const events: IcalLine[][] = [];
  const open: string[] = [];
  let event: IcalLine[] = [];
  for (const line of icalLines(text)) {
    const value = line.value.trim().toUpperCase();
    if (line.name === 'BEGIN') {
      open.push(value);
      if (value === 'VEVENT') event = [line];
    } else if (line.name === 'END') {
      if (open.pop() !== value)
        throw new IcalFault(line.line, `END:${value} closes nothing`, 'Export the calendar again.');
      if (value === 'VEVENT') events.push(event);
    } else if (open.at(-1) === 'VEVENT') event.push(line);
  }
  if (open.length > 0)
    throw new IcalFault(1, `${open[0]} has no end`, 'The file is cut off: export the calendar again.');
  return events;
}

interface ReadEvent {
  readonly uid: string | null;
  /** Takes the place of this day of the event with the same UID. */
  readonly replaces: string | null;
  readonly rule: DayRuleShape;
}

function readEvent(lines: readonly IcalLine[], zone: string): ReadEvent | null {
  const get = (name: string) => lines.find((line) => line.name === name);
  if (get('STATUS')?.value.trim().toUpperCase() === 'CANCELLED') return null;
  const begins = get('DTSTART');
  const first = lines[0]?.line ?? 1;
  if (begins === undefined) throw new IcalFault(first, 'an event has no DTSTART', 'Give the event a first day.');
  const dates = get('RDATE');
  if (dates !== undefined) {
    throw new IcalFault(dates.line, 'RDATE is not supported', 'Write one event for each of the dates.');
  }
  const start = icalTime(begins.value, begins, zone);
  const days = daysOf(start, lines, zone);
  const rule = get('RRULE');
  const except = lines
    .filter(({ name }) => name === 'EXDATE')
    .flatMap((line) => line.value.split(',').map((text) => showDay(icalTime(text, line, zone).wallMs)));
  const replaced = get('RECURRENCE-ID');
  return {
    uid: get('UID')?.value.trim() ?? null,
    replaces: replaced === undefined ? null : showDay(icalTime(replaced.value, replaced, zone).wallMs),
    rule: {
      from: showDay(start.wallMs),
      ...(days === 1 ? {} : { days }),
      ...(rule === undefined ? {} : { repeat: readRepeat(rule, zone) }),
      ...(except.length === 0 ? {} : { except }),
    },
  };
}

/** How many days it touches. The end of an event is the first instant, or day, that it no longer has. */
function daysOf(start: IcalTime, lines: readonly IcalLine[], zone: string): number {
  const ends = lines.find(({ name }) => name === 'DTEND' || name === 'DURATION');
  if (ends === undefined) return 1;
  const endMs =
    ends.name === 'DTEND' ? icalTime(ends.value, ends, zone).wallMs : start.wallMs + icalDuration(ends.value, ends);
  if (endMs < start.wallMs) throw new IcalFault(ends.line, 'an event ends before it begins', 'Correct its end.');
  const lastMs = Math.max(start.wallMs, endMs - 1);
  return Math.floor(lastMs / DAY_MS) - Math.floor(start.wallMs / DAY_MS) + 1;
}

/** An event with RECURRENCE-ID stands in place of one day of another. */
function joinOverrides(events: readonly ReadEvent[]): DayRuleShape[] {
  return events.map(({ uid, replaces, rule }) => {
    if (replaces !== null || rule.repeat === undefined || uid === null) return rule;
    const moved = events.flatMap((other) => (other.uid === uid && other.replaces !== null ? [other.replaces] : []));
    return moved.length === 0 ? rule : { ...rule, except: [...(rule.except ?? []), ...moved] };
  });
}
