import { expect, test } from 'vitest';
import type { Line } from './lines.ts';
import { Scan } from './scan.ts';

test('a log is looked through once, some lines at a time, also while it grows', () => {
  const looked: string[] = [];
  const scan = new Scan(({ text }) => {
    looked.push(text);
    return text === 'bad';
  });
  const line = (text: string): Line => ({ no: 0, at: 0, stream: 'stdout', text });
  const lines = ['a', 'b', 'bad', 'c'].map(line);
  expect([scan.goOn(lines, 3), scan.count, scan.isDone(lines)]).toEqual([false, 1, false]);
  expect([scan.goOn(lines, 3), scan.count, scan.isDone(lines)]).toEqual([true, 1, true]);
  lines.push(line('bad'));
  expect(scan.isDone(lines)).toBe(false);
  expect([scan.goOn(lines, 3), scan.count, scan.isDone(lines)]).toEqual([true, 2, true]);
  expect(looked).toEqual(lines.map(({ text }) => text));
});
