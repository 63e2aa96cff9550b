import { expect, test } from 'vitest';
import { dateOf, dayOf, dayOfDate, monthOf } from './spent.ts';

test.each([
  ['2026-11-18T13:00:00.000Z', 2026 * 12 + 10, '2026-11-01'],
  ['2026-01-01T00:00:00.000Z', 2026 * 12, '2026-01-01'],
  ['2024-12-31T23:59:59.999Z', 2024 * 12 + 11, '2024-12-01'],
])('%s is in month %i, which begins on %s', (at, month, first) => {
  expect(monthOf(Date.parse(at))).toEqual({ month, fromDay: dayOfDate(first) });
  expect(dateOf(dayOf(Date.parse(at)))).toBe(at.slice(0, 10));
});
