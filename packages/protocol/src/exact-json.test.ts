import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InexactJson, isExactNumber, lostNumberIn, parseExactJson } from './exact-json.ts';

const refusal = (text: string): string | null => {
  try {
    parseExactJson(text);
    return null;
  } catch (error) {
    if (!(error instanceof InexactJson)) throw error;
    return error.message;
  }
};

test.each([
  ['9007199254740993', false],
  ['9007199254740992', true],
  ['-9007199254740993', false],
  ['12345678901234567890', false],
  ['100000000000000000000000', true],
  ['1e400', false],
  ['-1e400', false],
  ['1e-400', false],
  ['0e-400', true],
  ['0.0', true],
  ['-0', true],
  ['0.1', true],
  ['0.30000000000000004', true],
  ['0.10000000000000001', true], // as printf("%.17g") writes it
  ['1.10', true],
  ['0.1234567890123456789', false],
  ['3.14159265358979323846', false],
  ['1.7976931348623157e308', true],
  ['1.7976931348623159e308', false],
  ['5e-324', true],
  ['1E+2', true],
  ['123.456e-7', true],
  ['1.000000000000000000000', true],
  [`1${'0'.repeat(400)}`, false],
])('%s survives: %s', (token, survives) => {
  expect(isExactNumber(token)).toBe(survives);
  expect(refusal(`[${token}]`) === null).toBe(survives);
});

test.each([
  ['{"a":1,"a":2}', 'a: stands twice'],
  ['{"a":{"b":[0,{"c":1,"c":1}]}}', 'a.b[1].c: stands twice'],
  [String.raw`{"x":1,"\u0078":2}`, 'x: stands twice'],
  ['{"a":1,"b":{"a":1}}', null],
  ['[{"a":1},{"a":1}]', null],
  ['{"__proto__":1,"a":{"__proto__":2}}', null],
  ['{"__proto__":1,"__proto__":2}', '__proto__: stands twice'],
  ['{"a":"b:c","d":"{\\"a\\":1,\\"a\\":2}"}', null],
  ['{"a":"9007199254740993 1e400"}', null],
  ['{"rows":[1,2,{"id":9007199254740993}]}', 'rows[2].id: the number 9007199254740993'],
  ['9007199254740993', 'the number 9007199254740993'],
  ['{ "a" : [ [ ] , { } , 1e400 ] }', 'a[2]: the number 1e400'],
  ['{"a":"\\\\","a":1}', 'a: stands twice'],
])('%s: %s', (text, expected) => {
  if (expected === null) expect(refusal(text)).toBeNull();
  else expect(refusal(text)).toContain(expected);
});

test('what is no JSON is a SyntaxError', () => {
  expect(() => parseExactJson('{"a":')).toThrow(SyntaxError);
});

test('whatever JSON.stringify writes is read as it was', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      const written = JSON.stringify(JSON.parse(text));
      expect(JSON.stringify(parseExactJson(written))).toBe(written);
    }),
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(refusal(JSON.stringify([value]))).toBeNull();
      expect(refusal(`[${value.toPrecision(17)}]`)).toBeNull();
    }),
  );
});

/** The least of several: what else the machine does only adds to it. */
function costOf(text: string): number {
  const costs = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    refusal(text);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...costs);
}

test.each<[string, (size: number) => string]>([
  ['a long text of escapes', (size) => `"${'\\\\'.repeat(size)}"`],
  ['a long number', (size) => `[${'1'.repeat(size)}]`],
  ['a number with many zeros', (size) => `[1${'0'.repeat(size)}1]`],
  ['a number with many zeros behind the point', (size) => `[0.${'0'.repeat(size)}1]`],
  [
    'many keys, one of them twice',
    (size) => `{${Array.from({ length: size / 10 }, (_, i) => `"k${i}":1`).join()},"k0":2}`,
  ],
])('%s costs linear time', (_what, make) => {
  const [small, large] = [costOf(make(62_500)), costOf(make(500_000))];
  // Eight times as long: linear is 8, quadratic 64. Less than a few milliseconds can't be compared.
  expect(large).toBeLessThan(30 * Math.max(small, 3_000));
});

test('deep nesting is read or refused without an overflow of the stack', () => {
  expect(() => refusal('['.repeat(5_000) + ']'.repeat(5_000))).not.toThrow();
});

test.each([
  [{ a: [1, Number.NaN] }, 'a[1]: NaN'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [{ a: null, b: undefined }, null],
  [{ at: new Date(Number.NaN) }, null],
])('numbers that JSON has no word for are found: %#', (value, expected) => {
  const found = lostNumberIn(value, JSON.stringify(value));
  const told = found === null ? null : [found.path, found.message].filter((part) => part !== '').join(': ');
  if (expected === null) expect(told).toBeNull();
  else expect(told).toContain(expected);
});
