/** Schedules that fire rarely, or whose calendar leaves little, with the zone data of this machine. */
import { compileTimetable, type DayRule, type Instant, type TimetableSpec, windowAfter } from '@signalbox/engine';
import { zoneData } from '@signalbox/protocol/zones';
import { expect, test } from 'vitest';

const ASKED = 5;

function tableOf(spec: Partial<TimetableSpec>) {
  const compiled = compileTimetable({ zone: 'UTC', gap: 'fire_after', jitterMs: 1_000, ...spec }, 'seed');
  if (!compiled.ok) throw new Error(compiled.fault.message);
  return compiled.timetable;
}

test('the next window of the sparsest schedules is found in under 50 ms (I9)', () => {
  const daily = Array.from({ length: 20 }, (_, i) => `${i} 3 * * *`);
  const rules = Array.from({ length: 50 }, (_, i): DayRule => {
    return {
      from: `2000-01-${String((i % 28) + 1).padStart(2, '0')}`,
      repeat: { freq: 'yearly', byMonth: [1], byDay: ['MO'] },
    };
  });
  const specs: Partial<TimetableSpec>[] = [
    { cron: '0 0 * 2 MON#5', zone: 'Europe/Berlin' },
    { cron: '* * * * * *', calendar: { only: ['2066-01-01'] }, zone: 'Europe/Berlin' },
    { cron: '0 0 29 2 *', calendar: { weekdays: ['SUN'] }, zone: 'America/New_York' },
    { cron: daily, calendar: { onlyDays: [{ from: '2060-02-29' }] }, zone: 'Europe/Berlin' },
    { cron: daily, calendar: { excludeDays: rules }, zone: 'Europe/Berlin' },
    { cron: daily, calendar: { exclude: Array.from({ length: 9 }, (_, i) => `20${27 + i}-01-01/20${27 + i}-12-31`) } },
    { cron: '0 3 * * MON', calendar: { weekdays: ['TUE'] }, zone: 'Europe/Berlin' },
    {
      at: Array.from({ length: 1_000 }, (_, i) => `2027-01-01T00:00:0${i % 10}.${String(i).padStart(3, '0')}`),
      zone: 'Asia/Tokyo',
    },
  ];
  for (const spec of specs) {
    const table = tableOf(spec);
    const from = Date.parse('2027-02-01T00:00:00Z') as Instant;
    windowAfter(table, from, zoneData); // zone data and calendar years are remembered
    // Of this process alone: the machine may have other things to do.
    const before = process.cpuUsage();
    for (let i = 0; i < ASKED; i += 1) windowAfter(table, from, zoneData);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000 / ASKED, JSON.stringify(spec).slice(0, 80)).toBeLessThan(50);
  }
});
