import { describe, expect, test } from 'vitest';
import { accepted, scenario } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';

const timeoutMs = 10_000;

describe('a timeout is enforced by the server (I41)', () => {
  test('with a worker that heartbeats and never ends', () => {
    const box = scenario({ dag: job({ timeoutMs }) });
    const attempt = box.claim('job');
    box.advance('9.9s', [attempt.worker]);
    expect(box.task('job').state).toBe('running');
    box.advance('0.1s', [attempt.worker]);
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'timeout', taskState: 'failed' }]);
    expect(attempt.worker.killed[0]).toMatchObject({ claim: attempt.claim, reason: 'timeout' });
    expect(box.report(attempt, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
  });

  test('counts as a failure, and is tried again within the budget (I39)', () => {
    const box = scenario({ dag: job({ timeoutMs, retry: { maxAttempts: 2, baseMs: 0 } }) });
    const { worker } = box.claim('job');
    box.advance('10s', [worker]);
    expect(box.claim('job').claim.attemptNo).toBe(2);
    box.advance('10s', [worker]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('of an attempt that ended in time does not strike the next one', () => {
    const box = scenario({ dag: job({ timeoutMs, retry: { maxAttempts: 2, baseMs: 0 } }) });
    box.report(box.claim('job'), 'transient');
    box.advance('5s');
    const second = box.claim('job');
    box.advance('6s', [second.worker]);
    expect(box.report(second, 'succeeded')).toEqual(accepted);
  });

  test('survives handovers without starting over', () => {
    const box = scenario({ dag: job({ timeoutMs }) });
    const { worker } = box.claim('job');
    for (let i = 0; i < 3; i++) box.advance('3s', [worker]).killOwner().heartbeat(worker);
    expect(box.task('job').state).toBe('running');
    box.advance('1s', [worker]);
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'timeout' }]);
  });

  test('that ran out while there was no owner is enforced at once', () => {
    const box = scenario({ dag: job({ timeoutMs }) });
    const { worker } = box.claim('job');
    box.node.wall = (box.node.wall + 60_000) as typeof box.node.wall;
    box.killOwner().heartbeat(worker);
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'lost' }]);
  });

  test.each(['1h', '-24h', '365d'] as const)('a wall clock that leaps by %s does not matter', (leap) => {
    const box = scenario({ dag: job({ timeoutMs }) });
    const { worker } = box.claim('job');
    box.leap(leap).advance('9.9s', [worker]);
    expect(box.task('job').state).toBe('running');
    box.advance('0.1s', [worker]);
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'timeout' }]);
  });
});

describe('a timeout that is shorter than the lease, of a worker that is gone', () => {
  test('ends the attempt in time, as lost: it is tried again though it has no retries (I41, I28)', () => {
    const box = scenario({ dag: job({ timeoutMs, retry: { maxAttempts: 1, maxLost: 2 } }), workers: ['w1', 'w2'] });
    const { worker } = box.claim('job');
    box.advance('3s', [worker]).advance('6.9s');
    expect(box.task('job').state).toBe('running');
    box.advance('0.1s');
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'lost', code: 'lost:overdue', lostCount: 1 }]);
    expect(box.report(box.claim('job', box.worker('w2')), 'succeeded')).toEqual(accepted);
  });

  test('is a timeout where the worker was heard a heartbeat ago', () => {
    const box = scenario({ dag: job({ timeoutMs, retry: { maxAttempts: 1 } }) });
    const { worker } = box.claim('job');
    box.advance('5s', [worker]).advance('5s');
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'timeout', code: 'timeout:attempt' }]);
  });

  test('is a timeout where it is so short that no heartbeat was due', () => {
    const box = scenario({ dag: job({ timeoutMs: 1_000, retry: { maxAttempts: 1 } }) });
    box.claim('job');
    box.advance('1s');
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'timeout' }]);
  });

  test('which was loaded, and whose worker nobody has heard since, ends it as lost', () => {
    const box = scenario({ dag: job({ timeoutMs, retry: { maxAttempts: 1 } }) });
    const { worker } = box.claim('job');
    box.advance('9s', [worker]).killOwner().advance('1s');
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'lost', code: 'lost:overdue' }]);
  });

  test('one without progress, too, is lost where its worker is', () => {
    const box = scenario({ dag: job({ stuckMs: 8_000, retry: { maxAttempts: 1 } }) });
    box.claim('job');
    box.advance('8s');
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'lost', code: 'lost:overdue' }]);
  });
});
