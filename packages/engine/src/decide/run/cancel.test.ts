import { describe, expect, test } from 'vitest';
import type { RunId, TenantId } from '../../model/ids.ts';
import { accepted, scenario, TENANT } from '../../testing/scenario.ts';
import { chain, dag, job, task } from '../../testing/specs.ts';

const cancelled = { ok: true, kind: 'cancelled', outcome: 'cancelled' };

test('a run that has not begun ends at once, and nothing of it starts (I42)', () => {
  const box = scenario({ dag: chain('a', 'b') });
  expect(box.cancel()).toEqual(cancelled);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  expect(box.tryClaim()).toBeNull();
});

test('a run that waits to be admitted may be cancelled, and gives its place to the next (I7, I42)', () => {
  const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 3 });
  const [first, second, third] = box.runIds;
  expect(box.cancel(second)).toEqual(cancelled);
  box.cancel(first);
  expect(box.run(third).admitted).toBe(true);
});

describe('a run with a running attempt', () => {
  test('is closing until the worker says that it has stopped; the worker is told (I42)', () => {
    const box = scenario({ dag: chain('a', 'b') });
    const attempt = box.claim('a');
    expect(box.cancel()).toEqual(cancelled);
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'cancelled' });
    expect(attempt.worker.killed).toMatchObject([{ claim: attempt.claim, reason: 'cancelled' }]);
    expect(box.report(attempt, 'cancelled')).toEqual(accepted);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test.each(['succeeded', 'transient', 'permanent', 'timeout', 'resource', 'stuck'] as const)(
    'a report of %s does not change its outcome, nor start anything, and is told so (I21, I42)',
    (outcome) => {
      const box = scenario({ dag: dag([task('a', [], { retry: { maxAttempts: 9 } }), task('b', [0])]) });
      const attempt = box.claim('a');
      box.cancel();
      expect(box.report(attempt, outcome)).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
      expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
      expect(box.changes('AttemptEnded')).toMatchObject([
        { outcome: 'cancelled', taskState: 'cancelled', output: null },
      ]);
      expect(box.tryClaim()).toBeNull();
    },
  );

  test('is ended by the server when the worker does not answer, within lease and grace (I42)', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    box.cancel();
    box.advance('24s', [attempt.worker]);
    expect(box.run().phase).toBe('closing');
    box.advance('2s', [attempt.worker]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.report(attempt, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
  });

  test('tells the worker again after a handover, which may have swallowed the word (I42)', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    box.cancel();
    box.killOwner();
    attempt.worker.killed.length = 0;
    box.heartbeat();
    expect(attempt.worker.killed).toMatchObject([{ claim: attempt.claim, reason: 'cancelled' }]);
  });

  test('a claim that is refused after the cancel is not made again (I26, I42)', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    box.cancel();
    box.refuse(attempt);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });
});

test('a task that waits for its retry is never tried again (I42)', () => {
  const box = scenario({ dag: job({ retry: { maxAttempts: 5, minMs: 1_000 } }) });
  box.report(box.claim('job'), 'transient');
  box.cancel();
  box.advance('1h');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  expect(box.tryClaim()).toBeNull();
});

describe('cancelling what is over', () => {
  test.each([
    ['succeeded', 'in memory'],
    ['failed', 'in memory'],
    ['succeeded', 'in the database'],
    ['failed', 'in the database'],
  ] as const)('a run that has %s, %s, is refused: a completion committed first wins (I42)', (outcome, where) => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    if (where === 'in memory') box.hold();
    box.report(attempt, outcome === 'failed' ? 'permanent' : outcome);
    expect(box.cancel()).toEqual({ ok: false, code: 'RUN_ENDED', detail: outcome });
  });

  test('twice is one cancel, closing, ended or forgotten', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    box.cancel();
    expect(box.cancel()).toEqual(cancelled);
    box.report(attempt, 'cancelled');
    expect(box.cancel()).toEqual(cancelled);
    box.killOwner();
    expect(box.cancel()).toEqual(cancelled);
    expect(box.changes('RunClosing')).toHaveLength(1);
  });

  test('in the very step of the last report the completion wins, if it comes first (I42)', () => {
    const box = scenario({ dag: job() });
    const { claim, worker } = box.claim('job');
    const report = { output: null, error: null, startedAt: null, workerId: worker.id, claim } as const;
    const { answers } = box.node.decide([
      { kind: 'ReportAttempt', outcome: 'succeeded', ...report },
      { kind: 'CancelRun', tenantId: 1 as TenantId, runId: claim.runId, actor: box.actor },
    ]);
    expect(answers).toMatchObject([{ kind: 'recorded' }, { ok: false, code: 'RUN_ENDED' }]);
  });
});

test.each(['live', 'ended in memory', 'in the database'] as const)(
  'a run of another tenant, %s, is not there (I65)',
  (where) => {
    const box = scenario({ dag: job() });
    if (where === 'ended in memory') box.hold();
    if (where !== 'live') box.cancel();
    if (where === 'in the database') box.killOwner();
    expect(box.cancel(box.lastRun(), 2 as TenantId)).toMatchObject({ ok: false, code: 'RUN_NOT_FOUND' });
  },
);

test('a run that never was is not there', () => {
  const box = scenario({ dag: job() });
  expect(box.cancel((box.lastRun() + 1) as RunId)).toMatchObject({ ok: false, code: 'RUN_NOT_FOUND' });
});

describe('a dry run of a cancel', () => {
  const spec = dag(
    [
      task('make', [], { setup: true }),
      task('work', [0]),
      task('next', [1]),
      task('drop', [0, 1], { teardown: [0] }),
      task('make:undo', [], { undoes: 0 }),
      task('work:undo', [], { undoes: 1 }),
      task('run:on_success', [], { hook: { of: null, on: 'success' } }),
      task('run:after', [], { hook: { of: null, on: 'after' } }),
    ],
    { compensate: true },
  );

  test.each(['live', 'loaded'])(
    'tells what would be stopped and what would run then, and changes nothing: %s',
    (how) => {
      const box = scenario({ dag: spec });
      box.report(box.claim('make'), 'succeeded');
      const work = box.claim('work');
      if (how === 'loaded') box.killOwner().heartbeat(work.worker);
      const before = box.node.journal.length;
      const answer = box.feed({
        kind: 'CancelRun',
        tenantId: TENANT,
        runId: box.lastRun(),
        dryRun: true,
        actor: box.actor,
      });
      expect(answer).toMatchObject({
        kind: 'touched',
        dryRun: true,
        tasks: [
          { name: 'work', before: 'running', after: 'cancelled', how: 'cancelled', stopped: 1 },
          { name: 'next', before: 'blocked', after: 'cancelled', how: 'cancelled', stopped: 0 },
          { name: 'drop', after: 'ready', how: 'closes' },
          { name: 'make:undo', after: 'ready', how: 'closes' },
          { name: 'work:undo', after: 'skipped', how: 'decided' },
          { name: 'run:on_success', after: 'skipped', how: 'decided' },
          { name: 'run:after', after: 'ready', how: 'closes' },
        ],
      });
      expect(box.node.journal.length).toBe(before);
      expect(box.report(work, 'succeeded')).toEqual(accepted);
      expect(box.task('next').state).toBe('ready');
    },
  );

  test('with force tells that nothing closes the run', () => {
    const box = scenario({ dag: spec });
    box.report(box.claim('make'), 'succeeded');
    box.claim('work');
    const command = { kind: 'CancelRun', tenantId: TENANT, runId: box.lastRun(), actor: box.actor } as const;
    const answer = box.feed({ ...command, force: true, dryRun: true });
    expect(answer).toMatchObject({ kind: 'touched' });
    const tasks = 'tasks' in answer ? answer.tasks : [];
    expect(tasks.filter(({ how }) => how === 'closes')).toEqual([]);
    expect(tasks.find(({ name }) => name === 'work')).toMatchObject({ after: 'cancelled', stopped: 1 });
  });

  test('of a run that has ended is refused as the cancel would be', () => {
    const box = scenario({ dag: dag([task('a')]) });
    box.report(box.claim('a'), 'succeeded');
    const command = { kind: 'CancelRun', tenantId: TENANT, runId: box.lastRun(), actor: box.actor } as const;
    expect(box.feed({ ...command, dryRun: true })).toMatchObject({ ok: false, code: 'RUN_ENDED' });
  });
});
