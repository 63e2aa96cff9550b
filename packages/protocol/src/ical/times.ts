/** Times of an iCal file as days. Day 0 is 1970-01-01. */
import { IcalFault, type IcalLine } from './lines.ts';

export const DAY_MS = 86_400_000;

export interface IcalTime {
  /** A date without a time. */
  readonly isDate: boolean;
  /** What a clock shows, as if it were UTC: as written, or in the schedule's zone where the file has a time in UTC. */
  readonly wallMs: number;
}

/** `20271225`, `20271225T090000` as written whatever its TZID, or `20271225T090000Z`, which is UTC. */
export function icalTime(text: string, at: IcalLine, zone: string): IcalTime {
  const found = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(text.trim());
  const [, year, month, day, hour, minute = '0', second = '0', utc] = found ?? [];
  const dayMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // A month of 13 or a day of 32 would run over into the next.
  if (found === null || new Date(dayMs).getUTCDate() !== Number(day) || Number(month) > 12) {
    throw new IcalFault(
      at.line,
      `${at.name} has ${JSON.stringify(text)}, which is not a date`,
      'Write 20271225, or 20271225T090000.',
    );
  }
  if (hour === undefined) return { isDate: true, wallMs: dayMs };
  const wallMs = dayMs + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  return { isDate: false, wallMs: utc === 'Z' ? wallIn(zone, wallMs) : wallMs };
}

/** `P1D`, `P2W`, `PT1H30M` */
export function icalDuration(text: string, at: IcalLine): number {
  const found = /^\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text.trim());
  if (found === null) {
    throw new IcalFault(at.line, `DURATION has ${JSON.stringify(text)}`, 'Write P1D for a day, or PT2H for two hours.');
  }
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  return (weeks * 7 + days) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

export function showDay(wallMs: number): string {
  return new Date(Math.floor(wallMs / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
}

/** What a clock in the zone shows at an instant. A zone that is not known is reported elsewhere; until then it is UTC. */
function wallIn(zone: string, atMs: number): number {
  try {
    const options = {
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    } as const;
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, hourCycle: 'h23', ...options });
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
    return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  } catch {
    return atMs;
  }
}
