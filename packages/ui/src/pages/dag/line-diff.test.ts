import { expect, test } from 'vitest';
import { diffLines, hunksOf } from './line-diff.ts';

const signs = { same: ' ', added: '+', removed: '-' };
const told = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => signs[kind] + text);

test.each([
  ['a\nb\nc', 'a\nb\nc', [' a', ' b', ' c']],
  ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
  ['a\nc', 'a\nb\nc', [' a', '+b', ' c']],
  ['a\nb\nc\nd', 'b\nx\nd', ['-a', ' b', '-c', '+x', ' d']],
  ['', 'a', ['-', '+a']],
])('from %j to %j', (before, after, expected) => {
  expect(told(before, after)).toEqual(expected);
});

test('lines have the numbers of their text', () => {
  expect(diffLines('a\nb\nc', 'a\nc').map(({ no }) => no)).toEqual([1, 2, 2]);
});

test('what is far from a change is left out', () => {
  const before = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  const after = before.with(10, 'changed');
  const shown = hunksOf(diffLines(before.join('\n'), after.join('\n')), 1);
  expect(shown.map((line) => line?.text ?? '…')).toEqual(['…', 'line 9', 'line 10', 'changed', 'line 11', '…']);
  expect(hunksOf(diffLines('a', 'a'))).toEqual([]);
});
