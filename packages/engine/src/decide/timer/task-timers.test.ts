import { describe, expect, test } from 'vitest';
import { type Attempt, accepted, type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, dag, job, type Span, task } from '../../testing/specs.ts';

const S = 1_000;
const retry = { maxAttempts: 9, baseMs: 0 };
const codesOf = (box: Scenario) => box.changes('AttemptEnded').map(({ outcome, code }) => [outcome, code]);

/** The owner is killed every second, and each new one hears the worker. */
function throughHandovers(box: Scenario, seconds: number, attempt: Attempt | null): void {
  for (let i = 0; i < seconds; i++) {
    box.advance('1s', attempt === null ? [] : [attempt.worker]).killOwner();
    if (attempt !== null) box.heartbeat(attempt.worker);
  }
}

describe('waiting in the queue (I41)', () => {
  const spec = { queueTimeoutMs: 10 * S, retry };

  test('a task that gets no slot in time fails without an attempt, and so do those behind it', () => {
    const box = scenario({ dag: dag([task('a', [], spec), task('b', [0])]) });
    box.advance('9.9s');
    expect(box.task('a').state).toBe('ready');
    box.advance('0.1s');
    expect(box.changes('TaskExpired')).toMatchObject([{ taskNo: 0, reason: 'queue' }]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.changes('AttemptClaimed')).toEqual([]);
  });

  test('handovers do not start it over', () => {
    const box = scenario({ dag: job(spec) });
    throughHandovers(box, 9, null);
    expect(box.task('job').state).toBe('ready');
    box.advance('1s');
    expect(box.changes('TaskExpired')).toHaveLength(1);
  });

  test.each(['1h', '-24h', '365d'] as const)('nor does a wall clock that leaps by %s', (leap) => {
    const box = scenario({ dag: job(spec) });
    box.leap(leap).advance('9.9s');
    expect(box.task('job').state).toBe('ready');
    box.advance('0.1s');
    expect(box.changes('TaskExpired')).toHaveLength(1);
  });

  test('counts from when it is ready, not from the start of its run', () => {
    const box = scenario({ dag: dag([task('a'), task('b', [0], spec)]) });
    const a = box.claim('a');
    box.advance('60s', [a.worker]);
    box.report(a, 'succeeded');
    throughHandovers(box, 9, null);
    expect(box.claim('b').claim.attemptNo).toBe(1);
  });

  test('of a claim that came back goes on; of a retry it begins anew', () => {
    const box = scenario({ dag: job(spec) });
    box.advance('6s');
    box.refuse(box.claim('job'));
    box.killOwner().advance('3s');
    box.report(box.claim('job'), 'transient');
    box.killOwner().advance('9.9s');
    expect(box.changes('TaskExpired')).toEqual([]);
    box.advance('0.1s');
    expect(box.changes('TaskExpired')).toHaveLength(1);
    expect(box.task('job').attemptCount).toBe(1);
  });

  test('a claim in time, or the end of the run, makes it void', () => {
    const box = scenario({ dag: job(spec), runs: 2 });
    const attempt = box.claim('job');
    box.cancel(box.runIds[1]);
    box.advance('60s', [attempt.worker]);
    expect(box.changes('TaskExpired')).toEqual([]);
    expect(box.report(attempt, 'succeeded')).toEqual(accepted);
  });

  test('a retry by hand waits as long again; the attempts before it stay', () => {
    const box = scenario({ dag: job(spec) });
    box.report(box.claim('job'), 'transient');
    box.refuse(box.claim('job'));
    box.advance('10s');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.retry('job')).toMatchObject({ ok: true });
    throughHandovers(box, 9, null);
    const next = box.claim('job');
    expect(next.claim.attemptNo).toBe(2);
    expect(box.report(next, 'succeeded')).toEqual(accepted);
    expect(box.run()).toMatchObject({ outcome: 'succeeded' });
  });
});

describe('no progress (I41)', () => {
  const spec = { stuckMs: 10 * S, retry: { ...retry, maxAttempts: 2 } };

  test('an attempt that never tells of any counts from its start, through handovers', () => {
    const box = scenario({ dag: job(spec) });
    const attempt = box.claim('job');
    throughHandovers(box, 9, attempt);
    expect(box.task('job').state).toBe('running');
    box.advance('1s', [attempt.worker]);
    expect(codesOf(box)).toEqual([['stuck', 'stuck:progress']]);
    expect(attempt.worker.killed[0]).toMatchObject({ claim: attempt.claim, reason: 'stuck' });
    expect(box.task('job').state).toBe('ready');
  });

  test('each word of progress moves it on, and its last one is not forgotten in a handover', () => {
    const box = scenario({ dag: job(spec) });
    const { worker, claim } = box.claim('job');
    for (let i = 0; i < 5; i++) box.advance('8s', [worker]).progress(claim, 0);
    for (let i = 1; i < 10; i++)
      box
        .advance('1s')
        .killOwner()
        .progress(claim, i * S);
    expect(box.task('job').state).toBe('running');
    box.advance('1s').progress(claim, 10 * S);
    expect(codesOf(box)).toEqual([['stuck', 'stuck:progress']]);
  });

  test('a new owner waits for the word of the worker before it judges', () => {
    const box = scenario({ dag: job(spec) });
    const { worker, claim } = box.claim('job');
    box
      .advance('9s', [worker])
      .progress(claim, 0)
      .advance('5s', [])
      .progress(claim, 5 * S);
    box.killOwner().advance('2s');
    expect(box.task('job').state).toBe('running');
    box
      .progress(claim, 7 * S)
      .advance('2.9s', [])
      .progress(claim, 9.9 * S);
    expect(box.task('job').state).toBe('running');
    box.advance('0.1s');
    expect(codesOf(box)).toEqual([['stuck', 'stuck:progress']]);
  });
});

describe('the whole task (I41)', () => {
  test('ends a running attempt, and there is no other', () => {
    const box = scenario({ dag: job({ totalTimeoutMs: 20 * S, retry }) });
    const first = box.claim('job');
    throughHandovers(box, 15, first);
    box.report(first, 'transient');
    const second = box.claim('job');
    throughHandovers(box, 4, second);
    expect(box.task('job').state).toBe('running');
    box.advance('1s', [second.worker]);
    expect(codesOf(box)).toEqual([
      ['transient', null],
      ['timeout', 'timeout:total'],
    ]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(second.worker.killed[0]).toMatchObject({ reason: 'timeout' });
  });

  test('ends a task that waits for its next attempt', () => {
    const box = scenario({ dag: job({ totalTimeoutMs: 20 * S, retry: { ...retry, minMs: 60 * S, baseMs: 60 * S } }) });
    box.advance('60s'); // what it waits before the first claim does not count
    box.report(box.claim('job'), 'transient');
    throughHandovers(box, 19, null);
    expect(box.changes('TaskExpired')).toEqual([]);
    box.advance('1s');
    expect(box.changes('TaskExpired')).toMatchObject([{ reason: 'total' }]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    box.retry('job');
    box.advance('19s');
    expect(box.claim('job').claim.attemptNo).toBe(2);
  });
});

describe('a soft timeout', () => {
  test('is told once for an attempt, through handovers, and nothing else happens', () => {
    const box = scenario({ dag: job({ softTimeoutMs: 5 * S, retry }) });
    const attempt = box.claim('job');
    throughHandovers(box, 4, attempt);
    expect(box.changes('TaskSlow')).toEqual([]);
    throughHandovers(box, 10, attempt);
    expect(box.changes('TaskSlow')).toMatchObject([{ attemptNo: 1, fence: 1 }]);
    box.report(attempt, 'transient');
    const second = box.claim('job');
    box.advance('6s', [second.worker]);
    expect(box.changes('TaskSlow')).toMatchObject([{ attemptNo: 1 }, { attemptNo: 2 }]);
    expect(box.report(second, 'succeeded')).toEqual(accepted);
  });

  test('of one that ended in time is not told', () => {
    const box = scenario({ dag: chainOf(job({ softTimeoutMs: 5 * S })) });
    box.report(box.claim('job'), 'succeeded');
    box.advance('60s');
    expect(box.changes('TaskSlow')).toEqual([]);
  });

  const chainOf = (spec: ReturnType<typeof job>) => dag([...spec.tasks, ...chain('x').tasks.map(() => task('x', [0]))]);
});

describe('more time for a running attempt', () => {
  const spec = { timeoutMs: 10 * S, retry };

  test('moves its deadline, also for the next owner', () => {
    const box = scenario({ dag: job(spec) });
    const attempt = box.claim('job');
    box.advance('9s', [attempt.worker]).progress(attempt.claim, 0);
    expect(box.extend(attempt, 30 * S)).toEqual({ ok: true, kind: 'extended', leftMs: 30 * S });
    throughHandovers(box, 29, attempt);
    expect(box.task('job').state).toBe('running');
    box.advance('1s', [attempt.worker]);
    expect(codesOf(box)).toEqual([['timeout', 'timeout:attempt']]);
    // The next attempt has its own time.
    const next = box.claim('job');
    box.advance('10s', [next.worker]);
    expect(codesOf(box)).toHaveLength(2);
  });

  test.each(['5h', '-5h'] as Span[])(
    'is as long after a load if the clock has leapt by %s before it was asked for',
    (leap) => {
      const box = scenario({ dag: job(spec) });
      const attempt = box.claim('job');
      box.leap(leap);
      expect(box.extend(attempt, 30 * S)).toEqual({ ok: true, kind: 'extended', leftMs: 30 * S });
      box.leap(leap === '5h' ? '-5h' : '5h');
      throughHandovers(box, 29, attempt);
      expect(box.task('job').state).toBe('running');
      box.advance('1s', [attempt.worker]);
      expect(codesOf(box)).toEqual([['timeout', 'timeout:attempt']]);
    },
  );

  test('asked for twice is asked for once, and never makes it shorter (I22)', () => {
    const box = scenario({ dag: job(spec) });
    const attempt = box.claim('job');
    box.extend(attempt, 30 * S);
    expect(box.extend(attempt, 30 * S)).toMatchObject({ leftMs: 30 * S });
    expect(box.extend(attempt, 1 * S)).toMatchObject({ leftMs: 30 * S });
    expect(box.changes('AttemptExtended')).toHaveLength(1);
  });

  test.each([
    ['its task may take no longer', { totalTimeoutMs: 40 * S }, {}, 40 * S],
    ['its run may take no longer', {}, { timeoutMs: 25 * S }, 25 * S],
    ['no attempt gets more than a day', {}, {}, 86_400_000 + 10 * S],
  ])('is cut where %s', (_, more, ofRun, expected) => {
    const box = scenario({ dag: dag([task('job', [], { ...spec, ...more })], ofRun) });
    expect(box.extend(box.claim('job'), 10 ** 12)).toEqual({ ok: true, kind: 'extended', leftMs: expected });
  });

  test.each(['5h', '-5h'] as Span[])('is cut there also after the clock has leapt by %s (I41)', (leap) => {
    const box = scenario({ dag: job({ ...spec, totalTimeoutMs: 40 * S }) });
    const attempt = box.claim('job');
    box.advance('5s', [attempt.worker]).leap(leap);
    expect(box.extend(attempt, 10 ** 12)).toEqual({ ok: true, kind: 'extended', leftMs: 35 * S });
  });

  test('is refused without progress, to a stale claim, and while the run is closing', () => {
    const box = scenario({ dag: job({ ...spec, timeoutMs: 3_600 * S }) });
    const attempt = box.claim('job');
    box.advance('301s', [attempt.worker]);
    expect(box.extend(attempt, 9 * 3_600 * S)).toMatchObject({ ok: false, code: 'EXTEND_REFUSED' });
    box.progress(attempt.claim, 0);
    expect(box.extend(attempt, 9 * 3_600 * S)).toMatchObject({ ok: true });
    box.cancel();
    expect(box.extend(attempt, 10 * 3_600 * S)).toMatchObject({ ok: false, code: 'EXTEND_REFUSED' });
    box.report(attempt, 'cancelled');
    expect(box.extend(attempt, 10 * 3_600 * S)).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
  });

  test('says that nothing limits a task without a timeout', () => {
    const box = scenario({ dag: job() });
    expect(box.extend(box.claim('job'), 5 * S)).toEqual({ ok: true, kind: 'extended', leftMs: null });
  });
});

describe('the whole run (I41)', () => {
  const timed = { timeoutMs: 20 * S, softTimeoutMs: 5 * S };

  test('fails when its time is over, stops what runs, and is told of as slow once before', () => {
    const box = scenario({ dag: dag([task('a'), task('b', [0])], timed) });
    const attempt = box.claim('a');
    throughHandovers(box, 19, attempt);
    expect(box.changes('RunSlow')).toHaveLength(1);
    expect(box.run().phase).toBe('open');
    box.advance('1s', [attempt.worker]);
    expect(box.changes('RunTimedOut')).toHaveLength(1);
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    expect(attempt.worker.killed[0]).toMatchObject({ reason: 'cancelled' });
    box.report(attempt, 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('waiting for other runs of its dag does not count', () => {
    const box = scenario({ dag: dag([task('a')], { ...timed, maxActiveRuns: 1 }), runs: 2 });
    const first = box.claim('a');
    box.advance('15s', [first.worker]);
    box.report(first, 'succeeded');
    throughHandovers(box, 19, null);
    expect(box.run().phase).toBe('open');
    box.advance('1s');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test.each(['1h', '-24h'] as Span[])('a wall clock that leaps by %s does not matter', (leap) => {
    const box = scenario({ dag: dag([task('a')], timed) });
    box.leap(leap).advance('19.9s');
    expect(box.run().phase).toBe('open');
    box.advance('0.1s');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a run that was stopped goes on when one of its tasks is retried, with its whole time', () => {
    const box = scenario({ dag: dag([task('a'), task('b', [0])], timed) });
    const attempt = box.claim('a');
    box.advance('20s', [attempt.worker]);
    box.report(attempt, 'cancelled');
    expect(box.retry('a')).toMatchObject({ ok: true });
    throughHandovers(box, 19, null);
    box.report(box.claim('a'), 'succeeded');
    box.report(box.claim('b'), 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});
