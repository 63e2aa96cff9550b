/**
 * Intervals, given times, several crons, calendars and jitter, each against a reference that walks days and instants one by
 * one and asks Temporal what a clock shows.
 */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import type { Instant } from '../ids.ts';
import { isSameTiming } from './same-timing.ts';
import { scheduleFault } from './schedule-fault.ts';
import type { CalendarSpec, DayRule, TimetableSpec } from './schedule-spec.ts';
import { compileTimetable, type Timetable } from './timetable.ts';
import { previousWindow, type WindowOptions, windowAfter, windowsBetween } from './window-after.ts';
import type { ZoneData } from './zone-segments.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Zone data as Temporal has it, in whole decades. */
const known = new Map<string, ZoneData>();
function zoneData(zone: string, from: number, until: number): ZoneData {
  const decade = (ms: number) => Math.floor((new Date(ms).getUTCFullYear() - 1970) / 10);
  const [first, last] = [decade(from - 2 * dayMs), decade(until)];
  const key = `${zone} ${first} ${last}`;
  const found = known.get(key) ?? walkZone(zone, Date.UTC(1970 + first * 10, 0), Date.UTC(1980 + last * 10, 0));
  known.set(key, found);
  return found;
}

function walkZone(zone: string, fromMs: number, untilMs: number): ZoneData {
  const start = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(zone);
  const transitions: { atMs: number; offsetMs: number }[] = [];
  for (let next = start.getTimeZoneTransition('next'); next !== null; next = next.getTimeZoneTransition('next')) {
    if (next.epochMilliseconds >= untilMs) break;
    transitions.push({ atMs: next.epochMilliseconds, offsetMs: next.offsetNanoseconds / 1e6 });
  }
  return { zone, tzVersion: 'test', fromMs, untilMs, initialOffsetMs: start.offsetNanoseconds / 1e6, transitions };
}

function tableOf(spec: Partial<TimetableSpec>, seed = 'seed'): Timetable {
  const compiled = compileTimetable({ zone: 'UTC', gap: 'fire_after', ...spec }, seed);
  if (!compiled.ok) throw new Error(`${compiled.fault.field}: ${compiled.fault.message}`);
  return compiled.timetable;
}

function firings(spec: Partial<TimetableSpec>, from: string, count: number, options: WindowOptions = {}): string[] {
  const asked = { from: Date.parse(from) as Instant, until: Number.MAX_SAFE_INTEGER as Instant, most: count };
  return windowsBetween(tableOf(spec), asked, zoneData, options).map(({ at }) => shown(at));
}

const shown = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z');
const between = (table: Timetable, from: number, until: number) =>
  windowsBetween(table, { from: from as Instant, until: until as Instant, most: 100_000 }, zoneData);

describe('intervals', () => {
  test('are counted from the epoch, shifted by the phase, and keep their pace through clock changes', () => {
    const spec = { everyMs: 6 * hourMs, phaseMs: hourMs, zone: 'America/New_York' };
    expect(firings(spec, '2027-03-14T00:00:00Z', 4)).toEqual([
      '2027-03-14T01:00:00Z',
      '2027-03-14T07:00:00Z',
      '2027-03-14T13:00:00Z',
      '2027-03-14T19:00:00Z',
    ]);
  });

  test('are counted from an anchor in both directions; a local anchor is one in the zone', () => {
    const spec = { everyMs: 5 * dayMs, anchor: '2027-07-01T09:00:00', zone: 'Europe/Berlin' };
    expect(firings(spec, '2027-06-25T00:00:00Z', 3)).toEqual([
      '2027-06-26T07:00:00Z',
      '2027-07-01T07:00:00Z',
      '2027-07-06T07:00:00Z',
    ]);
  });

  test('agree with counting one by one (fixed seed)', () => {
    const span = fc.integer({ min: 1_000, max: 40 * dayMs });
    const instant = fc.integer({ min: 0, max: Date.UTC(2060, 0) });
    fc.assert(
      fc.property(
        span,
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        instant,
        instant,
        (everyMs, share, anchor, after) => {
          const phaseMs = Math.floor(everyMs * share);
          const table = tableOf({ everyMs, phaseMs, anchor: anchor as Instant });
          let expected = anchor + phaseMs - Math.ceil((anchor + phaseMs - after) / everyMs) * everyMs;
          while (expected <= after) expected += everyMs;
          expect(windowAfter(table, after as Instant, zoneData)?.at).toBe(expected);
          expect(previousWindow(table, expected as Instant, zoneData)).toBe(
            expected < everyMs ? null : expected - everyMs,
          );
        },
      ),
      { seed: 11, numRuns: 300 },
    );
  });
});

describe('given times', () => {
  test('fire once each, in order, to the millisecond', () => {
    const at = [
      Date.parse('2027-02-01T00:00:00.250Z'),
      Date.parse('2027-01-01T00:00:00Z'),
      Date.parse('2027-02-01T00:00:00.250Z'),
    ];
    expect(firings({ at: at as Instant[] }, '2026-01-01T00:00:00Z', 9)).toEqual([
      '2027-01-01T00:00:00Z',
      '2027-02-01T00:00:00.250Z',
    ]);
  });

  test.each([
    ['fire_after', 'first', ['2027-03-14T07:00:00Z', '2027-11-07T05:30:00Z']],
    ['fire_after', 'second', ['2027-03-14T07:00:00Z', '2027-11-07T06:30:00Z']],
    ['skip', 'both', ['2027-11-07T05:30:00Z', '2027-11-07T06:30:00Z']],
  ] as const)('local times follow gap: %s and overlap: %s', (gap, overlap, expected) => {
    const at = ['2027-11-07T01:30:00', '2027-03-14T02:30:00'];
    expect(firings({ at, zone: 'America/New_York', gap, overlap }, '2027-01-01T00:00:00Z', 9)).toEqual(expected);
  });

  test('agree with Temporal for every local time near a clock change', () => {
    for (const [zone, from] of [
      ['America/New_York', '2027-03-13T00:00'],
      ['America/New_York', '2027-11-06T00:00'],
      ['Australia/Lord_Howe', '2027-04-03T00:00'],
      ['Pacific/Apia', '2011-12-28T00:00'],
      ['America/Sao_Paulo', '2018-11-03T00:00'],
    ] as const) {
      const walls = Array.from({ length: 4 * 24 * 2 }, (_, i) =>
        Temporal.PlainDateTime.from(from).add({ minutes: 30 * i }),
      );
      const at = walls.map((wall) => wall.toString({ smallestUnit: 'second' }));
      const expected = walls.flatMap((wall) => {
        const early = wall.toZonedDateTime(zone, { disambiguation: 'earlier' });
        if (early.toPlainDateTime().equals(wall)) return [early.epochMilliseconds];
        const change = early.getTimeZoneTransition('next');
        return change === null ? [] : [change.epochMilliseconds];
      });
      const start = Date.parse(`${from}Z`) - 3 * dayMs;
      const found = between(tableOf({ at, zone }), start, start + 12 * dayMs).map((window) => window.at);
      expect(found, `${zone} ${from}`).toEqual([...new Set(expected)].sort((a, b) => a - b));
    }
  });
});

test('several crons fire whenever one of them does, once per instant', () => {
  const cron = ['0 9 * * MON-FRI', '0 12 * * SAT', '0 9 1 * *'];
  expect(firings({ cron, zone: 'Europe/Berlin' }, '2027-01-29T00:00:00Z', 4)).toEqual([
    '2027-01-29T08:00:00Z',
    '2027-01-30T11:00:00Z',
    '2027-02-01T08:00:00Z', // a Monday and the 1st
    '2027-02-02T08:00:00Z',
  ]);
});

test('start and end are part of the schedule, in local time as well', () => {
  const spec = { cron: '0 0 * * *', zone: 'Europe/Berlin', start: '2027-06-02T00:00:00', end: '2027-06-04T00:00:00' };
  expect(firings(spec, '2027-01-01T00:00:00Z', 9)).toEqual([
    '2027-06-01T22:00:00Z',
    '2027-06-02T22:00:00Z',
    '2027-06-03T22:00:00Z',
  ]);
});

test('a limit counts what has fired before', () => {
  const spec = { cron: '@daily', limit: 3 };
  expect(firings(spec, '2027-01-01T00:00:00Z', 9)).toHaveLength(3);
  expect(firings(spec, '2027-01-01T00:00:00Z', 9, { firedSoFar: 2 })).toHaveLength(1);
  expect(windowAfter(tableOf(spec), 0 as Instant, zoneData, { firedSoFar: 3 })).toBeNull();
});

describe('jitter', () => {
  const table = tableOf({ cron: ['*/10 * * * *', '3 * * * *'], jitterMs: 8 * 60_000 });
  const from = Date.parse('2027-01-01T00:00:00Z');
  const windows = between(table, from, from + 10 * dayMs);

  test('shifts each window by less than the jitter, and never past the next one', () => {
    for (const [index, { at, firesAt }] of windows.entries()) {
      expect(firesAt).toBeGreaterThanOrEqual(at);
      expect(firesAt - at).toBeLessThan(8 * 60_000);
      const next = windows[index + 1];
      if (next !== undefined) expect(firesAt).toBeLessThan(next.at);
    }
  });

  test('is spread over the whole of it, the same each time, and other for another schedule', () => {
    const shifts = windows.map(({ at, firesAt }) => firesAt - at);
    expect(Math.max(...shifts)).toBeGreaterThan(7 * 60_000);
    expect(new Set(shifts).size).toBeGreaterThan(windows.length * 0.9);
    expect(between(table, from, from + 10 * dayMs)).toEqual(windows);
    const other = tableOf({ cron: ['*/10 * * * *', '3 * * * *'], jitterMs: 8 * 60_000 }, 'other');
    const others = between(other, from, from + 10 * dayMs);
    expect(others.map(({ at }) => at)).toEqual(windows.map(({ at }) => at));
    expect(others.filter(({ firesAt }, i) => firesAt !== windows[i]?.firesAt).length).toBeGreaterThan(1_000);
  });

  test('of the cluster holds for those that name none, and not for given times', () => {
    const options = { defaultJitterMs: hourMs };
    const late = (spec: Partial<TimetableSpec>) => {
      const window = windowAfter(tableOf(spec), 0 as Instant, zoneData, options);
      return window !== null && window.firesAt > window.at;
    };
    expect(late({ cron: '@daily' })).toBe(true);
    expect(late({ everyMs: dayMs })).toBe(true);
    expect(late({ cron: '@daily', jitterMs: 0 })).toBe(false);
    expect(late({ at: [1_000 as Instant] })).toBe(false);
    expect(late({ at: [1_000 as Instant], jitterMs: hourMs })).toBe(true);
  });
});

describe('a calendar', () => {
  const rules: readonly [string, DayRule, (day: Temporal.PlainDate) => boolean][] = [
    ['a day of each year', { from: '2020-12-25', repeat: { freq: 'yearly' } }, (d) => d.month === 12 && d.day === 25],
    [
      'the fourth Thursday of November',
      { from: '2020-11-26', repeat: { freq: 'yearly', byMonth: [11], byDay: ['4TH'] } },
      (d) => d.month === 11 && d.dayOfWeek === 4 && d.day >= 22 && d.day <= 28,
    ],
    [
      'the last Friday of each second month',
      { from: '2020-01-31', repeat: { freq: 'monthly', interval: 2, byDay: ['-1FR'] } },
      (d) => d.month % 2 === 1 && d.dayOfWeek === 5 && d.day > d.daysInMonth - 7,
    ],
    [
      'the last day of each month',
      { from: '2020-01-31', repeat: { freq: 'monthly', byMonthDay: [-1] } },
      (d) => d.day === d.daysInMonth,
    ],
    [
      'every second week, three days from Saturday on',
      { from: '2020-01-04', days: 3, repeat: { freq: 'weekly', interval: 2 } },
      (d) => Temporal.PlainDate.from('2020-01-04').until(d).days % 14 < 3,
    ],
    [
      'ten times every tenth day, but the second',
      { from: '2026-12-01', repeat: { freq: 'daily', interval: 10, count: 10 }, except: ['2026-12-11'] },
      (d) => {
        const days = Temporal.PlainDate.from('2026-12-01').until(d).days;
        return days >= 0 && days < 100 && days % 10 === 0 && days !== 10;
      },
    ],
    [
      'Mondays and Wednesdays until a day',
      { from: '2026-12-07', repeat: { freq: 'weekly', byDay: ['MO', 'WE'], until: '2027-02-03' } },
      (d) => (d.dayOfWeek === 1 || d.dayOfWeek === 3) && String(d) >= '2026-12-07' && String(d) <= '2027-02-03',
    ],
  ];
  const dates: readonly (readonly [string, CalendarSpec, (day: Temporal.PlainDate) => boolean])[] = [
    ['weekdays', { weekdays: ['MON', 'TUE', 'WED', 'THU', 'FRI'] }, (d) => d.dayOfWeek <= 5],
    ['a date', { exclude: ['2027-12-24'] }, (d) => String(d) !== '2027-12-24'],
    ['a range', { exclude: ['2027-03-10/2027-03-20'] }, (d) => String(d) < '2027-03-10' || String(d) > '2027-03-20'],
    ['a day of every year', { exclude: ['12-25', '02-29'] }, (d) => !['12-25', '02-29'].includes(String(d).slice(5))],
    ['only some days', { only: ['2027-03-14', '2028-01-01'] }, (d) => ['2027-03-14', '2028-01-01'].includes(String(d))],
    ...rules.map(
      ([name, rule, holds]) =>
        [`${name} excluded`, { excludeDays: [rule] }, (d: Temporal.PlainDate) => !holds(d)] as const,
    ),
    ...rules.map(([name, rule, holds]) => [`${name} only`, { onlyDays: [rule] }, holds] as const),
  ];
  const [from, until] = [Date.UTC(2026, 11, 1), Date.UTC(2029, 0, 1)];
  const plain = new Map(
    ['Europe/Berlin', 'America/New_York', 'UTC'].map((zone) => {
      const table = tableOf({ cron: ['30 2 * * *', '0 0,23 * * *'], zone });
      return [zone, between(table, from, until).map(({ at }) => at)] as const;
    }),
  );

  test.each(dates)('%s: the windows are those of the schedule on the days that remain', (_, calendar, holds) => {
    for (const [zone, windows] of plain) {
      const table = tableOf({ cron: ['30 2 * * *', '0 0,23 * * *'], zone, calendar });
      const expected = windows.filter((at) => {
        return holds(Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate());
      });
      expect(between(table, from, until).map(({ at }) => shown(at))).toEqual(expected.map(shown));
    }
  });

  test('goes by the date that the clock shows where it goes back at midnight', () => {
    // In São Paulo the clock went from 24:00 on the 17th back to 23:00 on 2018-02-18.
    const table = tableOf({ cron: '*/20 * * * *', zone: 'America/Sao_Paulo', calendar: { only: ['2018-02-17'] } });
    const found = between(table, Date.parse('2018-02-16T00:00:00Z'), Date.parse('2018-02-20T00:00:00Z'));
    expect(found).toHaveLength(25 * 3);
    expect(shown(found.at(-1)?.at ?? 0)).toBe('2018-02-18T02:40:00Z');
  });

  test('a day that never was is no window, and the schedule goes on', () => {
    const calendar = { only: ['2011-12-30', '2012-01-02'] };
    expect(
      firings({ cron: '0 9 * * *', zone: 'Pacific/Apia', calendar, gap: 'skip' }, '2011-12-28T00:00:00Z', 2),
    ).toEqual(['2012-01-01T19:00:00Z']);
  });
});

test('the window before one is the one that came before it, whatever the schedule', () => {
  const specs: Partial<TimetableSpec>[] = [
    { cron: '* * * * * *' },
    { cron: '30 2 * * *', zone: 'America/New_York' },
    { cron: '0 0 29 2 *' },
    { cron: '*/5 * * * * *', calendar: { only: ['2027-01-05', '2027-02-01'] } },
    { everyMs: 90_000, anchor: 7 as Instant },
    { at: ['2027-01-01T00:00:00', '2027-06-01T00:00:00'], zone: 'Europe/Berlin' },
    { cron: ['0 9 * * MON', '0 9 1 * *'], calendar: { weekdays: ['MON', 'TUE'] } },
    { cron: '@hourly', start: '2027-01-03T00:00:00' },
  ];
  for (const spec of specs) {
    const table = tableOf(spec);
    const windows = between(table, Date.parse('2027-01-01T00:00:00Z'), Date.parse('2027-01-01T00:00:00Z') + 40 * dayMs);
    for (const [index, { at }] of windows.entries()) {
      if (index === 0 || index > 300) continue;
      expect(previousWindow(table, at, zoneData)).toBe(windows[index - 1]?.at);
    }
  }
  expect(
    previousWindow(tableOf({ at: ['2027-01-01T00:00:00'] }), Date.parse('2027-01-01') as Instant, zoneData),
  ).toBeNull();
  const leap = previousWindow(tableOf({ cron: '0 0 29 2 *' }), Date.parse('2027-01-01') as Instant, zoneData);
  expect(shown(leap ?? 0)).toBe('2024-02-29T00:00:00Z');
});

describe('faults', () => {
  const now = Date.parse('2027-01-01T00:00:00Z') as Instant;
  test.each<[Partial<TimetableSpec>, string, string]>([
    [{}, 'cron', 'The schedule does not say when it fires.'],
    [{ cron: '@daily', everyMs: 60_000 }, 'every', 'The schedule has both every and cron.'],
    [{ everyMs: 60_000, at: [now] }, 'every', 'The schedule has both every and at.'],
    [{ cron: ['@daily', '61 * * * *'] }, 'cron[1]', '"61" is not a minute (column 1 of "61 * * * *").'],
    [
      { cron: ['CRON_TZ=Asia/Tokyo @daily', 'CRON_TZ=Europe/Berlin @daily'] },
      'zone',
      'names the time zone Europe/Berlin',
    ],
    [{ cron: '@daily', phaseMs: 1 }, 'phase', 'phase belongs to every, which is missing.'],
    [{ everyMs: 999 }, 'every', 'The interval is 999ms.'],
    [{ everyMs: 60_000, phaseMs: 60_000 }, 'phase', 'is not shorter than the interval'],
    [{ everyMs: 60_000, jitterMs: 60_000 }, 'jitter', 'is not shorter than the interval'],
    [{ at: [] }, 'at', 'The schedule has 0 times.'],
    [{ at: ['2027-02-30T00:00:00'] }, 'at', '"2027-02-30T00:00:00" is not a time'],
    [{ cron: '@daily', start: '2028-01-01T00:00:00', end: '2027-06-01T00:00:00' }, 'end', 'ends before it starts'],
    [{ at: ['2027-06-01T00:00:00'], end: '2027-05-01T00:00:00' }, 'at', 'after the end'],
    [{ at: ['2027-06-01T00:00:00'], start: '2027-07-01T00:00:00' }, 'at', 'before the start'],
    [{ cron: '0 0 1 1 *', start: '2027-02-01T00:00:00', end: '2027-03-01T00:00:00' }, 'end', 'never fires between'],
    [{ cron: '0 0 30 2 *' }, 'cron', 'never fires: no date matches it'],
    [{ cron: '0 9 * * MON', calendar: { weekdays: ['SUN'] } }, 'calendar', 'its calendar allows none of its times'],
    [{ cron: '@daily', calendar: { only: ['2026-05-05'] } }, 'calendar', 'its calendar allows none of its times'],
    [{ cron: '@daily', calendar: { exclude: ['2027-13-01'] } }, 'calendar.exclude[0]', 'is not a day'],
    [
      {
        cron: '@daily',
        calendar: { excludeDays: [{ from: '2027-01-01', repeat: { freq: 'yearly', byDay: ['2MO'] } }] },
      },
      'calendar.ical',
      'add BYMONTH',
    ],
    [{ cron: '@daily', zone: 'Mars/Olympus' }, 'zone', 'The time zone "Mars/Olympus" is not known.'],
    [{ at: ['2027-03-14T02:30:00'], zone: 'America/New_York', gap: 'skip' }, 'at', 'a clock change removes its time'],
  ])('%j is refused at %s', (spec, field, message) => {
    const fault = scheduleFault({ zone: 'UTC', gap: 'fire_after', ...spec }, now, zoneData);
    expect(fault).toMatchObject({ field, message: expect.stringContaining(message) });
    expect(fault?.remedy).not.toBe('');
  });

  test('a schedule that is over can be deployed again', () => {
    const over: Partial<TimetableSpec>[] = [
      { at: ['2026-01-01T00:00:00'] },
      { cron: '@daily', end: '2026-01-01T00:00:00' },
      { everyMs: 60_000, start: '2025-01-01T00:00:00', end: '2026-01-01T00:00:00' },
    ];
    for (const spec of over) {
      expect(scheduleFault({ zone: 'UTC', gap: 'skip', ...spec }, now, zoneData)).toBeNull();
      expect(windowAfter(tableOf(spec), now, zoneData)).toBeNull();
    }
  });
});

test('the same timing is told from another, however it is written', () => {
  const base: TimetableSpec = { cron: '@daily', zone: 'UTC', gap: 'skip' };
  expect(isSameTiming(base, { ...base, cron: ['@daily'], overlap: 'first' })).toBe(true);
  const every: TimetableSpec = { everyMs: 60_000, zone: 'UTC', gap: 'skip' };
  expect(isSameTiming(every, { ...every, phaseMs: 0, anchor: 0 as Instant })).toBe(true);
  const others: Partial<TimetableSpec>[] = [
    { cron: '@hourly' },
    { zone: 'Asia/Tokyo' },
    { overlap: 'both' },
    { jitterMs: 1 },
    { calendar: { exclude: ['12-25'] } },
    { start: '2027-01-01T00:00:00' },
    { limit: 1 },
  ];
  for (const other of others) expect(isSameTiming(base, { ...base, ...other })).toBe(false);
});
