import { expect, test } from 'vitest';
import { plainOf, readAnsi } from './ansi.ts';

const show = (line: string) =>
  readAnsi(line).map(({ text, colour, background, isBold }) => [text, colour, background, isBold]);

test.each([
  ['plain', [['plain', null, null, false]]],
  [
    '\u001b[31mred\u001b[0m not',
    [
      ['red', 1, null, false],
      [' not', null, null, false],
    ],
  ],
  ['\u001b[1;92;44mloud', [['loud', 10, 4, true]]],
  [
    '\u001b[38;5;196mx\u001b[38;2;1;2;300my',
    [
      ['x', '#ff0000', null, false],
      ['y', '#0102ff', null, false],
    ],
  ],
  ['\u001b[2J\u001b[1;1Hcursor', [['cursor', null, null, false]]],
  ['\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007', [['link', null, null, false]]],
  [' 10 %\r 50 %\r100 %\r', [['100 %', null, null, false]]],
  ['a\u202eb\u0000c', [['a⟨U+202E⟩b\ufffdc', null, null, false]]],
  ['\u001b[31', [['\ufffd[31', null, null, false]]],
])('%j', (line, expected) => {
  expect(show(line)).toEqual(expected);
});

test('the text to search in has no colours', () => {
  expect(plainOf('\u001b[31mred\u001b[0m flag')).toBe('red flag');
});
