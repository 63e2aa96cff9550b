import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprintOf, fingerprintText, firstLineOf, normalizeError, parseFingerprint } from './fingerprint.ts';

const failure = (error: string | null, code: string | null = null) => ({ outcome: 'permanent', code, error }) as const;

describe('failures of one cause have one fingerprint', () => {
  test.each([
    ['numbers', 'row 17 of 300 is bad', 'row 9 of 12 is bad'],
    ['addresses', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 10.1.22.3:6432'],
    [
      'uuids',
      'order 018f3c2e-7d3a-7c11-9b52-1c2d3e4f5a6b not found',
      'order 7c9e6679-7425-40de-944b-e07fc1f90ae7 not found',
    ],
    ['hex', 'object 0xdeadbeef at deadc0de', 'object 0x1 at abcdef12'],
    ['times', 'no answer since 2026-01-01T10:11:12.345Z', 'no answer since 2027-12-31T00:00:00Z'],
    ['quoted texts', `unknown column "a b"`, `unknown column "it's"`],
    ['paths', 'ENOENT: no such file /tmp/x81/in/data.csv', 'ENOENT: no such file /var/folders/zz/data.csv'],
    ['paths of Windows', 'no such file C:\\temp\\a\\data.csv', 'no such file D:\\data.csv'],
    ['addresses of services', 'GET https://api.example.com/v1/users/17?x=2', 'GET https://api.example.com/v2/orders'],
    ['lines after the first', 'boom\nrow 1\nmore', 'boom\nother words'],
    ['lines and columns of frames', 'boom\n    at load (/a/b/etl.js:10:5)', 'boom\n    at load (/c/etl.js:99:1)'],
    ['ids of letters and digits', 'job a1b2c3d4e5 gone', 'job z9y8x7w6v5 gone'],
  ])('%s do not count', (_, one, other) => {
    expect(fingerprintOf(failure(one))).toBe(fingerprintOf(failure(other)));
  });

  test.each([
    ['words', 'connect ECONNREFUSED 1.2.3.4', 'connect ETIMEDOUT 1.2.3.4'],
    ['the file', 'no such file /a/orders.csv', 'no such file /a/users.csv'],
    ['the host', 'GET https://a.example.com/x', 'GET https://b.example.com/x'],
    ['the function of the first frame', 'boom\n    at load (/a.js:1:1)', 'boom\n    at save (/a.js:1:1)'],
    ['an apostrophe is no quote', "can't read it, isn't there", "can't write it, isn't there"],
  ])('%s do', (_, one, other) => {
    expect(fingerprintOf(failure(one))).not.toBe(fingerprintOf(failure(other)));
  });

  test('class and code count', () => {
    const all = [
      failure('x'),
      failure('x', 'http:503'),
      failure('x', 'http:404'),
      { ...failure('x'), outcome: 'lost' as const },
    ];
    expect(new Set(all.map((one) => fingerprintOf(one))).size).toBe(4);
  });
});

test('it is stable: these are stored, and compared with those of later versions', () => {
  expect(
    fingerprintText(fingerprintOf(failure('connect ECONNREFUSED 127.0.0.1:5432', 'error:Error'))),
  ).toMatchInlineSnapshot(`"a84a4374d9c0"`);
  expect(
    normalizeError(`TypeError: Cannot read "x" of row 12\n    at load (file:///a/b/etl.js:10:5)`),
  ).toMatchInlineSnapshot(`
    "TypeError: Cannot read "…" of row 0
    at load (…/etl.js:0:0)"
  `);
});

test('as text and back', () => {
  fc.assert(
    fc.property(fc.string(), (error) => {
      const fingerprint = fingerprintOf(failure(error));
      expect(fingerprint).toBeGreaterThan(0);
      expect(parseFingerprint(fingerprintText(fingerprint))).toBe(fingerprint);
    }),
  );
  expect(parseFingerprint('no hex')).toBeNull();
});

test('whatever numbers, uuids and quoted words stand in the holes of a sentence, the fingerprint is that of the sentence', () => {
  const hole = fc.oneof(
    fc.nat().map(String),
    fc.uuid(),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  );
  const words = fc.array(fc.constantFrom('user', 'order', 'cannot', 'find', 'table', 'TypeError:'), { minLength: 1 });
  fc.assert(
    fc.property(
      words,
      fc.array(hole, { minLength: 20, maxLength: 20 }),
      fc.array(hole, { minLength: 20, maxLength: 20 }),
      (said, a, b) => {
        const fill = (holes: string[]) => said.map((word, i) => `${word} ${holes[i % 20]}`).join(' ');
        expect(fingerprintOf(failure(fill(a)))).toBe(fingerprintOf(failure(fill(b))));
      },
    ),
  );
});

test.each([
  ['quotes', "'a"],
  ['quotes that close nothing', "'a'b "],
  ['digits', '1a'],
  ['separators', '-1'],
  ['slashes', '/a'],
  ['lines', '\n x'],
  ['one long word', 'aB'],
])('the time is bounded by the length, also for a megabyte of %s', (_, piece) => {
  const text = piece.repeat(1_000_000 / piece.length);
  // Only so much of it is looked at: the same work for a megabyte as for its beginning.
  expect(normalizeError(text)).toBe(normalizeError(text.slice(0, 8_000)));
  // Within the test's own time limit.
  for (let i = 0; i < 1_000; i++) fingerprintOf(failure(text));
});

test.each([
  [null, null],
  ['one', 'one'],
  ['one\r\ntwo', 'one'],
  ['x'.repeat(500), 'x'.repeat(300)],
])('the first line of %j', (error, expected) => {
  expect(firstLineOf(error)).toBe(expected);
});
