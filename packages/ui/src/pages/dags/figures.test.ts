import { expect, test } from 'vitest';
import { successRate } from './figures.ts';

test('the rate leaves out runs that somebody cancelled', () => {
  expect(successRate({ succeeded: 9, failed: 1 })).toBe(90);
  expect(successRate({ succeeded: 0, failed: 0 })).toBeNull();
});
