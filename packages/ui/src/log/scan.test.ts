import { expect, test } from 'vitest';
import { Scan } from './scan.ts';

test('a log is looked through once, some lines at a time, also while it grows', () => {
  const looked: string[] = [];
  const scan = new Scan<string>((line) => {
    looked.push(line);
    return line === 'bad';
  });
  const lines = ['a', 'b', 'bad', 'c'];
  expect([scan.goOn(lines, 3), scan.count, scan.first]).toEqual([false, 1, 2]);
  expect([scan.goOn(lines, 3), scan.count, scan.first]).toEqual([true, 1, 2]);
  lines.push('bad');
  expect([scan.goOn(lines, 3), scan.count, scan.first]).toEqual([true, 2, 2]);
  expect(looked).toEqual(lines);
});
