import { expect, test } from 'vitest';
import { hours, money } from './money.ts';

test.each([
  [0, '0.00'],
  [0.00123, '< 0.01'],
  [1234.5, '1\u202f234.50'],
  [9.999, '10.00'],
])('%d is shown as %s', (value, text) => {
  expect(money(value)).toBe(text);
});

test.each([
  [0, '0'],
  [0.001, '< 0.01'],
  [1.234, '1.23'],
  [12_345.6, '12\u202f346'],
])('%d hours are shown as %s', (value, text) => {
  expect(hours(value)).toBe(text);
});
