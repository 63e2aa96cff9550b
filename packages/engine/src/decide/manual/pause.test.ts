import { expect, test } from 'vitest';
import { scenario } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

const DONE = { ok: true, kind: 'done' };

test.each(['live', 'loaded'] as const)(
  'nothing new of a paused run is claimed, %s; it holds back nobody else (I47)',
  (how) => {
    const box = scenario({ dag: dag([task('a'), task('b')]), runs: 2 });
    const [first, second] = [box.runIds[0]!, box.runIds[1]!];
    const running = box.claim('a');
    expect(running.claim.runId).toBe(first);
    expect(box.setPaused(null, true, first)).toEqual(DONE);
    expect(box.setPaused(null, true, first)).toEqual(DONE);
    expect(box.changes('PauseSet')).toHaveLength(1);
    if (how === 'loaded') box.killOwner().heartbeat();
    expect(box.claim('a').claim.runId).toBe(second);
    expect(box.claim('b').claim.runId).toBe(second);
    expect(box.tryClaim()).toBeNull();
    // What runs goes on to its end.
    expect(box.report(running, 'succeeded')).toMatchObject({ ok: true });
    box.setPaused(null, false, first);
    expect(box.claim('b').claim.runId).toBe(first);
  },
);

test('one task is held, others of its run go on; a retry that comes due waits as well', () => {
  const retry = { maxAttempts: 3, minMs: 1_000, maxMs: 1_000 };
  const box = scenario({ dag: dag([task('a', [], { retry }), task('b'), task('c', [0])]) });
  box.report(box.claim('a'), 'transient');
  box.setPaused('a');
  box.advance('5s', [box.worker()]);
  expect(box.task('a').state).toBe('ready');
  expect(box.claim('b').task).toBe('b');
  expect(box.tryClaim()).toBeNull();
  box.killOwner();
  box.advance('5s', [box.worker()]);
  expect(box.tryClaim()).toBeNull();
  expect(box.setPaused('a', false)).toEqual(DONE);
  expect(box.claim('a').claim.attemptNo).toBe(2);
});

test('a paused run can be cancelled, cleared and marked; it can end by that', () => {
  const box = scenario({ dag: dag([task('a'), task('b')]) });
  box.setPaused(null);
  box.mark('a', 'succeeded');
  box.mark('b', 'skipped');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  box.clear(['b']);
  // Somebody has held it, and nobody has let it go.
  expect(box.tryClaim()).toBeNull();
  box.setPaused(null, false);
  expect(box.claim('b').task).toBe('b');
  box.cancel();
  expect(box.run().outcome).toBe('cancelled');
});

test('a run that has ended is not paused', () => {
  const box = scenario({ dag: job() });
  box.report(box.claim('job'), 'succeeded');
  expect(box.setPaused(null)).toMatchObject({ ok: false, code: 'RUN_ENDED' });
});

test('pauses on and off many times leave no trace in the lanes (I73)', () => {
  const box = scenario({ dag: dag([task('a'), task('b')]) });
  for (let i = 0; i < 50; i++) {
    box.setPaused('a', i % 2 === 0);
    box.setPaused(null, i % 3 === 0);
  }
  box.setPaused('a', false);
  box.setPaused(null, false);
  expect([box.claim('a').task, box.claim('b').task]).toEqual(['a', 'b']);
  expect(box.tryClaim()).toBeNull();
});

const cleaned = dag([task('make'), task('clean', [0], { teardown: [0] })]);

test('what closes a run is held with it, and let go', () => {
  const box = scenario({ dag: cleaned });
  const make = box.claim('make');
  box.setPaused(null);
  box.report(make, 'succeeded');
  expect(box.run().phase).toBe('closing');
  expect(box.tryClaim()).toBeNull();
  box.killOwner();
  expect(box.tryClaim()).toBeNull();
  expect(box.setPaused(null, false)).toMatchObject({ ok: true });
  expect(box.setPaused('clean')).toMatchObject({ ok: true });
  expect(box.tryClaim()).toBeNull();
  box.setPaused('clean', false);
  box.report(box.claim('clean'), 'succeeded');
  expect(box.run().phase).toBe('ended');
});

test('a cancel lets go what closes a run', () => {
  const box = scenario({ dag: dag([...cleaned.tasks, task('work', [0])]) });
  box.report(box.claim('make'), 'succeeded');
  box.report(box.claim('clean'), 'permanent');
  box.setPaused(null);
  box.retry('clean');
  expect(box.tryClaim()).toBeNull();
  expect(box.cancel()).toMatchObject({ ok: true });
  box.report(box.claim('clean'), 'succeeded');
  expect(box.run().phase).toBe('ended');
});
