import { expect, test } from 'vitest';
import { LinearPattern, PatternFault } from './linear-pattern.ts';

const PATTERNS = [
  '^\\d{4}-\\d{2}-\\d{2}$',
  'a',
  '',
  '^$',
  '^(?:ab|cd)*$',
  '^[a-c-]+$',
  '^[^a-c]*$',
  'x{2,}y?',
  '^a{0,2}b{1}$',
  '(a|b)?c+|^d.e$',
  '^\\w+\\s\\S\\W$',
  '[\\d.]+\\.',
  '^a+?b$',
  'a^b|b$a',
  '^(a*)*b$',
];
const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'abab',
  'abcd',
  'aab',
  'aaab',
  'xx',
  'xxy',
  'cc',
  'dxe',
  'd\ne',
  '2026-11-16',
  '2026-1-16',
  'a-b',
  'zz',
  'foo b!',
  '1.2.',
  '😀',
];

test.each(PATTERNS)('%s matches as the built-in one does', (source) => {
  const [ours, theirs] = [new LinearPattern(source), new RegExp(source, 'u')];
  for (const text of TEXTS) expect([text, ours.test(text)]).toEqual([text, theirs.test(text)]);
});

test.each([
  ['(a', 'not closed'],
  ['a)', 'closes nothing'],
  ['[a', 'not closed'],
  ['*a', 'nothing before it'],
  ['a**', 'one count follows another'],
  ['a{3,1}', 'goes backwards'],
  ['a{x}', 'begins no count'],
  ['(?=a)', 'look-around'],
  ['\\b', 'not understood'],
  ['\\1', 'not understood'],
  ['[b-a]', 'goes backwards'],
  ['((a{1000}){1000}){9}', 'too large'],
  ['('.repeat(60) + ')'.repeat(60), 'too deeply'],
  ['a\\', 'ends the pattern'],
])('%s is refused: %s', (source, why) => {
  expect(() => new LinearPattern(source)).toThrow(PatternFault);
  expect(() => new LinearPattern(source)).toThrow(why);
});

test('what makes others go back for ever costs one pass over the text (I68)', () => {
  const pattern = new LinearPattern('^(a+)+$');
  expect(pattern.test(`${'a'.repeat(50_000)}b`)).toBe(false);
  expect(pattern.test('a'.repeat(50_000))).toBe(true);
});
