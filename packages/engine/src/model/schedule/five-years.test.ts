/**
 * Sixty expressions in twelve zones over five years of clock changes, against a reference that shares nothing with the code:
 * it reads an expression field by field into lists of numbers, tries each second of each day, and asks Temporal for offsets.
 */
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseCron } from './cron.ts';
import { nextWindow } from './zone.ts';
import type { ZoneData } from './zone-segments.ts';

const dayMs = 86_400_000;

const ZONES: readonly (readonly [zone: string, firstYear: number])[] = [
  ['UTC', 2026],
  ['America/New_York', 2026],
  ['Europe/Berlin', 2026],
  ['Europe/London', 2026],
  ['Australia/Lord_Howe', 2026], // half an hour
  ['Australia/Sydney', 2026],
  ['Africa/Casablanca', 2024], // around Ramadan
  ['America/Sao_Paulo', 2015], // at midnight
  ['Pacific/Apia', 2009], // a day that never was
  ['America/Santiago', 2022], // at 24:00
  ['Antarctica/Troll', 2024], // two hours
  ['Asia/Kathmandu', 2026], // +05:45, no changes
];

const EXPRESSIONS = [
  '0 */30 * * * *',
  '*/15 * * * *',
  '7/20 * * * *',
  '0 * * * *',
  '30 * * * *',
  '59 59 * * * *',
  '0 0 * * *',
  '0 1 * * *',
  '30 1 * * *',
  '0 2 * * *',
  '15 2 * * *',
  '30 2 * * *',
  '45 2 * * *',
  '0 3 * * *',
  '0 23 * * *',
  '59 23 * * *',
  '0 12 * * *',
  '*/10 2 * * *',
  '*/30 0-4 * * *',
  '0 */2 * * *',
  '0 1-23/2 * * *',
  '0 22-6 * * *',
  '0 22-2/2 * * *',
  '30 0,1,2,3 * * *',
  '0 9-17 * * MON-FRI',
  '30 2 * * SUN',
  '30 1 * * 0',
  '0 0 * * 7',
  '0 2 * * SAT,SUN',
  '0 4 * * FRI-MON',
  '0 0 1 * *',
  '30 2 8-14 * *',
  '0 0 31 * *',
  '0 0 29 2 *',
  '0 0 30 DEC *',
  '30 12 30 12 *',
  '0 0 L * *',
  '0 0 L-1 * *',
  '30 2 L-3 * *',
  '0 2 LW * *',
  '0 9 1W * *',
  '0 9 15W * *',
  '0 9 31W * *',
  '0 9 L-2W * *',
  '0 0 * * MON#1',
  '30 2 * 3 SUN#2',
  '30 1 * 11 SUN#1',
  '0 3 * * SUNL',
  '0 3 * 3,10 0L',
  '0 0 13 * FRI',
  '0 0 1,15 * MON',
  '0 0 */2 * MON',
  '0 0 */10 * *',
  '0 0 1 */3 *',
  '0 0 1 JAN,JUL *',
  '0 0 1 NOV-FEB *',
  '0 2 * NOV-MAR SUN',
  '0 30 2 * * *',
  '*/20 30 2 * * SUN',
  '15,45 0 3 1-7 * ?',
  '0 30 2 * * ? 2026-2027',
  '0 0 0 29 2 ? 2016/4',
  '@daily',
  '@weekly',
  '@monthly',
  '@yearly',
] as const;

// ── The reference ──

interface Day {
  readonly startWallMs: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Sunday is 0. */
  readonly weekday: number;
  readonly length: number;
}

const MACROS: Readonly<Record<string, string>> = {
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};
const NAMES: Readonly<Record<string, number>> = Object.fromEntries([
  ...['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'].map((name, i) => [
    name,
    i + 1,
  ]),
  ...['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'].map((name, i) => [name, i]),
]);

/** All values that a plain field lists, by going round the field from its start to its end. */
function valuesOf(text: string, min: number, max: number): Set<number> {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const [base = '', by] = item.split('/');
    const [from = '', to] = base.split('-');
    const read = (word: string) => NAMES[word] ?? Number(word);
    const isAll = base === '*' || base === '?';
    const start = isAll ? min : read(from);
    const end = isAll ? max : to === undefined ? (by === undefined ? start : max) : read(to);
    const step = Number(by ?? '1');
    const span = end >= start ? end - start : end - start + (max - min + 1);
    for (let passed = 0; passed <= span; passed += step) values.add(min + ((start + passed - min) % (max - min + 1)));
  }
  return values;
}

function isWorkday(day: Day, no: number): boolean {
  const weekday = (((day.weekday + no - day.day) % 7) + 7) % 7;
  return no >= 1 && no <= day.length && weekday !== 0 && weekday !== 6;
}

function nearestWorkday(day: Day, no: number): number {
  return [0, -1, 1, -2, 2].map((by) => no + by).find((each) => isWorkday(day, each)) ?? 0;
}

function dayOfMonthMatches(text: string, day: Day): boolean {
  return text.split(',').some((item) => {
    const last = /^L(?:-(\d+))?(W)?$/.exec(item);
    if (last !== null) {
      const no = day.length - Number(last[1] ?? '0');
      return day.day === (last[2] === undefined ? no : nearestWorkday(day, no));
    }
    if (item.endsWith('W')) {
      const no = Number(item.slice(0, -1));
      return no <= day.length && day.day === nearestWorkday(day, no);
    }
    return valuesOf(item, 1, 31).has(day.day);
  });
}

function weekdayMatches(text: string, day: Day): boolean {
  return text.split(',').some((item) => {
    const nth = /^(\w+)#(\d)$/.exec(item);
    if (nth !== null) return weekdayMatches(nth[1] ?? '', day) && Math.ceil(day.day / 7) === Number(nth[2]);
    if (item.endsWith('L')) return weekdayMatches(item.slice(0, -1), day) && day.day + 7 > day.length;
    return valuesOf(item, 0, 6).has(day.weekday) || (item === '7' && day.weekday === 0);
  });
}

interface Reference {
  readonly isEveryHour: boolean;
  readonly seconds: readonly number[];
  readonly matches: (day: Day) => boolean;
}

function readExpression(expression: string): Reference {
  let fields = (MACROS[expression] ?? expression).split(' ');
  if (fields.length === 5) fields = ['0', ...fields];
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', weekday = '', year = '*'] = fields;
  const hours = valuesOf(hour, 0, 23);
  const [minutes, secondsOfMinute] = [valuesOf(minute, 0, 59), valuesOf(second, 0, 59)];
  const seconds: number[] = [];
  for (let at = 0; at < 86_400; at += 1) {
    if (!secondsOfMinute.has(at % 60) || !minutes.has(Math.floor(at / 60) % 60)) continue;
    if (hours.has(Math.floor(at / 3_600))) seconds.push(at);
  }
  const [months, years] = [valuesOf(month, 1, 12), valuesOf(year, 1970, 2199)];
  const isAnd = [dayOfMonth, weekday].some((text) => text.startsWith('*') || text === '?');
  const matches = (day: Day) => {
    if (!months.has(day.month) || !years.has(day.year)) return false;
    const [byDay, byWeekday] = [dayOfMonthMatches(dayOfMonth, day), weekdayMatches(weekday, day)];
    return isAnd ? byDay && byWeekday : byDay || byWeekday;
  };
  return { isEveryHour: hours.size === 24, seconds, matches };
}

interface WalkedZone {
  readonly data: ZoneData;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly days: readonly Day[];
  readonly offsetAt: (atMs: number) => number;
  readonly offsets: readonly number[];
}

function walkZone(zone: string, firstYear: number): WalkedZone {
  const [fromMs, untilMs] = [Date.UTC(firstYear, 0, 1), Date.UTC(firstYear + 5, 0, 1)];
  const at = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
  const initialOffsetMs = at(fromMs - 10 * dayMs).offsetNanoseconds / 1e6;
  const transitions: { atMs: number; offsetMs: number }[] = [];
  for (let time = at(fromMs - 10 * dayMs); ; ) {
    const next = time.getTimeZoneTransition('next');
    if (next === null || next.epochMilliseconds >= untilMs + 10 * dayMs) break;
    transitions.push({ atMs: next.epochMilliseconds, offsetMs: next.offsetNanoseconds / 1e6 });
    time = next;
  }
  const days: Day[] = [];
  for (let startWallMs = fromMs - 2 * dayMs; startWallMs < untilMs + 2 * dayMs; startWallMs += dayMs) {
    const date = Temporal.Instant.fromEpochMilliseconds(startWallMs).toZonedDateTimeISO('UTC');
    const { year, month, day, daysInMonth: length } = date;
    days.push({ startWallMs, year, month, day, weekday: date.dayOfWeek % 7, length });
  }
  const offsetAt = (ms: number) => transitions.findLast((each) => each.atMs <= ms)?.offsetMs ?? initialOffsetMs;
  const offsets = [...new Set([initialOffsetMs, ...transitions.map(({ offsetMs }) => offsetMs)])];
  const data = {
    zone,
    tzVersion: 'test',
    fromMs: fromMs - 10 * dayMs,
    untilMs: untilMs + 10 * dayMs,
    initialOffsetMs,
    transitions,
  };
  return { data, fromMs, untilMs, days, offsetAt, offsets };
}

/** The firings of five years; what a gap removes fires when it ends, what occurs twice fires the first time. */
function referenceFirings(reference: Reference, walked: WalkedZone): number[] {
  const { isEveryHour, seconds, matches } = reference;
  const { days, offsets, offsetAt, fromMs, untilMs, data } = walked;
  const found = new Set<number>();
  for (const day of days) {
    if (!matches(day)) continue;
    const steadyOffset = steadyOffsetOn(day, data);
    for (const second of seconds) {
      const wallMs = day.startWallMs + second * 1_000;
      if (steadyOffset !== null) {
        found.add(wallMs - steadyOffset);
        continue;
      }
      const shown = offsets.map((offset) => wallMs - offset).filter((atMs) => offsetAt(atMs) === wallMs - atMs);
      if (isEveryHour) for (const atMs of shown) found.add(atMs);
      else if (shown.length > 0) found.add(Math.min(...shown));
      if (shown.length === 0) for (const atMs of gapFirings(wallMs, reference, walked)) found.add(atMs);
    }
  }
  return [...found].filter((atMs) => atMs > fromMs && atMs <= untilMs).sort((a, b) => a - b);
}

/** The offset of a day that is far from any change; null near one, where every offset of the zone is tried. */
function steadyOffsetOn({ startWallMs }: Day, { transitions, initialOffsetMs }: ZoneData): number | null {
  if (transitions.some(({ atMs }) => Math.abs(atMs - startWallMs) < 3 * dayMs)) return null;
  return transitions.findLast(({ atMs }) => atMs <= startWallMs)?.offsetMs ?? initialOffsetMs;
}

/** The end of the gap that has removed a wall time; nothing where a schedule for every hour keeps its pace through it. */
function gapFirings(
  wallMs: number,
  { isEveryHour, seconds, matches }: Reference,
  { data, days }: WalkedZone,
): number[] {
  const { transitions, initialOffsetMs } = data;
  return transitions.flatMap(({ atMs, offsetMs }, i) => {
    const before = transitions[i - 1]?.offsetMs ?? initialOffsetMs;
    if (!(wallMs >= atMs + before && wallMs < atMs + offsetMs)) return [];
    if (!isEveryHour) return [atMs];
    const readingMs = wallMs - before + offsetMs;
    const day = days.find(({ startWallMs }) => readingMs >= startWallMs && readingMs < startWallMs + dayMs);
    const keepsPace = day !== undefined && matches(day) && seconds.includes((readingMs - day.startWallMs) / 1_000);
    return keepsPace ? [] : [atMs];
  });
}

// ── The comparison ──

test('there are enough of both', () => {
  expect(new Set(EXPRESSIONS).size).toBeGreaterThanOrEqual(60);
  expect(ZONES.length).toBeGreaterThanOrEqual(12);
});

describe('five years of firings are those of the reference (I3)', () => {
  const references = EXPRESSIONS.map((expression) => ({ expression, reference: readExpression(expression) }));

  test.each(ZONES)('%s from %i on', (zone, firstYear) => {
    const walked = walkZone(zone, firstYear);
    for (const { expression, reference } of references) {
      const parsed = parseCron(expression);
      if (!parsed.ok) throw new Error(`${expression}: ${parsed.problem.message}`);
      const firings: number[] = [];
      for (let after = walked.fromMs; ; ) {
        const next = nextWindow(parsed.cron, walked.data, after, { gap: 'fire_after', overlap: 'first' });
        if (next.kind !== 'fires' || next.atMs > walked.untilMs) break;
        firings.push(next.atMs);
        after = next.atMs;
      }
      const expected = referenceFirings(reference, walked);
      const wrong = firings.findIndex((atMs, i) => atMs !== expected[i]);
      const place = wrong < 0 ? Math.min(firings.length, expected.length) : wrong;
      const show = (atMs: number | undefined) => (atMs === undefined ? 'none' : new Date(atMs).toISOString());
      expect(`${expression} #${place}: ${show(firings[place])}`).toBe(
        `${expression} #${place}: ${show(expected[place])}`,
      );
    }
  });
});
