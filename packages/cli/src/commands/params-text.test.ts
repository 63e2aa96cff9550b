import { expect, test } from 'vitest';
import { paramsText } from './params-text.ts';

test.each([
  [null, 'params: any JSON'],
  [true, 'params: any JSON'],
  [false, 'params: none'],
  [{ anyOf: [{ type: 'null' }] }, 'params: {"anyOf":[{"type":"null"}]}'],
] as const)('the schema %j is told as a sentence', (schema, expected) => {
  expect(paramsText(schema as never)).toBe(expected);
});

test('each param has a line: its type, whether it must be given, its default and its description', () => {
  const text = paramsText({
    type: 'object',
    required: ['cups', 'size'],
    additionalProperties: false,
    properties: {
      cups: { type: 'integer', minimum: 1, maximum: 9, description: 'how many' },
      size: { enum: ['small', 'large'] },
      notes: { type: 'array', items: { type: 'string' }, default: [] },
      extra: {},
    },
  });
  const [head, ...lines] = text.split('\n');
  expect(head).toContain('param (only these)');
  expect(lines.map((line) => line.replace(/ {2,}/g, ' | '))).toEqual([
    'cups | integer, from 1, to 9 | required | how many',
    'size | "small" or "large" | required',
    'notes | array of string | []',
    'extra | any',
  ]);
});

test('what an author wrote cannot steer the terminal', () => {
  expect(paramsText({ properties: { '\u001b[2J': { type: 'string' } } })).not.toContain('\u001b[2J');
});
