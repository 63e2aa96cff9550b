import { expect, test } from 'vitest';
import { asReceived, copyOf } from './copy.ts';

const MESSAGE = {
  text: 'a "word"',
  none: null,
  missing: undefined,
  list: [1, undefined, [Number.NaN, Number.POSITIVE_INFINITY, -1.5], { deep: { yes: true } }],
};

test('a copy is what structuredClone makes, and shares nothing', () => {
  const copy = copyOf(MESSAGE);
  expect(copy).toStrictEqual(structuredClone(MESSAGE));
  expect(copy.list).not.toBe(MESSAGE.list);
  expect(copy.list[3]).not.toBe(MESSAGE.list[3]);
});

test('what is received is what JSON makes of it', () => {
  expect(asReceived(MESSAGE)).toStrictEqual(JSON.parse(JSON.stringify(MESSAGE)));
});

test.each([[new Map()], [new Uint8Array(1)], [() => undefined], [Symbol('s')]])('%s is no data', (value) => {
  expect(() => copyOf({ value })).toThrow('is no data');
});
