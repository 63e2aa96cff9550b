import { rateCardSchema } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { costOfAttempt } from './attempt-cost.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const card = (slotHour: number) => rateCardSchema.parse({ currency: 'EUR', slotHour, cpuHour: 2, gibHour: 1 });
const cards = [
  { fromDay: 10, card: card(1) },
  { fromDay: 11, card: card(3) },
];
const nothing = { cpuMs: null, peakMemoryBytes: null, priority: 'normal' } as const;

test('slot time, processor time and memory have their prices', () => {
  const [claimedAt, endedAt] = [10 * DAY, 10 * DAY + 2 * HOUR];
  expect(costOfAttempt({ claimedAt, endedAt, ...nothing }, cards)).toEqual({ amount: 2, currency: 'EUR' });
  const used = { cpuMs: HOUR / 2, peakMemoryBytes: 2 ** 30 };
  expect(costOfAttempt({ claimedAt, endedAt, ...nothing, ...used }, cards)?.amount).toBe(2 + 1 + 2);
});

test('each day has the prices of its card, and a class its factor', () => {
  const [claimedAt, endedAt] = [11 * DAY - HOUR, 11 * DAY + HOUR];
  const attempt = { claimedAt, endedAt, ...nothing };
  expect(costOfAttempt(attempt, cards)?.amount).toBe(1 + 3);
  expect(costOfAttempt({ ...attempt, priority: 'critical' }, cards)?.amount).toBe(3 * (1 + 3));
});

test('before the first card nothing has a price, and a clock that went back makes no time', () => {
  expect(costOfAttempt({ claimedAt: 9 * DAY, endedAt: 9 * DAY + HOUR, ...nothing }, cards)).toBeNull();
  expect(costOfAttempt({ claimedAt: 10 * DAY + HOUR, endedAt: 10 * DAY, ...nothing }, cards)?.amount).toBe(0);
});
