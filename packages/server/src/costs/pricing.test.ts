import { rateCardSchema } from '@signalbox/protocol';
import type { UsageRow } from '@signalbox/store';
import { expect, test } from 'vitest';
import { costOf, daysOf, priced, sumOf } from './pricing.ts';

const HOUR = 3_600_000;
const card = rateCardSchema.parse({
  currency: 'EUR',
  slotHour: 2,
  cpuHour: 10,
  gibHour: 1,
  burst: { aboveSlots: 4, premium: 1.5 },
});
const row = (more: Partial<UsageRow> = {}): UsageRow => ({
  ...{ key: 'etl', cardNo: 0, priority: 2, attempts: 1, slotMs: 0, burstMs: 0, cpuMs: 0, memoryMibMs: 0 },
  ...more,
});

test.each<[string, Partial<UsageRow>, number]>([
  ['an hour of a slot', { slotMs: HOUR }, 2],
  ['as critical', { slotMs: HOUR, priority: 0 }, 6],
  ['a quarter of it as burst', { slotMs: HOUR, burstMs: HOUR / 4 }, 2.25],
  ['six minutes of processor', { cpuMs: HOUR / 10 }, 1],
  ['512 MiB for an hour', { memoryMibMs: 512 * HOUR }, 0.5],
  ['all of it as critical', { slotMs: HOUR, burstMs: HOUR, cpuMs: HOUR, memoryMibMs: 1_024 * HOUR, priority: 0 }, 42],
])('%s', (_, more, cost) => {
  expect(costOf(row(more), card)).toBeCloseTo(cost, 9);
});

test('each day has the card that was set last before it, and days before the first have none', () => {
  const cards = [
    { fromDay: 10, card },
    { fromDay: 12, card: { ...card, burst: null } },
  ];
  expect(daysOf(cards, 8, 13)).toEqual([
    { day: 10, cardNo: 0, burstAboveSlots: 4 },
    { day: 11, cardNo: 0, burstAboveSlots: 4 },
    { day: 12, cardNo: 1, burstAboveSlots: null },
    { day: 13, cardNo: 1, burstAboveSlots: null },
  ]);
});

test('the total is the sum of the parts, under whatever cards', () => {
  const cards = [
    { fromDay: 1, card },
    { fromDay: 2, card: { ...card, slotHour: 4 } },
  ];
  const list = priced([row({ slotMs: HOUR }), row({ cardNo: 1, slotMs: HOUR / 2, attempts: 2 })], cards);
  expect(sumOf(list)).toMatchObject({ attempts: 3, slotHours: 1.5, cost: 4 });
});
