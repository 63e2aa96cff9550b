import { expect, test } from 'vitest';
import { isoOf } from './range.ts';

test.each([
  ['2027-03-01', '2027-03-01T00:00:00.000Z'],
  [' 2027-03-01 06:30 ', '2027-03-01T06:30:00.000Z'],
  ['2027-03-01T06:30:15+02:00', '2027-03-01T04:30:15.000Z'],
  ['2027-13-01', null],
  ['yesterday', null],
  ['', null],
])('%j is %j', (text, iso) => {
  expect(isoOf(text)).toBe(iso);
});
