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
  expect([scan.goOn(lines, 3), scan.count, scan.first]).toEqual([false, 1, 2]);
  expect([scan.goOn(lines, 3), scan.count, scan.first]).toEqual([true, 1, 2]);
  lines.push(line('bad'));
  expect([scan.goOn(lines, 3), scan.count, scan.first]).toEqual([true, 2, 2]);
  expect(looked).toEqual(lines.map(({ text }) => text));
});
