/** Whoever is opened again has its whole time again (I41), whichever door opened it. */
import { describe, expect, test } from 'vitest';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

const S = 1_000;
const fail = (box: Scenario, name: string) => box.report(box.claim(name), 'permanent', { error: 'no' });
const roots = ['a', 'b', 'c', 'd'];
const waits = { queueTimeoutMs: 3 * S };
/** Four roots; the first failure closes the run and cancels those that wait. */
const fourRoots = (more = {}) =>
  dag(
    roots.map((name) => task(name, [], waits)),
    { onFailure: 'fail_fast', ...more },
  );

/** The siblings have three seconds from now on, and not a moment less or more. */
function expectWholeTime(box: Scenario): void {
  const before = box.changes('TaskExpired').length;
  box.advance('2.9s');
  expect(box.changes('TaskExpired')).toHaveLength(before);
  box.advance('0.1s');
  expect(box.changes('TaskExpired').length).toBeGreaterThan(before);
}

const replay = (box: Scenario) => {
  const [deadLetter] = box.changes('DeadLetterWritten');
  const { runId, taskNo, attemptNo } = deadLetter!;
  return box.feed({
    kind: 'ReplayDeadLetter',
    tenantId: 1 as never,
    deadLetter: { runId, taskNo, attemptNo },
    actor: box.actor,
  });
};

describe.each(['live', 'after a takeover'] as const)('the time in the queue, %s', (how) => {
  test.each([
    ['a retry', (box: Scenario) => box.retry('a')],
    ['a clear', (box: Scenario) => box.clear(['a'])],
    ['a mark', (box: Scenario) => box.mark('a', 'succeeded')],
    ['a replay of its dead letter', replay],
  ] as const)('begins anew for those that %s of another opens again', (_, open) => {
    const box = scenario({ dag: fourRoots() });
    box.advance('1s');
    fail(box, 'a');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.advance('5s');
    if (how !== 'live') box.killOwner();
    expect(open(box)).toMatchObject({ ok: true });
    if (how !== 'live') box.killOwner();
    expectWholeTime(box);
  });

  test('begins anew when the run is admitted, where it had to wait for its turn', () => {
    const box = scenario({ dag: fourRoots({ maxActiveRuns: 1 }) });
    fail(box, 'a');
    const first = box.lastRun();
    box.submit();
    box.retry('a', first);
    expect(box.run(first).admitted).toBe(false);
    box.advance('2s');
    if (how !== 'live') box.killOwner();
    box.cancel();
    expect(box.run(first).admitted).toBe(true);
    expectWholeTime(box);
  });

  test('begins after the delay, where the policy of the run opens it', () => {
    const box = scenario({ dag: fourRoots({ retryRun: { maxTimes: 1, delayMs: 10 * S } }) });
    box.advance('1s');
    fail(box, 'a');
    box.advance('9.9s');
    if (how !== 'live') box.killOwner();
    expect(box.changes('TaskExpired')).toEqual([]);
    box.advance('0.1s');
    expect(box.changes('PauseSet').map(({ paused }) => paused)).toEqual([true, false]);
    expectWholeTime(box);
  });

  test('begins when the run is opened again while it is paused, for a pause counts', () => {
    const box = scenario({ dag: fourRoots() });
    box.advance('1s');
    const a = box.claim('a');
    box.setPaused(null);
    box.report(a, 'permanent', { error: 'no' });
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.advance('5s');
    expect(box.retry('a')).toMatchObject({ ok: true });
    if (how !== 'live') box.killOwner();
    expectWholeTime(box);
  });

  test('begins when its upstream has run again, in a run that is paused', () => {
    const box = scenario({ dag: dag([task('up'), task('down', [0], waits)]) });
    box.report(box.claim('up'), 'succeeded');
    box.advance('2s');
    box.clear(['up']);
    const up = box.claim('up');
    box.setPaused(null);
    box.advance('5s', [up.worker]);
    box.report(up, 'succeeded');
    expect(box.task('down').state).toBe('ready');
    if (how !== 'live') box.killOwner();
    expectWholeTime(box);
  });

  test('begins anew for a task whose upstream runs again', () => {
    const box = scenario({ dag: dag([task('up'), task('down', [0], waits)]) });
    box.report(box.claim('up'), 'succeeded');
    box.advance('2s');
    box.clear(['up']);
    const up = box.claim('up');
    box.advance('5s', [up.worker]);
    if (how !== 'live') box.killOwner().heartbeat(up.worker);
    box.report(up, 'succeeded');
    expect(box.task('down').state).toBe('ready');
    expectWholeTime(box);
  });

  test('begins anew for a hook of a run that was forced to its end', () => {
    const hooks = ['x', 'y'].map((name) => task(name, [], { hook: { of: 0, on: 'failure' }, ...waits }));
    const box = scenario({ dag: dag([task('work'), ...hooks]) });
    fail(box, 'work');
    fail(box, 'x');
    box.force();
    box.advance('5s');
    if (how !== 'live') box.killOwner();
    expect(box.retry('x')).toMatchObject({ ok: true });
    if (how !== 'live') box.killOwner();
    expectWholeTime(box);
  });

  test('goes on for a claim that came back, as before', () => {
    const box = scenario({ dag: job(waits) });
    box.advance('2s');
    box.refuse(box.claim('job'));
    if (how !== 'live') box.killOwner();
    box.advance('1s');
    expect(box.changes('TaskExpired')).toHaveLength(1);
  });
});

describe.each(['live', 'after a takeover'] as const)('the time of a whole task, %s', (how) => {
  test('begins anew for a claim that came back as its run was closed', () => {
    const spec = { totalTimeoutMs: 20 * S, retry: { maxAttempts: 3, baseMs: 0 } };
    const box = scenario({
      dag: dag([task('a'), task('b', [], spec)], { onFailure: 'fail_fast' }),
      workers: ['w1', 'w2'],
    });
    const a = box.claim('a');
    box.report(box.claim('b', box.worker('w2')), 'transient');
    const b = box.claim('b', box.worker('w2'));
    box.report(a, 'permanent');
    box.refuse(b);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.advance('60s');
    expect(box.retry('a')).toMatchObject({ ok: true });
    if (how !== 'live') box.killOwner();
    box.advance('19.9s');
    expect(box.changes('TaskExpired')).toEqual([]);
    box.advance('0.1s');
    expect(box.changes('TaskExpired')).toMatchObject([{ reason: 'total' }]);
  });
});

describe.each(['live', 'after a takeover'] as const)('the time of a run, %s', (how) => {
  const spec = { ...job(), timeoutMs: 20 * S };

  test('does not begin before it is admitted again', () => {
    const box = scenario({ dag: { ...spec, maxActiveRuns: 1 }, runs: 2 });
    const [first, second] = box.runIds as [never, never];
    box.advance('15s');
    // Opened again before its end is stored: its first time is still known, and the other one has its turn.
    const attempt = box.claim('job');
    box.hold();
    box.report(attempt, 'permanent');
    box.retry('job', first);
    box.settle();
    expect(box.run(first)).toMatchObject({ phase: 'open', admitted: false });
    box.advance('15s');
    if (how !== 'live') box.killOwner();
    expect(box.changes('RunTimedOut')).toEqual([]);
    box.cancel(second);
    expect(box.run(first).admitted).toBe(true);
    box.advance('19.9s');
    expect(box.changes('RunTimedOut')).toEqual([]);
    box.advance('0.1s');
    expect(box.changes('RunTimedOut')).toHaveLength(1);
  });

  test('begins after the delay, where its policy opens it', () => {
    const box = scenario({ dag: { ...spec, retryRun: { maxTimes: 1, delayMs: 60 * S } } });
    fail(box, 'job');
    box.advance('59s');
    if (how !== 'live') box.killOwner();
    box.advance('1s');
    expect(box.run()).toMatchObject({ phase: 'open' });
    if (how !== 'live') box.killOwner();
    box.advance('19.9s');
    expect(box.changes('RunTimedOut')).toEqual([]);
    box.advance('0.1s');
    expect(box.changes('RunTimedOut')).toHaveLength(1);
  });
});
