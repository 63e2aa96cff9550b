import { describe, expect, test } from 'vitest';
import { accepted, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

/** Claims the task that is next, and ends its only attempt. */
function end(box: Scenario, name: string, outcome: 'succeeded' | 'permanent' = 'succeeded'): void {
  expect(box.report(box.claim(name), outcome)).toEqual(accepted);
}

const states = (box: Scenario, ...names: string[]) => names.map((name) => box.task(name).state);

/** Makes a cluster, works with it, takes it down. */
const cluster = dag([
  task('make', [], { setup: true }),
  task('work', [0]),
  task('report', [1]),
  task('drop', [0, 1], { teardown: [0] }),
]);

describe('a teardown', () => {
  test('runs as soon as what it waits for has ended, while the run is still open', () => {
    const box = scenario({ dag: cluster, workers: ['w1', 'w2'] });
    end(box, 'make');
    end(box, 'work');
    const report = box.claim('report');
    const drop = box.claim('drop', box.worker('w2'));
    expect(box.run().phase).toBe('open');
    box.report(drop, 'succeeded');
    box.report(report, 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('runs after a failure, in a run whose outcome is fixed (I33)', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    end(box, 'work', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    expect(states(box, 'report', 'drop')).toEqual(['upstream_failed', 'ready']);
    end(box, 'drop');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('runs after a cancel, once the attempts that were told to stop have ended (I42)', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    const work = box.claim('work');
    expect(box.cancel()).toMatchObject({ ok: true, outcome: 'cancelled' });
    expect(box.tryClaim()).toBe(null);
    expect(states(box, 'work', 'report', 'drop')).toEqual(['running', 'cancelled', 'blocked']);
    box.report(work, 'succeeded');
    expect(box.task('work').state).toBe('cancelled');
    end(box, 'drop');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('is skipped when its setup did not succeed', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.task('drop').state).toBe('skipped');
  });

  test('that fails does not change what became of the run', () => {
    const box = scenario({ dag: cluster });
    for (const name of ['make', 'work']) end(box, name);
    end(box, 'report');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'succeeded' });
    end(box, 'drop', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(box.task('drop').state).toBe('failed');
  });

  test('is tried again as its policy says, also while the run is closing and after a takeover', () => {
    const tasks = cluster.tasks.map((each) =>
      each.teardown ? { ...each, retry: { ...each.retry, maxAttempts: 2 }, timeoutMs: 5_000 } : each,
    );
    const box = scenario({ dag: dag(tasks) });
    end(box, 'make');
    box.cancel();
    box.report(box.claim('drop'), 'transient');
    box.killOwner();
    box.advance('2s');
    const drop = box.claim('drop');
    box.advance('6s', [drop.worker]);
    expect(box.changes('AttemptEnded').map(({ outcome }) => outcome)).toEqual(['succeeded', 'transient', 'timeout']);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('of a run that a failure closes at once is not cancelled with the others', () => {
    const box = scenario({ dag: { ...cluster, onFailure: 'fail_fast' } });
    end(box, 'make');
    end(box, 'work', 'permanent');
    expect(states(box, 'report', 'drop')).toEqual(['upstream_failed', 'ready']);
    end(box, 'drop');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('whose claim comes back goes to another worker, in a closing run too', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    box.cancel();
    box.refuse(box.claim('drop'));
    expect(box.task('drop').state).toBe('ready');
    end(box, 'drop');
    expect(box.run().phase).toBe('ended');
  });
});

describe('a run with something left to close', () => {
  test('counts against the limits of its dag', () => {
    const box = scenario({ dag: { ...cluster, maxActiveRuns: 1 }, runs: 2 });
    const [first, second] = box.runIds;
    end(box, 'make');
    box.cancel(first);
    expect(box.run(first)).toMatchObject({ phase: 'closing' });
    expect(box.run(second).admitted).toBe(false);
    end(box, 'drop');
    expect(box.run(second).admitted).toBe(true);
  });

  test('ends at once when it is cancelled with force, and what runs of it is stopped (I42)', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    box.cancel();
    const drop = box.claim('drop');
    expect(box.cancel()).toMatchObject({ ok: true });
    expect(drop.worker.killed).toEqual([]);
    expect(box.force()).toMatchObject({ ok: true, outcome: 'cancelled' });
    expect(drop.worker.killed).toMatchObject([{ reason: 'cancelled' }]);
    box.killOwner();
    expect(box.report(drop, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('is forced to its end also when it has failed, and stays failed', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    end(box, 'work', 'permanent');
    expect(box.cancel()).toMatchObject({ ok: false, code: 'RUN_ENDED' });
    expect(box.force()).toMatchObject({ ok: true, outcome: 'failed' });
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a forced cancel of an open run leaves nothing to run', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    expect(box.force()).toMatchObject({ ok: true, outcome: 'cancelled' });
    expect(box.run().phase).toBe('ended');
  });
});

describe('undos', () => {
  /** a → b → c, each with what undoes it; d needs b and has none. */
  const saga = dag(
    [
      task('a'),
      task('b', [0]),
      task('c', [1]),
      task('d', [1]),
      task('a:undo', [], { undoes: 0 }),
      task('b:undo', [], { undoes: 1 }),
      task('c:undo', [], { undoes: 2 }),
    ],
    { compensate: true },
  );

  test('of what was done run in reverse order when the run fails; of the rest they are skipped', () => {
    const box = scenario({ dag: saga });
    for (const name of ['a', 'b', 'c']) end(box, name);
    end(box, 'd', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    expect(states(box, 'a:undo', 'b:undo', 'c:undo')).toEqual(['blocked', 'blocked', 'ready']);
    end(box, 'c:undo');
    end(box, 'b:undo', 'permanent');
    end(box, 'a:undo');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('wait until nothing ordinary runs any more', () => {
    const box = scenario({ dag: saga, workers: ['w1', 'w2'] });
    for (const name of ['a', 'b']) end(box, name);
    const [c, d] = [box.claim('c'), box.claim('d', box.worker('w2'))];
    box.cancel();
    box.report(c, 'cancelled');
    expect(box.tryClaim()).toBe(null);
    box.report(d, 'cancelled');
    expect(states(box, 'a:undo', 'b:undo', 'c:undo')).toEqual(['blocked', 'ready', 'skipped']);
    for (const name of ['b:undo', 'a:undo']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test.each(['live', 'loaded'] as const)('wait for those behind one that was marked by hand, %s (I30)', (how) => {
    const box = scenario({ dag: saga });
    for (const name of ['a', 'b', 'c']) end(box, name);
    expect(box.mark('b:undo', 'failed')).toMatchObject({ ok: true });
    end(box, 'd', 'permanent');
    if (how === 'loaded') box.killOwner();
    expect(states(box, 'a:undo', 'b:undo', 'c:undo')).toEqual(['blocked', 'failed', 'ready']);
    end(box, 'c:undo');
    if (how === 'loaded') box.killOwner();
    end(box, 'a:undo');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('do not run when the run has succeeded', () => {
    const box = scenario({ dag: saga });
    for (const name of ['a', 'b', 'c', 'd']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(states(box, 'a:undo', 'b:undo', 'c:undo')).toEqual(['skipped', 'skipped', 'skipped']);
  });

  test('come before the teardown of what they may need', () => {
    const box = scenario({
      dag: dag(
        [
          task('make', [], { setup: true }),
          task('work', [0]),
          task('check', [1]),
          task('work:undo', [], { undoes: 1 }),
          task('drop', [0, 1], { teardown: [0] }),
        ],
        { compensate: true },
      ),
    });
    for (const name of ['make', 'work']) end(box, name);
    expect(box.task('drop').state).toBe('blocked');
    end(box, 'check', 'permanent');
    for (const name of ['work:undo', 'drop']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });
});

describe('hooks of a task', () => {
  const hooked = dag([
    task('work'),
    task('next', [0]),
    task('work:before', [], { hook: { of: 0, on: 'before' } }),
    task('work:after', [], { hook: { of: 0, on: 'after' } }),
    task('work:on_success', [], { hook: { of: 0, on: 'success' } }),
    task('work:on_failure', [], { hook: { of: 0, on: 'failure' } }),
  ]);

  test('run before it, after it, and on what became of it', () => {
    const box = scenario({ dag: hooked });
    expect(states(box, 'work', 'work:before')).toEqual(['blocked', 'ready']);
    end(box, 'work:before');
    end(box, 'work');
    expect(states(box, 'work:after', 'work:on_success', 'work:on_failure')).toEqual(['ready', 'ready', 'skipped']);
    end(box, 'next');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'succeeded' });
    end(box, 'work:after');
    end(box, 'work:on_success', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('that fail before it keep it from running', () => {
    const box = scenario({ dag: hooked });
    end(box, 'work:before', 'permanent');
    expect(states(box, 'work', 'next', 'work:after', 'work:on_failure')).toEqual([
      'upstream_failed',
      'upstream_failed',
      'skipped',
      'skipped',
    ]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('run after one that was cancelled while it ran, and not after one that never began', () => {
    const box = scenario({ dag: hooked, runs: 2 });
    const [first, second] = box.runIds;
    end(box, 'work:before');
    const cut = box.claim('work');
    box.cancel(first);
    box.cancel(second);
    expect(box.run(second).phase).toBe('ended');
    box.report(cut, 'cancelled');
    end(box, 'work:after');
    expect(box.run(first).phase).toBe('ended');
  });
});

describe('hooks of a run', () => {
  const hooked = dag([
    task('a'),
    task('b', [0]),
    task('run:before', [], { hook: { of: null, on: 'before' } }),
    task('run:after', [], { hook: { of: null, on: 'after' } }),
    task('run:on_success', [], { hook: { of: null, on: 'success' } }),
    task('run:on_failure', [], { hook: { of: null, on: 'failure' } }),
  ]);

  test('run before anything, and when its outcome is fixed, the last of them after all others', () => {
    const box = scenario({ dag: hooked });
    for (const name of ['run:before', 'a', 'b']) end(box, name);
    expect(states(box, 'run:after', 'run:on_success', 'run:on_failure')).toEqual(['blocked', 'ready', 'skipped']);
    for (const name of ['run:on_success', 'run:after']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('tell of a failure; one that fails before anything fails the run', () => {
    const box = scenario({ dag: hooked });
    end(box, 'run:before', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    for (const name of ['run:on_failure', 'run:after']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('run also for a run that was cancelled before its turn came', () => {
    const box = scenario({ dag: { ...hooked, maxActiveRuns: 1 }, runs: 2 });
    const second = box.runIds[1]!;
    box.claim('run:before');
    box.cancel(second);
    expect(box.run(second)).toMatchObject({ phase: 'closing', admitted: false });
    end(box, 'run:after');
    expect(box.run(second)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });
});

describe('a hook for retries', () => {
  const hooked = dag([
    task('work', [], { retry: { maxAttempts: 4, baseMs: 1_000, maxMs: 1_000 } }),
    task('work:on_retry', [], { hook: { of: 0, on: 'retry' } }),
  ]);
  const newsOf = (box: Scenario) =>
    box.effects.flatMap((effect) =>
      effect.kind === 'SendAssignment' && effect.hookEvent ? [effect.hookEvent.attemptNo] : [],
    );

  test('runs for each of them, also for one that comes while it runs', () => {
    const box = scenario({ dag: hooked, workers: ['w1', 'w2'] });
    box.report(box.claim('work'), 'transient');
    const first = box.claim('work:on_retry', box.worker('w2'));
    box.advance('2s', [first.worker]);
    box.report(box.claim('work'), 'transient');
    box.advance('2s', [first.worker]);
    box.killOwner();
    box.report(first, 'succeeded');
    end(box, 'work');
    end(box, 'work:on_retry');
    expect(newsOf(box)).toEqual([1, 2]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('is skipped when there was none', () => {
    const box = scenario({ dag: hooked });
    end(box, 'work');
    expect(box.run().phase).toBe('ended');
    expect(box.task('work:on_retry').state).toBe('skipped');
  });

  test('runs for what was left when its run was cancelled', () => {
    const box = scenario({ dag: hooked });
    box.report(box.claim('work'), 'transient');
    box.cancel();
    expect(box.run().phase).toBe('closing');
    end(box, 'work:on_retry', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });
});

test('a hook for a retry that never came, because the time of the whole task was over, runs all the same (I19)', () => {
  const retry = { maxAttempts: 4, baseMs: 60_000, minMs: 60_000, maxMs: 60_000 };
  const hook = task('work:on_retry', [], { hook: { of: 0, on: 'retry' } });
  const box = scenario({ dag: dag([task('work', [], { retry, totalTimeoutMs: 5_000 }), hook]) });
  box.report(box.claim('work'), 'transient');
  box.advance('6s');
  expect(box.task('work').state).toBe('failed');
  end(box, 'work:on_retry');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

describe('a hook for what is slow', () => {
  const hooked = dag(
    [
      task('work', [], { softTimeoutMs: 2_000, retry: { maxAttempts: 3, baseMs: 100, maxMs: 100 } }),
      task('next', [0]),
      task('work:on_slow', [], { hook: { of: 0, on: 'slow' } }),
      task('run:on_slow', [], { hook: { of: null, on: 'slow' } }),
    ],
    { softTimeoutMs: 5_000 },
  );
  const newsOf = (box: Scenario) =>
    box.effects.flatMap((effect) =>
      effect.kind === 'SendAssignment' && effect.hookEvent
        ? [[effect.hookEvent.taskNo, effect.hookEvent.attemptNo]]
        : [],
    );

  test('runs beside its task, once for each attempt that is, whoever takes over', () => {
    const box = scenario({ dag: hooked, workers: ['w1', 'w2'] });
    const first = box.claim('work');
    expect(states(box, 'work:on_slow', 'run:on_slow')).toEqual(['blocked', 'blocked']);
    box.advance('1.9s', [first.worker]).killOwner().advance('0.1s', [first.worker]);
    const hook = box.claim('work:on_slow', box.worker('w2'));
    box.killOwner();
    box.report(first, 'transient');
    box.advance('0.2s', [hook.worker]);
    const second = box.claim('work');
    box.advance('2s', [second.worker, hook.worker]);
    box.report(hook, 'succeeded');
    end(box, 'work:on_slow');
    box.report(second, 'succeeded');
    end(box, 'next');
    expect(newsOf(box)).toEqual([
      [0, 1],
      [0, 2],
    ]);
    expect(box.task('run:on_slow').state).toBe('skipped');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('of a run runs while that is open, holds up nothing, and decides nothing', () => {
    const box = scenario({ dag: hooked, workers: ['w1', 'w2'] });
    box.advance('5s');
    expect(box.task('run:on_slow').state).toBe('ready');
    box.killOwner();
    const work = box.claim('work');
    const hook = box.claim('run:on_slow', box.worker('w2'));
    box.report(work, 'succeeded');
    end(box, 'next');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'succeeded' });
    box.report(hook, 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(box.changes('RunSlow')).toHaveLength(1);
  });

  test('of a run runs again when that was opened again and is slow again', () => {
    const box = scenario({ dag: hooked });
    box.advance('5s');
    end(box, 'work', 'permanent');
    end(box, 'run:on_slow');
    expect(box.retry('work')).toMatchObject({ ok: true });
    expect(box.task('run:on_slow').state).toBe('succeeded');
    box.advance('5s');
    end(box, 'work');
    end(box, 'next');
    end(box, 'run:on_slow');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(newsOf(box)).toEqual([
      [null, 1],
      [null, 2],
    ]);
  });
});

describe('a hook for retries of the run', () => {
  const hooked = (retryRun?: { maxTimes: number; delayMs: number }) =>
    dag([task('work'), task('run:on_retry', [], { hook: { of: null, on: 'retry' } })], retryRun && { retryRun });
  const timesOf = (box: Scenario) =>
    box.effects.flatMap((effect) =>
      effect.kind === 'SendAssignment' && effect.hookEvent ? [effect.hookEvent.attemptNo] : [],
    );

  test('runs each time that its own policy opens it again, beside its tasks', () => {
    const box = scenario({ dag: hooked({ maxTimes: 2, delayMs: 0 }), workers: ['w1', 'w2'] });
    end(box, 'work', 'permanent');
    expect(box.run().phase).toBe('open');
    box.killOwner();
    const work = box.claim('work');
    const hook = box.claim('run:on_retry', box.worker('w2'));
    box.report(work, 'permanent');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    box.report(hook, 'succeeded');
    expect(box.run().phase).toBe('open');
    box.killOwner();
    end(box, 'work');
    end(box, 'run:on_retry');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(timesOf(box)).toEqual([1, 2]);
  });

  test('runs when somebody does, by a retry, a clear or a mark; and is skipped when nobody did', () => {
    const box = scenario({ dag: hooked() });
    end(box, 'work', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.task('run:on_retry').state).toBe('skipped');
    box.retry('work');
    end(box, 'work', 'permanent');
    end(box, 'run:on_retry');
    expect(box.run().phase).toBe('ended');
    expect(box.mark('work', 'succeeded')).toMatchObject({ ok: true });
    end(box, 'run:on_retry');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(timesOf(box)).toEqual([1, 2]);
  });

  test('its own retry by hand, in a run that has ended, is none', () => {
    const box = scenario({ dag: hooked() });
    end(box, 'work', 'permanent');
    box.retry('work');
    end(box, 'work');
    end(box, 'run:on_retry', 'permanent');
    expect(box.retry('run:on_retry')).toMatchObject({ ok: true });
    end(box, 'run:on_retry');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(timesOf(box)).toEqual([1, 1]);
  });
});

describe('by hand', () => {
  test('a teardown that failed runs again by itself, and the run keeps its outcome, a cancelled one too', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    box.cancel();
    end(box, 'drop', 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.retry('work')).toMatchObject({ ok: false });
    expect(box.retry('drop')).toMatchObject({ ok: true });
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'cancelled' });
    box.killOwner();
    end(box, 'drop');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('what was taken down is made again for a task that works with it, and taken down again', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    end(box, 'work', 'permanent');
    end(box, 'drop');
    expect(box.retry('work')).toMatchObject({ ok: true });
    for (const name of ['make', 'work']) end(box, name);
    end(box, 'report');
    end(box, 'drop');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('no task is begun again while that is being taken down which it works with', () => {
    const box = scenario({ dag: cluster });
    end(box, 'make');
    end(box, 'work', 'permanent');
    box.claim('drop');
    expect(box.retry('work')).toMatchObject({ ok: false });
  });

  test('a task that somebody cancels before it has begun has failed for its hooks, as for the run', () => {
    const hooks = (['success', 'failure', 'after'] as const).map((on) => task(on, [], { hook: { of: 0, on } }));
    const box = scenario({ dag: dag([task('work'), ...hooks]) });
    expect(box.mark('work', 'cancelled')).toMatchObject({ ok: true });
    expect(states(box, 'success', 'failure', 'after')).toEqual(['skipped', 'ready', 'ready']);
    end(box, 'failure');
    end(box, 'after');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a hook alone runs again in a run that has ended: with nothing else to do, that closes at once', () => {
    const hook = task('told', [], { hook: { of: null, on: 'success' } });
    const box = scenario({ dag: dag([task('work'), hook]) });
    end(box, 'work');
    end(box, 'told');
    expect(box.clear(['told'])).toMatchObject({ ok: true, reopened: true });
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'succeeded' });
    end(box, 'told');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('a run that was forced to its end closes again: its hooks that still had attempts left go on, as a load finds them (I19)', () => {
    const hooks = ['broken', 'flaky', 'returned'].map((name) =>
      task(name, [], { hook: { of: 0, on: 'failure' }, retry: { maxAttempts: 2, minMs: 60_000, baseMs: 60_000 } }),
    );
    const box = scenario({ dag: dag([task('work'), ...hooks]) });
    end(box, 'work', 'permanent');
    end(box, 'broken', 'permanent');
    box.report(box.claim('flaky'), 'transient');
    box.refuse(box.claim('returned'));
    expect(box.force()).toMatchObject({ ok: true, outcome: 'failed' });
    expect(states(box, 'flaky', 'returned')).toEqual(['cancelled', 'cancelled']);
    expect(box.run().phase).toBe('ended');
    box.advance('20s');
    expect(box.retry('broken')).toMatchObject({ ok: true });
    expect(states(box, 'broken', 'flaky', 'returned')).toEqual(['ready', 'retrying', 'ready']);
    end(box, 'broken');
    end(box, 'returned');
    // Its backoff goes on from where it was.
    box.advance('39s');
    expect(box.task('flaky').state).toBe('retrying');
    box.advance('1s');
    end(box, 'flaky');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a backoff that was over while its run was forced to its end does not start again when a clock goes back (I40)', () => {
    const hooks = ['broken', 'flaky'].map((name) =>
      task(name, [], { hook: { of: 0, on: 'failure' }, retry: { maxAttempts: 2, minMs: 60_000, baseMs: 60_000 } }),
    );
    const box = scenario({ dag: dag([task('work'), ...hooks]) });
    end(box, 'work', 'permanent');
    end(box, 'broken', 'permanent');
    box.report(box.claim('flaky'), 'transient');
    box.hold().force();
    box.advance('70s').leap('-5h');
    box.retry('broken');
    box.advance('1s').settle();
    expect(states(box, 'broken', 'flaky')).toEqual(['ready', 'ready']);
  });

  test('a hook before a task runs again together with it, and is not needed for one that somebody marks', () => {
    const spec = dag([task('work'), task('first', [], { hook: { of: 0, on: 'before' } }), task('last', [0])]);
    const box = scenario({ dag: spec });
    end(box, 'first');
    end(box, 'work');
    end(box, 'last', 'permanent');
    expect(box.clear(['first'])).toMatchObject({ ok: true });
    end(box, 'first');
    end(box, 'work');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    const marked = scenario({
      dag: dag([task('zero'), task('work', [0]), task('first', [], { hook: { of: 1, on: 'before' } })]),
    });
    marked.mark('work', 'succeeded');
    expect(marked.task('first').state).toBe('skipped');
    end(marked, 'zero');
    expect(marked.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('a hook before the run is not skipped because a task that comes first fails at once', () => {
    const never = { op: 'lt', left: { op: 'value', value: null }, right: { op: 'value', value: 2 } } as const;
    const faulty = task('faulty', [], { when: { text: '…', expression: never } });
    const box = scenario({ dag: dag([faulty, task('work'), task('first', [], { hook: { of: null, on: 'before' } })]) });
    expect(states(box, 'faulty', 'work', 'first')).toEqual(['failed', 'blocked', 'ready']);
    end(box, 'first');
    end(box, 'work');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });
});
