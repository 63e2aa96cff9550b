import { expect, test } from 'vitest';
import { highlight, type Language, languageOf } from './highlight.ts';

const kinds = (text: string, language: Language) =>
  highlight(text, language)
    .filter(({ text: piece, kind }) => kind !== 'plain' && piece !== '')
    .map(({ text: piece, kind }) => `${kind} ${piece}`);

test('strings, numbers, words and keys of JSON are told apart', () => {
  expect(kinds('{ "rows": -1.5e3, "a\\"b": ["x", true, null] }', 'json')).toEqual([
    'key "rows"',
    'number -1.5e3',
    'key "a\\"b"',
    'string "x"',
    'keyword true',
    'keyword null',
  ]);
});

test('a quote in a comment begins no string, and a comment in a string is none', () => {
  expect(kinds("const a = 'http://x'; // it's\nreturn `a\n${b}`", 'script')).toEqual([
    'keyword const',
    "string 'http://x'",
    "comment // it's",
    'keyword return',
    'string `a\n${b}`',
  ]);
  expect(kinds('run: echo "#1" # note\nurl: a#b', 'hash')).toEqual([
    'key run',
    'string "#1"',
    'comment # note',
    'key url',
  ]);
});

test('the pieces are the text, whatever it is', () => {
  const odd = '\u202e"unfinished \n<script>alert(`1`)</script> /* open';
  for (const language of ['json', 'script', 'hash'] as const)
    expect(
      highlight(odd, language)
        .map(({ text }) => text)
        .join(''),
    ).toBe(odd);
  expect(['a.ts', 'a.py', 'a.yaml', 'a.json'].map(languageOf)).toEqual(['script', 'hash', 'hash', 'json']);
});
