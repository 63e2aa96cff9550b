import { expect, test } from 'vitest';
import { Folding } from './folding.ts';
import type { Line } from './lines.ts';

const line = (text: string, no: number, stream: Line['stream'] = 'stderr'): Line => ({ no, at: 0, stream, text });
const TEXTS = ['start', 'Error: no', '  at a', '  at b', '  at c', '  at d', 'next', '  one', '  two', 'end'];
const LINES = TEXTS.map((text, no) => line(text, no));

test('a stack trace is hidden behind its first line, and two lines are not', () => {
  const folding = new Folding(new Set());
  folding.goOn(LINES);
  expect(folding.shown).toEqual([0, 1, 6, 7, 8, 9]);
  expect([...folding.sizes]).toEqual([[1, 4]]);
  expect([folding.rowOf(4), folding.rowOf(6), folding.rowOf(9)]).toEqual([1, 2, 5]);
});

test('it is the same when lines arrive one by one, and what is open is shown', () => {
  const folding = new Folding(new Set());
  for (let end = 1; end <= LINES.length; end++) folding.goOn(LINES.slice(0, end));
  expect(folding.shown).toEqual([0, 1, 6, 7, 8, 9]);
  const open = new Folding(new Set([1]));
  open.goOn(LINES);
  expect(open.shown).toHaveLength(LINES.length);
  expect([...open.sizes]).toEqual([[1, 4]]);
});

test('lines of another stream or task do not belong to it', () => {
  const folding = new Folding(new Set());
  folding.goOn([line('Error', 0), line('  a', 1, 'stdout'), line('  b', 2, 'stdout'), line('  c', 3), line('  d', 4)]);
  expect(folding.shown).toEqual([0, 1, 2, 3, 4]);
});
