import { expect, test } from 'vitest';
import { search } from '../shell/palette-search.ts';
import { count, fromNow, plural, span } from './format.ts';
import { cronWords } from './schedule-words.ts';

test.each([
  [4, '4 ms'],
  [56, '0.06 s'],
  [812, '0.8 s'],
  [1_500, '1.5 s'],
  [42_000, '42 s'],
  [60_000, '1 min'],
  [119_600, '2 min'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [273_600_000, '3 d 4 h'],
  [-5, '0 ms'],
])('%i ms is %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

test.each([
  [-2_000, 'just now'],
  [2_000, 'in a moment'],
  [-42_000, '42 s ago'],
  [300_000, 'in 5 min'],
  [-7_200_000, '2 h ago'],
  [-259_200_000, '3 d ago'],
])('a time at %i ms from now is "%s"', (ms, text) => {
  expect(fromNow(1e12 + ms, 1e12)).toBe(text);
});

test.each([
  ['* * * * *', 'every minute'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['7 * * * *', 'every hour at :07'],
  ['0 2 * * *', 'every day at 02:00'],
  ['30 6 * * 1-5', 'Monday to Friday at 06:30'],
  ['0 9 * * mon,thu', 'Monday and Thursday at 09:00'],
  ['0 0 1 * *', 'on day 1 of each month at 00:00'],
  ['*/10 * * * * *', 'every 10 seconds'],
  ['0 */6 * * *', 'every 6 hours'],
  ['H 2-4 * * *', 'H 2-4 * * *'],
  ['0 0 1 1 *', '0 0 1 1 *'],
])('%s is "%s"', (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

test('numbers are easy to read', () => {
  expect([count(12_345), plural(1, 'task'), plural(2, 'task')]).toEqual(['12\u202f345', '1 task', '2 tasks']);
});

test('a few letters find what somebody means', () => {
  const entries = ['nightly-warehouse', 'invoice-mails', 'Workers', 'warehouse'].map((label) => ({ label, hint: '' }));
  const found = (query: string) => search(entries, query, 10).map(({ label }) => label);
  expect(found('ware')).toEqual(['warehouse', 'nightly-warehouse']);
  expect(found('nwh')).toEqual(['nightly-warehouse']);
  expect(found('zzz')).toEqual([]);
  expect(found('')).toHaveLength(4);
});
