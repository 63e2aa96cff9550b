import { describe, expect, test } from 'vitest';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, dag, job, task } from '../../testing/specs.ts';

const states = (box: Scenario, names: string) => names.split('').map((name) => box.task(name).state);
const done = (box: Scenario, ...names: string[]) => {
  for (const name of names) box.report(box.claim(name), 'succeeded');
};

describe.each(['live', 'loaded'] as const)('a task that never had an attempt, %s', (how) => {
  const after = (box: Scenario) => (how === 'loaded' ? box.killOwner() : box);

  test.each([
    ['succeeded', ['ready', 'succeeded', 'ready']],
    ['failed', ['ready', 'failed', 'upstream_failed']],
    ['skipped', ['ready', 'skipped', 'skipped']],
    ['cancelled', ['ready', 'cancelled', 'upstream_failed']],
  ] as const)('marked as %s decides those behind it (I32)', (as, expected) => {
    const box = scenario({ dag: chain('a', 'b', 'c') });
    expect(box.mark('b', as, { reason: 'because' })).toMatchObject({
      ok: true,
      tasks: [{ taskNo: 1, before: 'blocked', after: as }, { taskNo: 2 }],
    });
    expect(states(after(box), 'abc')).toEqual(expected);
    expect(box.changes('TaskMarked')).toMatchObject([
      {
        taskNo: 1,
        attemptNo: 0,
        fence: 1,
        firstOfTask: true,
        firstOfRun: true,
        state: as,
        reason: 'because',
        actor: 'test',
      },
    ]);
    // Its upstream ends, and changes nothing of it.
    done(box, 'a');
    expect(box.task('b').state).toBe(as);
  });

  test('is cleared again, and its first attempt is number 1 (I23)', () => {
    const box = scenario({ dag: chain('a', 'b') });
    box.mark('a', 'skipped');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    after(box);
    expect(box.clear(['a'])).toMatchObject({ ok: true, reopened: true });
    expect(states(box, 'ab')).toEqual(['ready', 'blocked']);
    after(box);
    expect(box.claim('a').claim).toMatchObject({ attemptNo: 1, fence: 2 });
  });
});

test('in a plain dag what is behind a skipped task and another one is skipped when the other has ended', () => {
  const box = scenario({ dag: dag([task('a'), task('b'), task('c', [0, 1]), task('d', [2])]) });
  box.mark('a', 'skipped');
  expect(states(box, 'abcd')).toEqual(['skipped', 'ready', 'blocked', 'blocked']);
  done(box, 'b');
  expect(box.node.store.runsStored()[0]).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  expect(states(box, 'cd')).toEqual(['skipped', 'skipped']);
});

test('a failed task is said to have succeeded, with an output: its run goes on and succeeds', () => {
  const box = scenario({ dag: chain('a', 'b', 'c') });
  done(box, 'a');
  box.report(box.claim('b'), 'permanent');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  expect(box.mark('b', 'succeeded', { output: '{"rows":3}' })).toMatchObject({ ok: true, reopened: true });
  expect(box.changes('TaskMarked')).toMatchObject([
    { attemptNo: 1, fence: 2, firstOfTask: false, output: '{"rows":3}' },
  ]);
  box.killOwner();
  done(box, 'c');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

test('marked failed while it waits for a retry: the retry does not come', () => {
  const box = scenario({ dag: job({ retry: { maxAttempts: 3, minMs: 1_000, maxMs: 1_000 } }) });
  box.report(box.claim('job'), 'transient');
  box.mark('job', 'failed');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  box.advance('5s');
  expect(box.tryClaim()).toBeNull();
});

test('an attempt that runs is stopped only by force: its token is void, what it says changes nothing (I21)', () => {
  const box = scenario({ dag: chain('a', 'b') });
  const old = box.claim('a');
  expect(box.mark('a', 'succeeded')).toMatchObject({ ok: false, code: 'TASK_BUSY', detail: 'a (running)' });
  expect(box.mark('a', 'succeeded', { force: true })).toMatchObject({ ok: true });
  expect(box.worker().killed).toMatchObject([{ claim: old.claim }]);
  box.killOwner();
  expect(box.report(old, 'permanent')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
  expect(states(box, 'ab')).toEqual(['succeeded', 'ready']);
});

test('a branch that is said to have succeeded must choose as it may', () => {
  const spec = dag([task('route', [], { branch: true }), task('x', [0]), task('y', [0])]);
  const box = scenario({ dag: spec });
  expect(box.mark('route', 'succeeded', { output: '"z"' })).toMatchObject({ ok: false, code: 'OUTPUT_INVALID' });
  expect(box.mark('route', 'succeeded', { output: '"x"' })).toMatchObject({ ok: true });
  box.killOwner();
  expect(['x', 'y'].map((name) => box.task(name).state)).toEqual(['ready', 'skipped']);
});

describe('one task is cancelled', () => {
  test('while it runs: stopped at once; it counts as failed for those behind it, and for the run (I42)', () => {
    const box = scenario({ dag: dag([task('a'), task('b', [0]), task('c'), task('d', [0], { rule: 'one_failed' })]) });
    const attempt = box.claim('a');
    expect(box.mark('a', 'cancelled')).toMatchObject({ tasks: [{ taskNo: 0, how: 'cancelled', stopped: 1 }, {}, {}] });
    expect(box.report(attempt, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    expect(states(box.killOwner(), 'abcd')).toEqual(['cancelled', 'upstream_failed', 'ready', 'ready']);
    done(box, 'c', 'd');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(states(box, 'abcd')).toEqual(['cancelled', 'upstream_failed', 'succeeded', 'succeeded']);
  });

  test('a completion that came first wins; twice is once', () => {
    const box = scenario({ dag: dag([task('a'), task('b')]) });
    done(box, 'a');
    expect(box.mark('a', 'cancelled')).toMatchObject({ ok: false, code: 'TASK_ENDED', detail: 'a (succeeded)' });
    box.mark('b', 'cancelled');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.mark('b', 'cancelled')).toMatchObject({ ok: true, reopened: false, tasks: [] });
  });
});

test('a dry run of a mark tells what it would do, and does not', () => {
  const box = scenario({ dag: chain('a', 'b') });
  const dry = box.mark('a', 'succeeded', { dryRun: true });
  expect(box.changes('TaskMarked')).toEqual([]);
  expect({ ...dry, dryRun: false }).toEqual(box.mark('a', 'succeeded'));
});
