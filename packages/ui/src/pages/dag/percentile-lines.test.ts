import { expect, test } from 'vitest';
import { linesOf } from './percentile-lines.ts';

test('a gap ends a line, and a step alone is a short line of its own', () => {
  const place = { width: 50, height: 102, most: 100 };
  expect(linesOf([100, 0, null, 50, null], place)).toEqual(['5,1 15,101', '31.7,51 38.3,51']);
  expect(linesOf([null], place)).toEqual([]);
});
