import { ERRORS, type ErrorCode, SignalboxError } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { messageAtPrompt, problemsAtPrompt } from './cli-words.ts';
import { jsonFlag, wholeNumber } from './define.ts';
import { explain } from './problem.ts';
import { closest } from './suggest.ts';

/** Words of the API: fields of a body, headers, sending requests. Nobody at a prompt can do anything with them. */
const API_WORDS =
  /"problems"|"params"|"force"|\bheader\b|Retry-After|\bbody\b|[Ss]end (it|the request|the first|the code)|Authorization|\bAsk for\b/;

test.each(Object.keys(ERRORS) as ErrorCode[])('%s is told in words of the prompt', (code) => {
  const { message, remedy } = explain(new SignalboxError(code, { reason: 'so' }));
  expect(`${message} ${remedy}`).not.toMatch(API_WORDS);
});

const definition = {
  name: 'runs try',
  summary: '',
  arguments: [{ name: 'task', what: '' }],
  flags: [
    { flags: '--params <json>', what: '' },
    { flags: '-n, --dry-run', what: '' },
    { flags: '--grace <span>', what: '', field: 'graceMs', read: wholeNumber },
    jsonFlag,
  ],
  examples: [],
  run: async () => {},
};

test.each([
  ['params.cups', '--params: cups is wrong'],
  ['params[2].x', '--params: [2].x is wrong'],
  ['params', '--params is wrong'],
  ['runs[0].params.cups', '--params: cups is wrong'],
  ['graceMs', '--grace is wrong'],
  ['dryRun', '--dry-run is wrong'],
  ['tasks[0]', '<task>: [0] is wrong'],
  ['callbackUrl', 'callbackUrl is wrong'],
])('a problem at %s is told as %j', (path, expected) => {
  expect(problemsAtPrompt([{ path, message: 'is wrong' }], definition)).toEqual([expected]);
});

test('many problems are told in part, with their number', () => {
  const problems = Array.from({ length: 14 }, (_, i) => ({ path: `params.p${i}`, message: 'is wrong' }));
  const lines = problemsAtPrompt(problems, definition);
  expect([lines.length, lines.at(-1)]).toEqual([11, '… and 4 more']);
});

test('a key that was used with another body is told without the word', () => {
  const { message } = new SignalboxError('IDEMPOTENCY_CONFLICT', { key: 'k' });
  expect(messageAtPrompt(message)).toBe('The key k was already used with different params.');
});

test.each([
  ['gret', ['greet', 'other'], ['greet']],
  ['GREET', ['greet'], ['greet']],
  ['rgeet', ['greet'], ['greet']],
  ['coffee', ['coffee-yaml', 'tea'], ['coffee-yaml']],
  ['zzz', ['greet'], []],
  ['a', ['b', 'ab'], ['ab', 'b']],
])('%j among %j is close to %j', (word, names, expected) => {
  expect(closest(word, names).sort()).toEqual(expected);
});
