import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../model/task/backoff.ts';
import { scenario } from '../../testing/scenario.ts';
import { job, NO_RETRY } from '../../testing/specs.ts';

describe('each ended attempt counts once, against the budget of its class (I39)', () => {
  test.each([
    ['transient', 1, 1],
    ['transient', 3, 3],
    ['timeout', 3, 3],
    ['resource', 3, 3],
    ['stuck', 3, 3],
    ['cancelled', 2, 2],
    ['permanent', 3, 1],
  ] as const)('%s with a budget of %i makes %i attempts', (outcome, maxAttempts, expected) => {
    const box = scenario({ dag: job({ retry: { maxAttempts, baseMs: 0 } }) });
    for (let no = 1; no <= expected; no++) {
      const attempt = box.claim('job');
      expect(attempt.claim.attemptNo).toBe(no); // numbered without a gap (I23)
      box.report(attempt, outcome);
    }
    expect(box.tryClaim()).toBeNull();
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('lost attempts have a budget of their own, and do not use up the other (I28, I39)', () => {
    const box = scenario({ dag: job({ retry: { maxAttempts: 2, maxLost: 2, baseMs: 0 } }) });
    box.claim('job');
    box.advance('16s'); // lost: 1 of 2
    box.report(box.claim('job'), 'transient'); // transient: 1 of 2
    const third = box.claim('job');
    expect(third.claim.attemptNo).toBe(3);
    box.report(third, 'transient'); // transient: 2 of 2
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a task that fails and then succeeds has succeeded', () => {
    const box = scenario({ dag: job({ retry: { maxAttempts: 2, baseMs: 0 } }) });
    box.report(box.claim('job'), 'transient');
    box.report(box.claim('job'), 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});

describe('a retry starts no earlier than its backoff (I40)', () => {
  const retry = { maxAttempts: 2, minMs: 5_000, baseMs: 5_000, maxMs: 5_000 };

  test('and as soon as it is over', () => {
    const box = scenario({ dag: job({ retry }) });
    box.report(box.claim('job'), 'transient');
    box.advance('4.999s');
    expect(box.task('job').state).toBe('retrying');
    expect(box.tryClaim()).toBeNull();
    box.advance('1ms');
    expect(box.task('job').state).toBe('ready');
  });

  test.each(['1h', '-24h'] as const)('a wall clock that leaps by %s does not matter', (leap) => {
    const box = scenario({ dag: job({ retry }) });
    box.report(box.claim('job'), 'transient');
    box.leap(leap).advance('4.9s');
    expect(box.tryClaim()).toBeNull();
    box.advance('0.2s');
    expect(box.tryClaim()).not.toBeNull();
  });

  test('a handover neither shortens it nor starts it over (I41)', () => {
    const box = scenario({ dag: job({ retry }) });
    box.report(box.claim('job'), 'transient');
    box.advance('3s').killOwner().advance('1.9s');
    expect(box.tryClaim()).toBeNull();
    box.advance('0.2s');
    expect(box.tryClaim()).not.toBeNull();
  });

  test('with a clock that went back over a handover it is no longer than it can have been', () => {
    const box = scenario({ dag: job({ retry }) });
    box.report(box.claim('job'), 'transient');
    box.leap('-24h').killOwner().advance('5s');
    expect(box.tryClaim()).not.toBeNull();
  });
});

test('the backoff is finite and within [min, max] for every policy and every attempt number (I40)', () => {
  const policies = fc.record({
    minMs: fc.nat({ max: 1e9 }),
    baseMs: fc.nat({ max: 1e9 }),
    factor: fc.double({ min: 1, max: 1e9, noNaN: true }),
    maxMs: fc.nat({ max: 1e9 }),
  });
  const counts = fc.integer({ min: 1, max: 2 ** 31 - 1 });
  fc.assert(
    fc.property(
      policies,
      counts,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (part, count, chance) => {
        const delay = backoffMs({ ...NO_RETRY, ...part }, count, chance);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(part.minMs);
        expect(delay).toBeLessThanOrEqual(Math.max(part.minMs, part.maxMs));
      },
    ),
  );
});

test.each([
  [1, 100],
  [2, 200],
  [5, 1_600],
  [8, 5_000],
  [5_000, 5_000],
])('after failure %i it is at most %i ms', (count, most) => {
  const policy = { ...NO_RETRY, minMs: 10, baseMs: 100, factor: 2, maxMs: 5_000 };
  expect(backoffMs(policy, count, 0)).toBe(10);
  expect(backoffMs(policy, count, 1 - Number.EPSILON)).toBe(most);
  expect(backoffMs({ ...policy, baseMs: 0 }, count, 0.9)).toBe(10);
});
