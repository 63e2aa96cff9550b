import { describe, expect, test } from 'vitest';
import { scenario } from '../../testing/scenario.ts';
import { job, NO_RETRY } from '../../testing/specs.ts';
import type { RetryPolicy } from '../dag/spec.ts';
import { FAILURE_CLASSES } from './outcome.ts';
import { fitsCode, fitsText, isRetryable } from './retry-rule.ts';

describe('whether a failure is worth another attempt', () => {
  const policy: RetryPolicy = {
    ...NO_RETRY,
    maxAttempts: 9,
    on: ['transient', 'permanent'],
    codes: [
      { match: 'http:503', retry: true },
      { match: 'http:5*', retry: false },
      { match: 'exit:75', retry: true },
    ],
    errors: [
      { match: 'quota', retry: false },
      { match: 'lock * timed out', retry: true },
    ],
  };

  test.each([
    ['the first code that fits', 'timeout', 'http:503', 'over quota', true],
    ['a code before a text', 'transient', 'http:500', 'lock a timed out', false],
    ['a text before the class', 'transient', 'http:404', 'over quota', false],
    ['a text before the class, the other way', 'timeout', null, 'lock a timed out', true],
    ['the class, when nothing fits', 'transient', 'exit:1', 'no', true],
    ['the class, when nothing is said', 'permanent', null, null, true],
    ['a class that is not named', 'timeout', 'exit:1', 'no', false],
    ['a code that says yes against the class', 'stuck', 'exit:75', null, true],
    ['nothing for a lost attempt', 'lost', 'http:500', 'quota', true],
    ['nothing for a stopped attempt', 'cancelled', 'http:500', 'quota', true],
  ] as const)('%s counts', (_, outcome, code, error, expected) => {
    expect(isRetryable(policy, { outcome, code, error })).toBe(expected);
  });

  test('all classes but permanent are tried again unless told', () => {
    const retried = FAILURE_CLASSES.filter((outcome) => isRetryable(NO_RETRY, { outcome, code: null, error: null }));
    expect(retried).toEqual(['transient', 'timeout', 'stuck', 'resource']);
  });

  test.each([
    ['exit:1', 'exit:1', true],
    ['exit:1', 'exit:137', false],
    ['exit:*', 'exit:137', true],
    ['exit:*', 'signal:SIGKILL', false],
  ])('the code pattern %s and %s: %s', (match, code, expected) => {
    expect(fitsCode(match, code)).toBe(expected);
  });

  test.each([
    ['reset', 'connection reset by peer', true],
    ['conn*peer', 'connection reset by peer', true],
    ['peer*conn', 'connection reset by peer', false],
    ['aa*aa', 'aaa', false],
    ['*', 'anything', true],
  ])('the text pattern %s and "%s": %s', (match, text, expected) => {
    expect(fitsText(match, text)).toBe(expected);
  });

  test('a pattern made to be slow is not: this would not end if it went back (I68)', () => {
    for (let i = 0; i < 20; i++) expect(fitsText(`${'a*'.repeat(99)}b`, 'a'.repeat(8_192))).toBe(false);
  });
});

describe('a class with a budget of its own (I39)', () => {
  const retry = { maxAttempts: 10, baseMs: 0, budgets: { timeout: 2, transient: 3 } };

  test.each([
    [['timeout', 'timeout']],
    [['transient', 'timeout', 'transient', 'timeout']],
    [['stuck', 'transient', 'stuck', 'transient', 'transient']],
  ] as const)('%j are as many as it has', (outcomes) => {
    const box = scenario({ dag: job({ retry }) });
    outcomes.forEach((outcome, i) => {
      if (i % 2 === 1) box.killOwner().heartbeat();
      box.report(box.claim('job'), outcome);
    });
    expect(box.tryClaim()).toBeNull();
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a retry by hand begins with fresh ones', () => {
    const box = scenario({ dag: job({ retry }) });
    for (let i = 0; i < 2; i++) box.report(box.claim('job'), 'timeout');
    box.retry('job');
    box.report(box.claim('job'), 'timeout');
    expect(box.task('job').state).toBe('ready');
    box.report(box.claim('job'), 'timeout');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });
});

describe('what a server has asked for', () => {
  const retry = { maxAttempts: 5, baseMs: 1_000, minMs: 2_000, maxMs: 3_000 };

  test.each([
    [10_000, 10_000],
    [1_000, 2_000],
    [10 * 86_400_000, 86_400_000],
  ])('%i ms: the next attempt starts after %i, and not before, over handovers too (I40)', (retryAfterMs, ms) => {
    const box = scenario({ dag: job({ retry }) });
    box.report(box.claim('job'), 'transient', { retryAfterMs, code: 'http:429' });
    const [end] = box.changes('AttemptEnded');
    expect(end).toMatchObject({ code: 'http:429' });
    expect(end!.retryAt! - end!.endedAt).toBeGreaterThanOrEqual(ms);
    expect(end!.retryAt! - end!.endedAt).toBeLessThanOrEqual(Math.max(ms, 3_000));
    box.killOwner().advance(`${ms - 1}ms`);
    expect(box.tryClaim()).toBeNull();
    box.advance('3s');
    expect(box.claim('job').claim.attemptNo).toBe(2);
  });
});

describe('a resource failure asks for more memory', () => {
  const options = { memoryBytes: 100, onResource: { factor: 2, maxBytes: 500 } };
  const retry = { maxAttempts: 9, baseMs: 0 };

  test('by the factor, up to the most, and keeps it over handovers and retries by hand', () => {
    const box = scenario({ dag: job({ ...options, retry }) });
    const given: number[] = [];
    for (const outcome of ['resource', 'transient', 'resource', 'resource', 'permanent'] as const) {
      const attempt = box.claim('job');
      given.push(memoryOf(box));
      box.killOwner().heartbeat();
      box.report(attempt, outcome);
    }
    box.retry('job');
    box.claim('job');
    given.push(memoryOf(box));
    expect(given).toEqual([100, 200, 200, 400, 500, 500]);
  });

  test.each([
    [300, 300],
    [50, 100],
    [9_000, 500],
  ])('when it says %i bytes it gets %i', (memoryBytes, expected) => {
    const box = scenario({ dag: job({ ...options, retry }) });
    box.report(box.claim('job'), 'resource', { memoryBytes });
    box.claim('job');
    expect(memoryOf(box)).toBe(expected);
  });

  test('and gets no more where the task does not say so', () => {
    const box = scenario({ dag: job({ memoryBytes: 100, retry }) });
    box.report(box.claim('job'), 'resource', { memoryBytes: 900 });
    box.claim('job');
    expect(memoryOf(box)).toBe(100);
  });

  function memoryOf(box: ReturnType<typeof scenario>): number {
    return box.effects.filter((effect) => effect.kind === 'SendAssignment').at(-1)!.memoryBytes;
  }
});
