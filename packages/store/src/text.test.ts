import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ask, Fixtures } from './fixture.testing.ts';
import { decodeText, encodeText, nullableArray, plainArray, textArray, uuidArray } from './text.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

/** Whole code units: halves of surrogate pairs, NUL and the escape itself too. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 1, 0xd800, 0xdc00, 0x22, 0x5c, 0x7b, 0x2c)))
  .map((units) => String.fromCharCode(...units));

test('any text comes back as it was, and no two texts are stored alike', () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      expect(decodeText(encodeText(a))).toBe(a);
      if (a !== b) expect(encodeText(a)).not.toBe(encodeText(b));
    }),
  );
});

test('PostgreSQL reads arrays of any texts as they were meant (I69)', async () => {
  const url = await fixtures.emptyDatabase();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(anyText)), async (texts) => {
      const rows = (await ask(url, 'select unnest($1::text[]) as text', [textArray(texts)])) as {
        text: string | null;
      }[];
      expect(rows.map(({ text }) => (text === null ? null : decodeText(text)))).toEqual(texts);
    }),
    { numRuns: 30 },
  );
});

test.each([
  [
    'NULL',
    'null',
    '',
    ' ',
    '{}',
    '{"a"}',
    'a,b',
    '"',
    '\\',
    "'; drop table run; --",
    '\u0000',
    '\u0001',
    '\ud800',
    '😀',
  ],
])('hostile texts stay one element each', async (...texts) => {
  const url = await fixtures.emptyDatabase();
  const rows = (await ask(url, 'select unnest($1::text[]) as text', [textArray(texts)])) as { text: string | null }[];
  expect(rows.map(({ text }) => decodeText(text ?? ''))).toEqual(texts);
});

test('numbers, nulls and booleans', () => {
  expect(plainArray([1, 2])).toBe('{1,2}');
  expect(plainArray([])).toBe('{}');
  expect(nullableArray([1, null, 0])).toBe('{1,NULL,0}');
  expect(nullableArray([true, null])).toBe('{true,NULL}');
});

test('what is not of the length of a UUID is refused before it can become two', () => {
  expect(() => uuidArray(['NULL,4cf0b0c5-18c0-4b4e-9d6d-000000000001'])).toThrow('not a UUID');
});
