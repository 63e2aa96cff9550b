import { expect, test } from 'vitest';
import { search } from '../shell/palette-search.ts';
import { count, fewOf, fromNow, localTime, plural, shortId, span } from './format.ts';
import { cronWords } from './schedule-words.ts';

test.each([
  [4, '4 ms'],
  [56, '56 ms'],
  [812, '812 ms'],
  [999.7, '1.0 s'],
  [1_000, '1 s'],
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
  [1_500, 'just now'],
  [4_000, 'in a moment'],
  [-42_000, '42 s ago'],
  [300_000, 'in 5 min'],
  [-7_200_000, '2 h ago'],
  [-259_200_000, '3 d ago'],
])('a time at %i ms from now is "%s"', (ms, text) => {
  expect(fromNow(1e12 + ms, 1e12)).toBe(text);
});

test.each([
  ['01a1ec3d-4518-74c1-bfa5-03d33e00001c', '03d33e'],
  ['01a1ec3d-4518-74c1-bfa5-03d33e00021c', '03d33e-2'],
  ['9b2f6c1e-0d3a-4f7e-8a11-5c0ffee12345', '5c0ffe'],
])('run %s is shown as %s: runs of one batch can be told apart', (id, text) => {
  expect(shortId(id)).toBe(text);
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
  ['every 15m', 'every 15 minutes'],
  ['every 1h', 'every hour'],
  ['every 90s', 'every 90 seconds'],
  ['H 2-4 * * *', 'H 2-4 * * *'],
  ['0 0 1 1 *', '0 0 1 1 *'],
])('%s is "%s"', (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

test('numbers are easy to read', () => {
  expect([count(12_345), plural(1, 'task'), plural(2, 'task')]).toEqual(['12\u202f345', '1 task', '2 tasks']);
});

test('a long list is cut, and one more word is not', () => {
  expect(fewOf(['a', 'b', 'c'], 2)).toBe('a, b, c');
  expect(fewOf(['a', 'b', 'c', 'd'], 2)).toBe('a, b and 2 more');
});

test('a time of today has its day where a range needs it', () => {
  const now = new Date(2026, 10, 17, 14).getTime();
  const at = new Date(2026, 10, 17, 10, 53, 51).getTime();
  expect(localTime(at, now)).toBe('10:53:51');
  expect(localTime(at, now, true)).toMatch(/17.*10:53:51/);
});

test('a few letters find what somebody means', () => {
  const entries = ['nightly-warehouse', 'invoice-mails', 'Workers', 'warehouse'].map((label) => ({ label, hint: '' }));
  const found = (query: string) => search(entries, query, 10).map(({ label }) => label);
  expect(found('ware')).toEqual(['warehouse', 'nightly-warehouse']);
  expect(found('nwh')).toEqual(['nightly-warehouse']);
  expect(found('zzz')).toEqual([]);
  expect(found('')).toHaveLength(4);
});
