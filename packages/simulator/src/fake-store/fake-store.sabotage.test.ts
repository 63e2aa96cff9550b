/** A test of the tests: a store with one of its guards taken out does not pass. */
import { type ConformanceGroup, findings } from '@signalbox/store/conformance';
import { expect, test } from 'vitest';
import { fakeSubject } from './fake-subject.ts';
import type { Sabotage } from './faults.ts';

const CASES: readonly (readonly [Partial<Sabotage>, ConformanceGroup, RegExp])[] = [
  [{ epochCheck: false }, 'fencing', /epoch of before/],
  [{ commitNoCheck: false }, 'fencing', /commit number/],
  [{ chainCheck: false }, 'fencing', /even when it touches only other shards/],
  [{ voidOlderChains: false }, 'chains', /voids the older one/],
  [{ lock: false }, 'takeover', /late bytes change nothing/],
  [{ lock: false }, 'takeover', /a take waits for a commit/],
  [{ lock: false }, 'chaos', /handovers/],
  [{ epochCheck: false }, 'chaos', /handovers/],
  [{ loadBeforeTake: true }, 'takeover', /loads what it did/],
];

test.each(CASES)('the suite finds a store with %j in %s: %s', async (sabotage, group, expected) => {
  const found = await findings([group], () => fakeSubject({ sabotage }));
  expect(found).toContainEqual(expect.stringMatching(expected));
});

test('the suite finds nothing in a store that is whole', async () => {
  expect(await findings(['fencing', 'chains', 'takeover'], () => fakeSubject())).toEqual([]);
});
