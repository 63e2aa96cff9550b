import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test.each([
  [0, '0 slots'],
  [1, '1 slot'],
  [2, '2 slots'],
])('%d is told as "%s"', (value, text) => {
  expect(counted(value, 'slot')).toBe(text);
});

test('some nouns do not only get an s', () => {
  expect([counted(1, 'run continues', 'runs continue'), counted(2, 'run continues', 'runs continue')]).toEqual([
    '1 run continues',
    '2 runs continue',
  ]);
});
