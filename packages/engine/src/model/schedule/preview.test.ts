import { expect, test } from 'vitest';
import type { Instant } from '../ids.ts';
import { previewFirings } from './preview.ts';
import { compileTimetable, type TimetableSpec } from './timetable.ts';
import type { ZoneData } from './zone-segments.ts';

const hourMs = 3_600_000;
const newYork: ZoneData = {
  zone: 'America/New_York',
  tzVersion: 'test',
  fromMs: Date.parse('2026-12-01T00:00:00Z'),
  untilMs: Date.parse('2029-01-01T00:00:00Z'),
  initialOffsetMs: -5 * hourMs,
  transitions: [
    { atMs: Date.parse('2027-03-14T07:00:00Z'), offsetMs: -4 * hourMs },
    { atMs: Date.parse('2027-11-07T06:00:00Z'), offsetMs: -5 * hourMs },
  ],
};

function preview(spec: Partial<TimetableSpec> & { cron: string }, from: string, count: number) {
  const compiled = compileTimetable({ zone: 'America/New_York', gap: 'fire_after', ...spec }, 'seed');
  if (!compiled.ok) throw new Error(compiled.fault.message);
  const firings = previewFirings(compiled.timetable, Date.parse(from) as Instant, count, () => newYork);
  return firings.map(({ at, local, note }) => [new Date(at).toISOString(), local, note]);
}

test('a daily 02:30 job fires when the gap ends, and says why', () => {
  expect(preview({ cron: '30 2 * * *' }, '2027-03-13T00:00:00Z', 3)).toEqual([
    ['2027-03-13T07:30:00.000Z', '2027-03-13T02:30:00-05:00', null],
    [
      '2027-03-14T07:00:00.000Z',
      '2027-03-14T03:00:00-04:00',
      '02:30 does not exist on 2027-03-14: the clock goes from 02:00 to 03:00. It fires when the gap ends.',
    ],
    ['2027-03-15T06:30:00.000Z', '2027-03-15T02:30:00-04:00', null],
  ]);
});

test('with gap: skip the firing after it tells what was skipped', () => {
  expect(preview({ cron: '*/30 2 * * *', gap: 'skip' }, '2027-03-13T12:00:00Z', 1)).toEqual([
    [
      '2027-03-15T06:00:00.000Z',
      '2027-03-15T02:00:00-04:00',
      'Skipped: 02:00 (and 1 more) does not exist on 2027-03-14: the clock goes from 02:00 to 03:00.',
    ],
  ]);
});

test('a wall time that occurs twice says which of the two fires', () => {
  const twice = '01:30 occurs twice: the clock goes back from 02:00 to 01:00.';
  expect(preview({ cron: '30 1 * * *', overlap: 'both' }, '2027-11-07T00:00:00Z', 3)).toEqual([
    ['2027-11-07T05:30:00.000Z', '2027-11-07T01:30:00-04:00', `${twice} This is the first.`],
    ['2027-11-07T06:30:00.000Z', '2027-11-07T01:30:00-05:00', `${twice} This is the second.`],
    ['2027-11-08T06:30:00.000Z', '2027-11-08T01:30:00-05:00', null],
  ]);
});

test('CRON_TZ names the zone, and a schedule that names another one is refused', () => {
  expect(preview({ cron: 'CRON_TZ=America/New_York 30 2 * * *', zone: 'UTC' }, '2027-06-01T00:00:00Z', 1)).toEqual([
    ['2027-06-01T06:30:00.000Z', '2027-06-01T02:30:00-04:00', null],
  ]);
  const both = { cron: 'CRON_TZ=America/New_York 30 2 * * *', zone: 'Europe/Berlin', gap: 'skip' } as const;
  expect(compileTimetable(both, '')).toMatchObject({
    ok: false,
    fault: { field: 'zone', remedy: 'Keep one of the two. For two zones, write two schedules.' },
  });
});
