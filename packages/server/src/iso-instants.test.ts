import { expect, test } from 'vitest';
import { toIso } from './iso-instants.ts';

test('instants are written as Date writes them, in any order', () => {
  const second = Date.UTC(2026, 10, 18, 20, 44, 7);
  const instants = [
    second,
    second + 1,
    second + 10,
    second + 999,
    second + 1_000,
    second - 1,
    0,
    -1,
    -62_198_755_200_000,
  ];
  for (const at of [...instants, ...instants, 253_402_300_800_000, 1.5, 8.64e15]) {
    expect(toIso(at)).toBe(new Date(at).toISOString());
  }
  expect(() => toIso(8.64e15 + 1_000)).toThrow(RangeError);
  expect(() => toIso(Number.NaN)).toThrow(RangeError);
  expect(toIso(second)).toBe(new Date(second).toISOString());
});
