import { expect, test } from 'vitest';
import type { VersionNo } from '../../model/ids.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, dag, job, task } from '../../testing/specs.ts';

const fail = (box: Scenario, name: string) => box.report(box.claim(name), 'permanent', { error: 'no' });
const policy = (maxTimes: number, delayMs = 0) => ({ retryRun: { maxTimes, delayMs } });

test('a run that ended failed is opened by its own policy, so many times, and what failed runs again (I32)', () => {
  const box = scenario({ dag: { ...chain('a', 'b', 'c'), ...policy(2) } });
  box.report(box.claim('a'), 'succeeded');
  fail(box, 'b');
  expect(box.run()).toMatchObject({ phase: 'open', outcome: null });
  expect(box.changes('RunReopened')).toMatchObject([{ retryNo: 1, actor: 'policy' }]);
  box.killOwner();
  fail(box, 'b');
  fail(box, 'b');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  expect(box.changes('RunReopened').map(({ retryNo }) => retryNo)).toEqual([1, 2]);
  // Once more by hand is not counted, and brings no new ones.
  box.retry('b');
  fail(box, 'b');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

test.each(['live', 'loaded'] as const)('it waits before that, %s, and no longer than told (I40)', (how) => {
  const box = scenario({ dag: { ...job(), ...policy(1, 60_000) } });
  fail(box, 'job');
  expect(box.run().phase).toBe('open');
  box.advance('30s');
  expect(box.tryClaim()).toBeNull();
  if (how === 'loaded') box.killOwner();
  box.advance('29s');
  expect(box.tryClaim()).toBeNull();
  box.advance('2s');
  expect(box.claim('job').claim.attemptNo).toBe(2);
});

test('it waits no longer under an owner whose clock is hours behind (I40)', () => {
  const box = scenario({ dag: { ...job(), ...policy(1, 60_000) } });
  fail(box, 'job');
  box.leap('-5h').killOwner().advance('61s');
  expect(box.claim('job').claim.attemptNo).toBe(2);
});

test('a run that is opened and has nothing to do after all ends (I72)', () => {
  const box = scenario({ dag: dag([task('a'), task('mend', [0], { rule: 'one_failed' })], policy(3)) });
  fail(box, 'a');
  const mend = box.claim('mend');
  box.retry('a');
  box.report(mend, 'permanent');
  // Now nothing that mend is for has failed.
  box.report(box.claim('a'), 'succeeded');
  expect(box.changes('RunReopened')).toHaveLength(1);
  expect(box.task('mend').state).toBe('skipped');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

test('under fail_fast all that failed and all that was stopped go on; a cancelled run is not retried', () => {
  const box = scenario({ dag: dag([task('a'), task('b')], { onFailure: 'fail_fast', ...policy(1) }) });
  const [a, b] = [box.claim('a'), box.claim('b')];
  box.report(a, 'permanent');
  box.report(b, 'cancelled');
  expect(['a', 'b'].map((name) => box.task(name).state)).toEqual(['ready', 'ready']);
  box.cancel();
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
});

test('a cancel gives its own grace, over a handover too (I42)', () => {
  const box = scenario({ dag: job() });
  box.claim('job');
  box.feed({ kind: 'CancelRun', tenantId: 1, runId: box.lastRun(), graceMs: 60_000, actor: box.actor } as never);
  expect(box.worker().killed).toMatchObject([{ graceMs: 60_000 }]);
  box.killOwner();
  box.advance('40s', [box.worker()]);
  expect(box.run().phase).toBe('closing');
  box.advance('40s', [box.worker()]);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
});

test('a cancel with force waits for nobody: tokens are void at once (I42, I21)', () => {
  const box = scenario({ dag: job() });
  const attempt = box.claim('job');
  box.cancel();
  expect(box.run().phase).toBe('closing');
  box.feed({ kind: 'CancelRun', tenantId: 1, runId: box.lastRun(), force: true, actor: box.actor } as never);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'cancelled', taskState: 'cancelled' }]);
  expect(box.tryClaim()).toBeNull();
  expect(attempt.worker.killed.length).toBeGreaterThan(0);
});

test('a run is made again in the version that it had, whatever was deployed since (I35)', () => {
  const box = scenario({ dag: job({ timeoutMs: 777 }) });
  box.report(box.claim('job'), 'succeeded');
  box.deploy(chain('x', 'y'));
  box.killOwner();
  expect(box.submit({ versionNo: 1 as VersionNo })).toMatchObject({ ok: true });
  expect(box.changes('RunCreated').at(-1)).toMatchObject({ versionNo: 1 });
  box.killOwner();
  box.report(box.claim('job'), 'succeeded');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  expect(box.submit({ versionNo: 9 as VersionNo })).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
});
