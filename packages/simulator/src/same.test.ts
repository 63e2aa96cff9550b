import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSame } from './same.ts';

test('values are the same only if their text is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      if (isSame(a, b)) expect(JSON.stringify(a)).toBe(JSON.stringify(b));
    }),
  );
});

test('a copy is the same, and one that differs deep inside is not', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const deep = (leaf: unknown) => ({ rows: [1, { value, leaf }] });
      expect(isSame(deep(1), deep(1))).toBe(true);
      expect(isSame(deep(1), deep(2))).toBe(false);
      expect(isSame(deep(1), { rows: [1, { leaf: 1, value }] })).toBe(false);
    }),
  );
});

test('what is not plain is never found to be the same, except itself', () => {
  const map = new Map([[1, 2]]);
  expect(isSame(map, new Map([[1, 3]]))).toBe(false);
  expect(isSame(new Uint8Array([1]), new Uint8Array([2]))).toBe(false);
  expect(isSame({ map }, { map })).toBe(true);
});
