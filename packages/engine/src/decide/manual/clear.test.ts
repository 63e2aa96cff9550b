import { describe, expect, test } from 'vitest';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, dag, fan, job, task } from '../../testing/specs.ts';

const done = (box: Scenario, ...names: string[]) => {
  for (const name of names) box.report(box.claim(name), 'succeeded', { output: `"${name}"` });
};
const fail = (box: Scenario, name: string) => box.report(box.claim(name), 'permanent', { error: 'no' });
const states = (box: Scenario, names: string) => names.split('').map((name) => box.task(name).state);
const touched = (answer: object) =>
  (answer as { tasks: { taskNo: number; before: string; after: string; how: string }[] }).tasks.map(
    ({ taskNo, before, after, how }) => [taskNo, before, after, how],
  );

describe('a task that succeeded', () => {
  test('runs again with what is behind it, in a run that had ended; older attempts stay (I32, I37)', () => {
    const box = scenario({ dag: chain('a', 'b', 'c') });
    done(box, 'a', 'b', 'c');
    const answer = box.clear(['b'], { downstream: true });
    expect(answer).toMatchObject({ ok: true, kind: 'touched', dryRun: false, reopened: true });
    expect(touched(answer)).toEqual([
      [1, 'succeeded', 'ready', 'cleared'],
      [2, 'succeeded', 'blocked', 'cleared'],
    ]);
    expect(states(box, 'abc')).toEqual(['succeeded', 'ready', 'blocked']);
    box.killOwner();
    const again = box.claim('b');
    expect(again.claim).toMatchObject({ attemptNo: 2, fence: 2 });
    box.report(again, 'succeeded');
    done(box, 'c');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(box.changes('AttemptEnded').map(({ taskNo, attemptNo }) => [taskNo, attemptNo])).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
      [1, 2],
      [2, 2],
    ]);
  });

  test('without what is behind it: that keeps its own state, and is not given the void output (I36)', () => {
    const retry = { maxAttempts: 3, minMs: 1_000, maxMs: 1_000 };
    const box = scenario({ dag: dag([task('a'), task('b', [0], { retry }), task('c', [0])]) });
    done(box, 'a');
    const running = box.claim('b');
    done(box, 'c');
    box.report(running, 'transient');
    expect(touched(box.clear(['a']))).toEqual([[0, 'succeeded', 'ready', 'cleared']]);
    expect(states(box, 'abc')).toEqual(['ready', 'retrying', 'succeeded']);
    const first = box.claim('a');
    box.advance('2s', [box.worker()]);
    box.claim('b');
    expect(box.effects.filter((effect) => effect.kind === 'SendAssignment').at(-1)).toMatchObject({
      succeededUpstream: [],
      missingUpstream: [0],
    });
    expect(box.report(first, 'succeeded')).toMatchObject({ ok: true });
  });

  test('with one behind it whose backoff is over, and which waits for a slot: that waits for it again (I37)', () => {
    const retry = { maxAttempts: 3, minMs: 1_000, maxMs: 1_000 };
    const box = scenario({ dag: dag([task('a'), task('b', [0], { retry })]) });
    done(box, 'a');
    box.report(box.claim('b'), 'transient');
    box.advance('2s', [box.worker()]);
    expect(states(box, 'ab')).toEqual(['succeeded', 'ready']);
    expect(touched(box.clear(['a'], { downstream: true }))).toEqual([
      [0, 'succeeded', 'ready', 'cleared'],
      [1, 'ready', 'blocked', 'cleared'],
    ]);
    box.killOwner();
    expect(states(box, 'ab')).toEqual(['ready', 'blocked']);
    done(box, 'a', 'b');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('and one that expired in its queue after a handover, too (I37)', () => {
    const box = scenario({ dag: dag([task('a', [], { queueTimeoutMs: 10_000 }), task('b', [], { queue: 'nobody' })]) });
    box.killOwner();
    box.advance('11s');
    expect(states(box, 'a')).toEqual(['failed']);
    expect(touched(box.clear(['a']))).toEqual([[0, 'failed', 'ready', 'cleared']]);
    done(box, 'a');
    expect(states(box, 'ab')).toEqual(['succeeded', 'ready']);
  });

  test.each(['live', 'loaded', 'from history'])(
    'an attempt that it stopped stays void when its task expires before the next one (%s, I21, I32)',
    (where) => {
      const other = task('other', [], { queue: 'nobody' });
      const tasks = [task('job', [], { queueTimeoutMs: 10_000 }), ...(where === 'from history' ? [] : [other])];
      const box = scenario({ dag: dag(tasks) });
      const stopped = box.claim('job');
      box.clear(['job'], { force: true });
      box.advance('11s');
      expect(box.changes('TaskExpired')).toHaveLength(1);
      if (where !== 'live') box.killOwner();
      expect(box.report(stopped, 'cancelled')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    },
  );

  test('a retry that was sent off by hand is cleared by that, and by nothing after it (I37)', () => {
    const retry = { maxAttempts: 3, minMs: 10_000, maxMs: 10_000 };
    const box = scenario({ dag: job({ retry }) });
    box.report(box.claim('job'), 'transient');
    expect(box.retry('job')).toMatchObject({ ok: true });
    expect(touched(box.clear(['job']))).toEqual([]);
    expect(box.changes('TaskCleared')).toHaveLength(1);
    done(box, 'job');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('a retry that its run had stopped has its whole time when that is opened again (I41)', () => {
    const retry = { maxAttempts: 9, minMs: 5_000, maxMs: 5_000 };
    const a = task('a', [], { retry, totalTimeoutMs: 60_000 });
    const box = scenario({ dag: dag([a, task('b')], { onFailure: 'fail_fast' }) });
    box.report(box.claim('a'), 'transient');
    box.report(box.claim('b'), 'permanent');
    box.advance('3600s', [box.worker()]);
    expect(box.retry('b')).toMatchObject({ ok: true });
    const again = box.claim('a');
    box.advance('59s', [box.worker()]);
    expect(box.task('a').state).toBe('running');
    box.advance('2s', [box.worker()]);
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({ fence: again.claim.fence, code: 'timeout:total' });
  });

  test('upstream too, when asked', () => {
    const box = scenario({ dag: chain('a', 'b', 'c') });
    done(box, 'a', 'b', 'c');
    box.clear(['b'], { upstream: true });
    expect(states(box, 'abc')).toEqual(['ready', 'blocked', 'succeeded']);
  });
});

describe('by state', () => {
  const spec = dag([task('a'), task('b'), task('c', [0]), task('d', [1])]);

  test('only what failed runs again; what it kept from running waits for it', () => {
    const box = scenario({ dag: spec });
    const [a, b] = [box.claim('a'), box.claim('b')];
    box.report(a, 'permanent');
    box.report(b, 'succeeded');
    done(box, 'd');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(touched(box.clear(null, { states: ['failed', 'upstream_failed'] }))).toEqual([
      [0, 'failed', 'ready', 'cleared'],
      [2, 'upstream_failed', 'blocked', 'decided'],
    ]);
    done(box, 'a', 'c');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('where nothing is in it nothing is done, and a run that has ended stays so', () => {
    const box = scenario({ dag: chain('a', 'b') });
    done(box, 'a', 'b');
    const before = box.node.journal.length;
    expect(box.clear(null, { states: ['failed'] })).toMatchObject({ ok: true, reopened: false, tasks: [] });
    expect(box.node.journal.length).toBe(before);
    expect(box.run().phase).toBe('ended');
  });
});

describe('a task that runs', () => {
  test('is left alone without force, and nothing else is touched either (I12)', () => {
    const box = scenario({ dag: dag([task('a'), task('b')]) });
    done(box, 'a');
    box.claim('b');
    const before = box.node.journal.length;
    expect(box.clear(['a', 'b'])).toMatchObject({ ok: false, code: 'TASK_BUSY', detail: 'b (running)' });
    expect(box.node.journal.length).toBe(before);
  });

  test('with force is stopped: its token is void, its worker is told, and it runs again (I21, I32)', () => {
    const box = scenario({ dag: job(), workers: ['w1', 'w2'] });
    const old = box.claim('job');
    const answer = box.clear(['job'], { force: true });
    expect(answer).toMatchObject({ tasks: [{ before: 'running', after: 'ready', stopped: 1 }] });
    expect(box.worker('w1').killed).toMatchObject([{ claim: old.claim }]);
    expect(box.changes('AttemptEnded')).toMatchObject([{ attemptNo: 1, outcome: 'cancelled', taskState: 'cancelled' }]);
    const next = box.claim('job', box.worker('w2'));
    expect(box.report(old, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    expect(box.report(next, 'succeeded')).toMatchObject({ ok: true });
    expect(box.run().outcome).toBe('succeeded');
  });

  test.each(['live', 'loaded', 'history'])(
    'its token stays void when nothing follows: the run %s (I21, I32)',
    (how) => {
      const box = scenario({ dag: job() });
      const old = box.claim('job');
      box.setPaused(null);
      box.clear(['job'], { force: true });
      if (how === 'history') box.cancel();
      if (how !== 'live') box.killOwner();
      for (const said of ['succeeded', 'cancelled'] as const) {
        expect(box.report(old, said)).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
      }
    },
  );
});

describe('under fail_fast', () => {
  const spec = dag([task('a'), task('b'), task('c')], { onFailure: 'fail_fast' });
  const bothFail = () => {
    const box = scenario({ dag: spec });
    const [a, b, c] = [box.claim('a'), box.claim('b'), box.claim('c')];
    box.node.decide([
      { kind: 'ReportAttempt', claim: a.claim, workerId: a.worker.id, ...NO } as never,
      { kind: 'ReportAttempt', claim: b.claim, workerId: b.worker.id, ...NO } as never,
    ]);
    box.report(c, 'cancelled');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(states(box, 'abc')).toEqual(['failed', 'failed', 'cancelled']);
    return box;
  };
  const NO = { outcome: 'permanent', output: null, error: null, startedAt: null };

  test('one of two failures would close it again at once, and is refused with the other one named', () => {
    const box = bothFail();
    expect(box.clear(['a'])).toMatchObject({ ok: false, code: 'RUN_WOULD_CLOSE', detail: 'b (failed)' });
    expect(box.mark('a', 'succeeded')).toMatchObject({ ok: false, code: 'RUN_WOULD_CLOSE', detail: 'b (failed)' });
  });

  test('all of them go on, with what they had stopped', () => {
    const box = bothFail();
    expect(box.clear(null, { states: ['failed'] })).toMatchObject({ ok: true, reopened: true });
    expect(states(box, 'abc')).toEqual(['ready', 'ready', 'ready']);
    done(box, 'a', 'b', 'c');
    expect(box.run().outcome).toBe('succeeded');
  });

  test('a retry of one takes the other along', () => {
    const box = bothFail();
    expect(box.retry('a')).toMatchObject({ ok: true });
    expect(states(box, 'abc')).toEqual(['ready', 'ready', 'ready']);
  });
});

describe('a dry run', () => {
  const spec = dag([task('a'), task('b', [0]), task('c', [1], { rule: 'all_done' })]);

  test.each(['in memory', 'brought back'] as const)(
    'of a run %s tells what is done then, and changes nothing',
    (how) => {
      const box = scenario({ dag: spec });
      done(box, 'a');
      fail(box, 'b');
      done(box, 'c');
      if (how === 'brought back') box.killOwner();
      const before = JSON.stringify([box.node.journal, box.node.store.runsStored()]);
      const dry = box.clear(['a'], { downstream: true, dryRun: true });
      box.node.work();
      expect(JSON.stringify([box.node.journal, box.node.store.runsStored()])).toBe(before);
      expect(box.run().phase).toBe('ended');
      expect(dry).toMatchObject({ ok: true, dryRun: true, reopened: true });
      const real = box.clear(['a'], { downstream: true });
      expect({ ...dry, dryRun: false }).toEqual(real);
    },
  );

  test('of a run that goes on, with an attempt that would be stopped', () => {
    const box = scenario({ dag: spec });
    done(box, 'a');
    const running = box.claim('b');
    const dry = box.clear(['a'], { downstream: true, force: true, dryRun: true });
    expect(dry).toMatchObject({
      tasks: [{ taskNo: 0 }, { taskNo: 1, before: 'running', after: 'blocked', stopped: 1 }],
    });
    expect(box.worker().killed).toEqual([]);
    expect(box.report(running, 'succeeded')).toMatchObject({ ok: true });
  });

  test('refuses what would be refused', () => {
    const box = scenario({ dag: job() });
    box.claim('job');
    expect(box.clear(['job'], { dryRun: true })).toMatchObject({ ok: false, code: 'TASK_BUSY' });
  });
});

test('a run that was cancelled stays so (I42); another tenant sees nothing (I65); a run that closes is not touched', () => {
  const box = scenario({ dag: dag([task('a'), task('b')]) });
  done(box, 'a');
  const running = box.claim('b');
  box.cancel();
  expect(box.clear(['a'])).toMatchObject({ ok: false, code: 'RUN_ENDED' });
  box.report(running, 'cancelled');
  box.killOwner();
  expect(box.clear(['a'])).toMatchObject({ ok: false, code: 'RUN_ENDED', detail: 'cancelled' });
  const select = { tasks: null, states: null, downstream: false, upstream: false };
  const other = { kind: 'ClearTasks', tenantId: 2, runId: box.lastRun(), select, force: false, dryRun: false };
  expect(box.feed({ ...other, actor: box.actor } as never)).toMatchObject({ ok: false, code: 'RUN_NOT_FOUND' });
});

test('ten thousand tasks are cleared in one go, each decided once', () => {
  const box = scenario({ dag: fan(9_998), audit: false });
  box.lend(box.worker(), 20_000, true);
  const held = () => box.worker().holds.splice(0);
  for (let round = 0; round < 3; round++) {
    box.node.decide(
      held().map((claim) => {
        const base = { kind: 'ReportAttempt', claim, workerId: box.worker().id, outcome: 'succeeded' } as const;
        return { ...base, output: null, error: null, startedAt: null };
      }),
    );
    box.node.work();
  }
  expect(box.run().outcome).toBe('succeeded');
  const answer = box.clear(['first'], { downstream: true });
  expect(answer).toMatchObject({ ok: true });
  expect(box.changes('TaskCleared')).toHaveLength(10_000);
  expect(box.task('last').state).toBe('blocked');
});
