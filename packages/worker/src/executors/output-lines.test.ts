import { expect, test } from 'vitest';
import { isLines, parseLines } from './output-lines.ts';

test.each([
  ['rows=12', { rows: '12' }],
  ['rows=12\n\npath=/tmp/a b\n', { rows: '12', path: '/tmp/a b' }],
  ['equation=a=b', { equation: 'a=b' }],
  ['empty=', { empty: '' }],
  ['rows=12\r\npath=x\r\n', { rows: '12', path: 'x' }],
  ['json={"a":1}', { json: '{"a":1}' }],
  ['text<<END\nfirst\n\nrows=3\nEND\nrows=4', { text: 'first\n\nrows=3', rows: '4' }],
])('%j is an object of texts', (text, expected) => {
  expect(isLines(text)).toBe(true);
  expect(parseLines(text)).toEqual(expected);
});

test.each(['{"a":1}', '"a=b"', '[1]', '12', 'null', 'true', 'nope', '=x', '1a=b', '{ a=b }'])(
  '%j is not of this form',
  (text) => expect(isLines(text)).toBe(false),
);

test.each([
  ['rows=1\nand more', 'line 2 is not name=value'],
  ['rows=1\nrows=2', 'line 2 gives rows a second time'],
  ['text<<END\nx', 'no later line is "END"'],
  ['text<<\nx', 'line 1 opens text'],
])('%j is refused with its line', (text, message) => {
  expect(() => parseLines(text)).toThrow(message);
});

test('a name of the prototype is a name', () => {
  expect(Object.entries(parseLines('__proto__=x'))).toEqual([['__proto__', 'x']]);
});
