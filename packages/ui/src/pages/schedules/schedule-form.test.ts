import type { ScheduleSettings } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { formOf, hasIcal, NEW_SCHEDULE, readSchedule, spanText } from './schedule-form.ts';

const PLAIN = { zone: 'UTC', gap: 'fire_after', overlap: 'first', missed: 'most_recent', missedLimit: 100 } as const;

test('a form that nobody has changed is a schedule with its defaults', () => {
  expect(readSchedule(NEW_SCHEDULE)).toEqual({ body: { cron: '0 6 * * *', ...PLAIN, ifRunning: 'allow' } });
});

test.each([
  [
    { fires: '', cron: ['0 6 * * *', '0 18 * * *'], ...PLAIN, ifRunning: 'skip' },
    { cron: ['0 6 * * *', '0 18 * * *'] },
  ],
  [
    { fires: '', everyMs: 5_400_000, phaseMs: 30_000, jitterMs: 500, ...PLAIN, ifRunning: 'queue_one' },
    { every: '90m', phase: '30s', jitter: '500ms' },
  ],
  [
    {
      fires: '',
      at: ['2027-01-01T09:00:00Z'],
      limit: 3,
      ...PLAIN,
      ifRunning: 'allow',
      params: { a: [1] },
      runNow: true,
    },
    { at: '2027-01-01T09:00:00Z', limit: 3, params: { a: [1] }, runNow: true },
  ],
  [
    {
      ...{ fires: '', cron: '0 6 * * *', ...PLAIN, ifRunning: 'allow', missedMaxAgeMs: 86_400_000, priority: 'high' },
      calendar: { weekdays: ['MON', 'TUE'], exclude: ['12-24/01-01'] },
    },
    { missedMaxAge: '1d', priority: 'high', calendar: { weekdays: ['MON', 'TUE'], exclude: ['12-24/01-01'] } },
  ],
  [
    {
      ...{ fires: '', cron: '0 6 * * *', ...PLAIN, ifRunning: 'allow', waitMs: 7_200_000, unmet: 'fail' },
      requires: [
        { dag: 'orders', withinMs: 21_600_000 },
        { dag: 'rates', window: 'same' },
      ],
    },
    {
      requires: [
        { dag: 'orders', within: '6h' },
        { dag: 'rates', window: 'same' },
      ],
      wait: '2h',
      unmet: 'fail',
    },
  ],
  [
    {
      ...{ fires: '', cron: '0 6 * * *', ...PLAIN, ifRunning: 'allow', unmet: 'fail' },
      ...{ waitMs: 3_600_000, lookMs: 600_000, jitterMs: 0 },
      requires: [{ dag: 'rates', window: 'same' }],
    },
    { requires: [{ dag: 'rates', window: 'same' }], retry: { every: '10m', times: 6 }, unmet: 'fail', jitter: '0ms' },
  ],
] as const)('a schedule that was read back means the same: %j', (settings, expected) => {
  const read = readSchedule(formOf(settings as unknown as ScheduleSettings));
  expect(read).toEqual({ body: expect.objectContaining(expected) });
  expect(read).toEqual({ body: expect.objectContaining({ zone: 'UTC', ifRunning: settings.ifRunning }) });
});

test.each([
  [{ cron: ' \n ' }, { cron: 'is required' }],
  [{ kind: 'every', every: '' }, { every: 'is required' }],
  [{ limit: 'many' }, { limit: 'must be a whole number' }],
  [{ params: '[1]' }, { params: 'must be a JSON object' }],
  [{ requires: 'orders' }, { requires: '"orders" must be such as "orders within 6h" or "rates same window"' }],
  [{ requires: 'rates same window', retryEvery: '10m' }, { retryTimes: 'must be a whole number from 1' }],
  [
    { requires: 'rates same window', wait: '1h', retryEvery: '10m', retryTimes: '6' },
    { retryTimes: 'goes without a time to wait: empty one of the two' },
  ],
] as const)('%j is refused with %j', (change, faults) => {
  expect(readSchedule({ ...NEW_SCHEDULE, ...change })).toEqual({ faults });
});

test('spans have the largest unit without a rest', () => {
  expect([1_500, 60_000, 86_400_000, 90_061_000].map(spanText)).toEqual(['1500ms', '1m', '1d', '90061s']);
  expect(hasIcal({ calendar: { excludeDays: [] } } as unknown as ScheduleSettings)).toBe(true);
});
