import { expect, test } from 'vitest';
import { TokenBuckets } from './rate.ts';
import { derivedSecret, sessionCookie, sessionIn } from './session.ts';

test('a bucket gives its burst at once and then its rate, to each name by itself', () => {
  let now = 0;
  const buckets = new TokenBuckets({ perSecond: 2, burst: 3 }, () => now);
  const take = (name: string) => buckets.take(name);
  expect([take('a'), take('a'), take('a'), take('a')]).toEqual([0, 0, 0, 500]);
  expect(take('b')).toBe(0);
  now += 500;
  expect([buckets.waitFor('a'), take('a'), take('a')]).toEqual([0, 0, 500]);
  now += 3_600_000;
  expect([take('a'), take('a'), take('a'), take('a')]).toEqual([0, 0, 0, 500]);
});

test('something that costs more takes more, and more than a full bucket leaves a debt', () => {
  let now = 0;
  const buckets = new TokenBuckets({ perSecond: 100, burst: 200 }, () => now);
  expect([buckets.take('a', 150), buckets.take('a', 150), buckets.take('a', 50)]).toEqual([0, 1_000, 0]);
  now += 2_000;
  expect([buckets.take('a', 1_000), buckets.take('a')]).toEqual([0, 8_010]);
});

test('however many names there are, a bounded number is remembered (I73)', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, () => 0, 100);
  for (let i = 0; i < 10_000; i++) buckets.take(`name-${i}`);
  expect(buckets.size).toBe(100);
  expect(buckets.waitFor('never-seen')).toBe(0);
  expect(buckets.size).toBe(100);
});

test('the cookie of a session stays behind TLS where there is TLS', () => {
  expect(sessionCookie('t', true)).toBe(
    'signalbox_session=t; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure',
  );
  expect(sessionCookie('t', false)).not.toContain('Secure');
});

test.each([
  [undefined, null],
  ['', null],
  ['other=1', null],
  ['signalbox_session', null],
  ['signalbox_session=', null],
  ['a=1; signalbox_session=sbs_x; b=2', 'sbs_x'],
  ['signalbox_session=a b', null],
  [`signalbox_session=${'x'.repeat(5_000)}`, null],
])('of the cookies %j the session is %j', (header, expected) => {
  expect(sessionIn(header)).toBe(expected);
});

test('a derived secret is the same for the same names, and tells them apart wherever they are cut', () => {
  const key = Buffer.alloc(32, 1);
  expect(derivedSecret(key, ['a', 1, 'b'])).toBe(derivedSecret(key, ['a', 1, 'b']));
  const others = [
    ['a', 1, 'c'],
    ['a', '1', 'b'],
    ['a1', 'b'],
    ['a', 1, 'b', ''],
  ].map((names) => derivedSecret(key, names));
  expect(
    new Set([...others, derivedSecret(key, ['a', 1, 'b']), derivedSecret(Buffer.alloc(32, 2), ['a', 1, 'b'])]).size,
  ).toBe(6);
});
