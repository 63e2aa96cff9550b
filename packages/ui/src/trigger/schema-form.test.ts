import { expect, test } from 'vitest';
import { type Field, fieldsOf, readFields, readRaw, textsOf } from './schema-form.ts';

const SCHEMA = {
  type: 'object',
  required: ['day', 'size'],
  properties: {
    day: { type: 'string' },
    size: { type: 'integer', minimum: 1, maximum: 10 },
    mode: { enum: ['fast', 3, null], default: 'fast' },
    full: { type: 'boolean' },
    tags: { type: 'array' },
    either: { type: ['string', 'number'] },
    maybe: { type: ['string', 'null'] },
  },
} as const;
const fields = fieldsOf(SCHEMA) as readonly Field[];

test('each property has the field that fits it', () => {
  expect(fields.map(({ name, kind, isRequired, initial }) => [name, kind, isRequired, initial])).toEqual([
    ['day', 'text', true, ''],
    ['size', 'integer', true, ''],
    ['mode', 'choice', false, '"fast"'],
    ['full', 'boolean', false, ''],
    ['tags', 'json', false, ''],
    ['either', 'json', false, ''],
    ['maybe', 'text', false, ''],
  ]);
});

test.each([null, true, false, {}, { type: 'object' }, { type: 'array' }])(
  'without properties there is no form: %j',
  (schema) => {
    expect(fieldsOf(schema)).toBeNull();
  },
);

test('fields become params; what is left empty is left out', () => {
  const texts = { day: '"quoted"', size: '7', mode: '3', full: 'true', tags: '["a"]' };
  expect(readFields(fields, texts)).toEqual({ params: { day: '"quoted"', size: 7, mode: 3, full: true, tags: ['a'] } });
});

test.each([
  [{ day: 'x' }, { size: 'is required' }],
  [{ day: 'x', size: '1.5' }, { size: 'must be a whole number' }],
  [{ day: 'x', size: '11' }, { size: 'must be at most 10' }],
  [{ day: 'x', size: 'many' }, { size: 'is not a number' }],
  [{ day: 'x', size: '2', tags: '[' }, { tags: 'is not JSON' }],
])('%j is refused with %j', (texts, faults) => {
  expect(readFields(fields, texts as Record<string, string>)).toEqual({ faults });
});

test('params of an earlier run fill the form and come back as they were', () => {
  const params = { day: '2026-11-16', size: 3, mode: null, tags: [{ deep: 1 }] };
  expect(readFields(fields, textsOf(fields, params))).toEqual({ params });
  expect(readRaw(' ')).toEqual({ params: null });
  expect(readRaw('{')).toHaveProperty('fault');
});
