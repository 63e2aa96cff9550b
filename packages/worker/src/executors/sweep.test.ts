import { expect, test } from 'vitest';
import { youngerThan } from './sweep.ts';

test.each([
  [1_000, [1_000, 1_001, 17_000], [999, 1, 17_500]],
  [32_000, [32_000, 32_700, 5, 15_000], [31_999, 16_000]],
])('what began after process %i has a pid in the half of the circle that begins there', (pid, younger, older) => {
  const isYounger = youngerThan({ pid, startedAt: 0 }, 100, 32_768);
  expect(younger.map((other) => isYounger?.(other))).toEqual(younger.map(() => true));
  expect(older.map((other) => isYounger?.(other))).toEqual(older.map(() => false));
});

test('after a while nothing is left out: the pids may have gone round', () => {
  expect(youngerThan({ pid: 1_000, startedAt: 0 }, 400, 32_768)).toBeNull();
  expect(youngerThan({ pid: 1_000, startedAt: 0 }, 0, 0)).toBeNull();
});
