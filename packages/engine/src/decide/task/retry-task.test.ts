import { describe, expect, test } from 'vitest';
import { apply } from '../../apply/apply.ts';
import type { TenantId } from '../../model/ids.ts';
import { TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { State } from '../../tables/state.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, dag, fan, job, task } from '../../testing/specs.ts';

const DONE = { ok: true, kind: 'done' };
const RETRY_LATER = { maxAttempts: 3, minMs: 10_000, maxMs: 10_000 };

function fail(box: Scenario, name: string): void {
  box.report(box.claim(name), 'permanent', { error: 'no' });
}

test('a task that waits for its backoff starts at once, and keeps what is left of its budgets (I32, I39)', () => {
  const box = scenario({ dag: job({ retry: RETRY_LATER }) });
  box.report(box.claim('job'), 'transient');
  expect(box.task('job').state).toBe('retrying');
  expect(box.tryClaim()).toBeNull();
  expect(box.retry('job')).toEqual(DONE);
  expect(box.changes('TaskCleared')).toMatchObject([{ from: 'retrying', freshBudget: false, attemptNo: 1 }]);
  box.report(box.claim('job'), 'transient');
  box.retry('job');
  box.report(box.claim('job'), 'transient');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  expect(box.changes('AttemptEnded').map(({ attemptNo }) => attemptNo)).toEqual([1, 2, 3]);
});

test('the timer of a backoff that was cut short starts nothing later', () => {
  const box = scenario({ dag: job({ retry: RETRY_LATER }) });
  box.report(box.claim('job'), 'transient');
  box.retry('job');
  box.report(box.claim('job'), 'transient');
  box.advance('9.9s');
  expect(box.tryClaim()).toBeNull();
  box.advance('200ms');
  expect(box.task('job').state).toBe('ready');
});

describe('a task that failed', () => {
  test('in a run that goes on is tried again with fresh budgets; what it kept from running waits for it', () => {
    const spec = dag([task('a', [], { retry: { maxAttempts: 2 } }), task('b'), task('c', [0])]);
    const box = scenario({ dag: spec });
    const [first, other] = [box.claim('a'), box.claim('b')];
    box.report(first, 'transient');
    box.advance('5m', [box.worker()]);
    box.report(box.claim('a'), 'transient');
    expect([box.task('a').state, box.task('c').state]).toEqual(['failed', 'upstream_failed']);
    expect(box.retry('a')).toEqual(DONE);
    expect(box.changes('RunReopened')).toEqual([]);
    expect([box.task('a').state, box.task('c').state]).toEqual(['ready', 'blocked']);
    box.report(box.claim('a'), 'transient');
    expect(box.task('a').state).toBe('retrying');
    box.advance('5m', [box.worker()]);
    box.report(box.claim('a'), 'succeeded');
    box.report(box.claim('c'), 'succeeded');
    box.report(other, 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(
      box
        .changes('AttemptClaimed')
        .filter(({ taskNo }) => taskNo === 0)
        .map((claim) => claim.attemptNo),
    ).toEqual([1, 2, 3, 4]);
  });

  test.each(['its end is in flight', 'its end is stored', 'a new owner has never seen it'] as const)(
    'in a run that has ended opens it again, when %s (I33)',
    (when) => {
      const box = scenario({ dag: chain('a', 'b', 'c') });
      box.report(box.claim('a'), 'succeeded');
      const failed = box.claim('b');
      if (when === 'its end is in flight') box.hold();
      box.report(failed, 'permanent');
      if (when === 'a new owner has never seen it') box.killOwner();
      expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
      expect(box.retry('b')).toEqual(DONE);
      box.settle();
      expect(box.run()).toMatchObject({ phase: 'open', outcome: null, admitted: true });
      expect(['a', 'b', 'c'].map((name) => box.task(name).state)).toEqual(['succeeded', 'ready', 'blocked']);
      box.killOwner();
      box.report(box.claim('b'), 'succeeded');
      box.report(box.claim('c'), 'succeeded');
      expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    },
  );

  test('counts its lost attempts anew (I28)', () => {
    const box = scenario({ dag: job({ retry: { maxLost: 2 } }) });
    const lose = () => {
      box.claim('job');
      box.advance('20s');
    };
    lose();
    lose();
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.retry('job');
    lose();
    expect(box.task('job')).toMatchObject({ state: 'ready', lostCount: 1, attemptCount: 3 });
    lose();
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a report of an older attempt changes nothing, whatever it says (I21, I32)', () => {
    const box = scenario({ dag: job({ timeoutMs: 1_000, retry: { maxAttempts: 1 } }) });
    const old = box.claim('job');
    box.advance('2s');
    expect(box.run()).toMatchObject({ outcome: 'failed' });
    box.retry('job');
    expect(box.report(old, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    const next = box.claim('job');
    expect(next.claim).toMatchObject({ attemptNo: 2, fence: 2 });
    expect(box.report(old, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    expect(box.task('job').state).toBe('running');
    expect(box.report(next, 'succeeded')).toMatchObject({ ok: true });
  });
});

test('what another failure keeps from running stays as it is', () => {
  // c needs a and b; d needs c; e needs a alone.
  const spec = dag([task('a'), task('b'), task('c', [0, 1]), task('d', [2]), task('e', [0])]);
  const box = scenario({ dag: spec });
  fail(box, 'a');
  fail(box, 'b');
  expect(box.run().outcome).toBe('failed');
  box.retry('a');
  const states = () => ['a', 'b', 'c', 'd', 'e'].map((name) => box.task(name).state);
  expect(states()).toEqual(['ready', 'failed', 'upstream_failed', 'upstream_failed', 'blocked']);
  box.retry('b');
  expect(states()).toEqual(['ready', 'ready', 'blocked', 'blocked', 'blocked']);
  fail(box, 'a');
  expect(states()).toEqual(['failed', 'ready', 'upstream_failed', 'upstream_failed', 'upstream_failed']);
});

test('behind a task of 10,000 everything waits again, and goes on', () => {
  const box = scenario({ dag: fan(9_998), audit: false });
  fail(box, 'first');
  box.retry('first');
  expect(box.task('last').state).toBe('blocked');
  box.report(box.claim('first'), 'succeeded');
  expect(box.task('middle-9998').state).toBe('ready');
});

describe('limits', () => {
  test('a run that is opened again counts as active, or waits like a new one (I7)', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 1 });
    const first = box.lastRun();
    fail(box, 'job');
    box.submit();
    expect(box.retry('job', first)).toEqual(DONE);
    expect(box.run(first)).toMatchObject({ phase: 'open', admitted: false });
    box.killOwner();
    expect(box.run(first)).toMatchObject({ phase: 'open', admitted: false });
    const other = box.claim('job');
    expect(box.tryClaim()).toBeNull();
    box.report(other, 'succeeded');
    expect(box.claim('job').claim).toMatchObject({ runId: first, attemptNo: 2 });
    expect(box.state.dags.get(box.dagId)).toMatchObject({ activeRuns: 1, liveRuns: 1, runningTasks: 1 });
  });

  test('it keeps its version, also of a dag that was deployed anew or retired meanwhile (I35)', () => {
    const box = scenario({ dag: job({ timeoutMs: 777 }) });
    fail(box, 'job');
    const run = box.lastRun();
    box.deploy(chain('x', 'y'));
    box.retire();
    box.killOwner();
    expect(box.retry('job', run)).toEqual(DONE);
    box.report(box.claim('job'), 'succeeded');
    expect(box.run(run)).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});

describe('refusals', () => {
  const prepared: Readonly<Record<string, (box: Scenario) => unknown>> = {
    running: (box) => box.claim('a'),
    succeeded: (box) => box.report(box.claim('a'), 'succeeded'),
    upstream_failed: (box) => fail(box, 'a'),
  };
  test.each([
    ['blocked', 'b'],
    ['ready', 'a'],
    ['running', 'a'],
    ['succeeded', 'a'],
    ['upstream_failed', 'b'],
  ])('a task that is %s is not retried, and is told so', (state, name) => {
    const box = scenario({ dag: chain('a', 'b') });
    prepared[state]?.(box);
    const before = box.node.journal.length;
    const refused = { ok: false, code: 'TASK_NOT_RETRYABLE', detail: `it is ${state}` };
    expect(box.retry(name)).toEqual(refused);
    box.killOwner();
    expect(box.retry(name)).toEqual(refused);
    const cleared = box.node.journal.slice(before).filter(({ kind }) => kind !== 'WorkerSilenced');
    expect(cleared).toEqual([]);
  });

  test('the second of two is refused: the first is done (I12)', () => {
    const box = scenario({ dag: job() });
    fail(box, 'job');
    expect(box.retry('job')).toEqual(DONE);
    expect(box.retry('job')).toMatchObject({ ok: false, code: 'TASK_NOT_RETRYABLE', detail: 'it is ready' });
    expect(box.changes('RunReopened')).toHaveLength(1);
  });

  test('a cancelled run stays cancelled (I42), one that was set aside is not touched (I57), nobody sees another tenant (I65)', () => {
    const spec = dag([task('a'), task('b')]);
    const cancelled = scenario({ dag: spec });
    fail(cancelled, 'a');
    cancelled.cancel();
    expect(cancelled.retry('a')).toMatchObject({ ok: false, code: 'RUN_ENDED' });
    cancelled.killOwner();
    expect(cancelled.retry('a')).toMatchObject({ ok: false, code: 'RUN_ENDED' });
    const aside = scenario({ dag: spec });
    fail(aside, 'a');
    aside.strike(aside.lastRun(), true);
    expect(aside.retry('a')).toMatchObject({ ok: false, code: 'RUN_SET_ASIDE' });
    aside.killOwner();
    expect(aside.retry('a')).toMatchObject({ ok: false, code: 'RUN_SET_ASIDE' });
    const box = scenario({ dag: job() });
    fail(box, 'job');
    expect(box.retry('job', box.lastRun(), 2 as TenantId)).toMatchObject({ ok: false, code: 'RUN_NOT_FOUND' });
    const missing = { kind: 'RetryTask', tenantId: 1, runId: box.lastRun(), taskNo: 5, actor: 'x' } as never;
    expect(box.feed(missing)).toMatchObject({ ok: false, code: 'TASK_NOT_FOUND' });
    expect(box.changes('RunReopened')).toEqual([]);
  });
});

test('a run that was only looked at is forgotten again (I73)', () => {
  const box = scenario({ dag: job() });
  box.report(box.claim('job'), 'succeeded');
  box.killOwner();
  expect(box.retry('job')).toMatchObject({ ok: false });
  box.node.work();
  expect([box.state.runs.count, box.state.lingering.length]).toEqual([0, 0]);
});

test('a task without a backoff that a new owner has just loaded: the journal can be replayed all the same (I19)', () => {
  const box = scenario({ dag: job({ retry: { maxAttempts: 3, baseMs: 0 } }) });
  box.report(box.claim('job'), 'transient');
  // Before its first tick.
  box.node.state = box.node.restored();
  expect(box.retry('job')).toEqual(DONE);
  const replayed = new State(box.node.settings);
  for (const change of box.node.journal) apply(replayed, change);
  const run = replayed.runs.find(box.lastRun());
  expect(TASK_STATE_NAMES[replayed.tasks.state[replayed.runs.base[run]!]!]).toBe('ready');
});
