import { expect, test } from 'vitest';
import { hashOf } from '../schedule/spread.ts';
import { MAX_KEY_CHARS, runKeyOf } from './run-key.ts';

const keyOf = (text: string) => runKeyOf({ key: [text], text, limit: 1, onFull: 'queue' }, null);

test('a key is kept as it is up to its limit, and shortened beyond', () => {
  expect(keyOf('a'.repeat(MAX_KEY_CHARS))).toBe('a'.repeat(MAX_KEY_CHARS));
  expect(keyOf('a'.repeat(MAX_KEY_CHARS + 1)).length).toBeLessThanOrEqual(MAX_KEY_CHARS);
});

test('long keys that one hash takes for the same stay apart', () => {
  const [one, other] = [`${'a'.repeat(MAX_KEY_CHARS)}602928`, `${'a'.repeat(MAX_KEY_CHARS)}1429584`];
  expect(hashOf(one)).toBe(hashOf(other));
  expect(keyOf(one)).not.toBe(keyOf(other));
});
