import { describe, expect, test } from 'vitest';
import { accepted, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

describe('the attempts of a lost worker are given up within its lease (I25)', () => {
  test('and not before', () => {
    const box = scenario({ dag: job() });
    const { worker } = box.claim('job');
    box.advance('6s', [worker]).advance('14.9s');
    expect(box.task('job').state).toBe('running');
    box.advance('0.2s');
    expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 1, lostCount: 1 });
    expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'lost', taskState: 'retrying' }]);
  });

  test('all of them at once, and only its own', () => {
    const box = scenario({ dag: dag(['a', 'b', 'c'].map((name) => task(name))), workers: ['w1', 'w2'] });
    const [dead, alive] = [box.worker('w1'), box.worker('w2')];
    box.claim('a', dead);
    box.claim('b', alive);
    box.claim('c', dead);
    box.advance('16s', [alive]);
    expect(['a', 'b', 'c'].map((name) => box.task(name).state)).toEqual(['ready', 'running', 'ready']);
  });

  test('one that heartbeats in time keeps them for a day, over many handovers', () => {
    const box = scenario({ dag: job(), audit: false });
    const attempt = box.claim('job');
    for (let i = 0; i < 24; i++) box.advance('1h', [attempt.worker]).killOwner();
    expect(box.report(attempt, 'succeeded')).toEqual(accepted);
  });

  test.each(['1h', '-24h'] as const)('a wall clock that leaps by %s ends no lease', (leap) => {
    const box = scenario({ dag: job() });
    const { worker } = box.claim('job');
    box.leap(leap).advance('14s');
    expect(box.task('job').state).toBe('running');
    box.heartbeat(worker).leap(leap).advance('14s');
    expect(box.task('job').state).toBe('running');
    box.advance('2s');
    expect(box.task('job').state).toBe('ready');
  });

  test('a worker that lent slots and ran nothing for an hour has its whole lease with the next attempt', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.lend(box.worker(), 1, true).advance('1h').submit();
    expect(box.task('job').state).toBe('running');
    box.advance('14s');
    expect(box.task('job').state).toBe('running');
    box.advance('2s');
    expect(box.task('job').lostCount).toBe(1);
  });
});

describe('handovers do not give a dead worker its time again (I25)', () => {
  test('its silence is stored once, and counts from the first takeover', () => {
    const box = scenario({ dag: job() });
    box.claim('job');
    for (let i = 0; i < 4; i++) box.killOwner().advance('3s');
    expect(box.changes('WorkerSilenced')).toHaveLength(1);
    expect(box.task('job').state).toBe('running');
    box.killOwner().advance('3.1s'); // 15 s since the first, and time to be heard by this owner
    expect(box.task('job')).toMatchObject({ state: 'ready', lostCount: 1 });
    expect(box.node.store.silentWorkers(box.shard)).toEqual([]);
  });

  test.each([2, 2.9, 5])('owners that go after %d s each do not put it off', (seconds) => {
    const box = scenario({ dag: job() });
    box.claim('job');
    const lostAfter = () => {
      for (let passed = 0; passed < 60; passed += seconds) {
        box.killOwner().advance(`${seconds}s`);
        if (box.changes('AttemptEnded').length > 0) return box.changes('AttemptEnded')[0]!.endedAt - begin;
      }
      return null;
    };
    const begin = box.node.wall;
    expect(lostAfter()).toBeLessThanOrEqual(16_000);
  });

  test('an owner after a long time without one gives it time to be heard, each less than the one before', () => {
    const left = [0, 11_000, 13_500, 40_000].map((servedMs) => {
      const box = scenario({ dag: job() });
      box.claim('job');
      box.killOwner().advance('60s', [box.worker()]);
      const { store } = box.node;
      const heads = store.heads.bind(store);
      store.heads = (...args) => {
        const found = heads(...args);
        const silentWorkers = [{ workerId: box.worker().id, silentMs: 60_000, servedMs }];
        return { ...found, shards: found.shards.map((shard) => ({ ...shard, silentWorkers })) };
      };
      box.killOwner();
      const worker = box.state.workers.get(box.worker().id)!;
      return worker.leaseEndsAt - box.node.mono;
    });
    expect(left).toEqual([3_000, 3_000, 1_500, 1_000]);
  });

  test.each([
    ['a heartbeat', (box: ReturnType<typeof scenario>) => box.heartbeat()],
    ['a loan', (box: ReturnType<typeof scenario>) => box.lend(box.worker(), 1)],
  ])('%s ends the silence: the next takeover counts anew', (_, sign) => {
    const box = scenario({ dag: job() });
    box.claim('job');
    box.killOwner().advance('10s');
    expect(box.node.store.silentWorkers(box.shard)).toEqual(['w1']);
    sign(box);
    expect(box.node.store.silentWorkers(box.shard)).toEqual([]);
    box.killOwner().advance('14s');
    expect(box.task('job').state).toBe('running');
  });

  test('a worker heard before the first step after the takeover was never silent', () => {
    const box = scenario({ dag: job() });
    const { worker } = box.claim('job');
    const { node } = box;
    node.state = node.restored();
    box.heartbeat(worker);
    expect(box.changes('WorkerSilenced')).toEqual([]);
  });

  test('silence is forgotten with the last attempt, though the worker is never heard again (I73)', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    box.killOwner();
    box.report(attempt, 'succeeded');
    box.killOwner().advance('20s');
    expect(box.node.store.silentWorkers(box.shard)).toEqual([]);
    expect([...box.state.workers.all()]).toEqual([]);
  });
});

test('a task that kills its workers is given up after its limit of lost attempts (I28)', () => {
  const box = scenario({ dag: job({ retry: { maxAttempts: 9, maxLost: 2 } }), workers: ['w1', 'w2', 'w3'] });
  for (const name of ['w1', 'w2']) {
    const { worker } = box.claim('job', box.worker(name));
    box.heartbeat(worker).advance('16s');
  }
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

describe('a worker that leaves in order', () => {
  test('gives back what it never showed, at no cost (I26, I27)', () => {
    const box = scenario({ dag: job() });
    box.claim('job');
    box.leave();
    expect(box.changes('ClaimReturned')).toMatchObject([{ reason: 'drained' }]);
    expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 0 });
  });

  test('has lost what it showed and did not report; nothing waits for its lease (I27)', () => {
    const box = scenario({ dag: job() });
    box.claim('job');
    box.heartbeat().leave();
    expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 1, lostCount: 0 });
    expect([...box.state.workers.all()]).toEqual([]);
  });

  test.each([
    ['leaves', 'lost:left', (box: Scenario) => box.heartbeat().leave()],
    [
      'is killed while it drains',
      'lost:drained',
      (box: Scenario) => box.heartbeat(box.worker(), { isDraining: true }).advance('16s'),
    ],
  ] as const)('one that %s costs its tasks nothing, however often (I28, I39)', (_, code, go) => {
    const box = scenario({ dag: job({ retry: { maxAttempts: 2, maxLost: 1, baseMs: 0 } }) });
    for (let i = 1; i <= 5; i++) {
      box.claim('job');
      go(box);
      expect(box.changes('AttemptEnded').at(-1)).toMatchObject({
        outcome: 'lost',
        code,
        lostCount: 0,
        taskState: 'retrying',
      });
      box.killOwner();
    }
    // All budgets are as they were: one failure is retried, and one lost attempt is the last.
    box.report(box.claim('job'), 'transient');
    box.killOwner();
    box.claim('job');
    box.heartbeat().advance('16s');
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({
      code: 'lost:silent',
      lostCount: 1,
      taskState: 'failed',
    });
  });

  test('a task that may not be lost at all is not tried again', () => {
    const box = scenario({ dag: job({ retry: { maxAttempts: 2, maxLost: 0 } }) });
    box.claim('job');
    box.heartbeat().leave();
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('one that goes on after all, under the same id, counts again', () => {
    const box = scenario({ dag: job() });
    const { worker } = box.claim('job');
    box.heartbeat(worker, { isDraining: true }).heartbeat(worker).advance('16s');
    expect(box.task('job').lostCount).toBe(1);
  });

  test('is believed through any gateway: its own may have been killed, and the claim with it (I27)', () => {
    const box = scenario({ dag: job() });
    const { worker } = box.claim('job');
    box.feed({ kind: 'WorkerLeft', gateway: 'another' as typeof worker.gateway, workerId: worker.id });
    expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 0 });
  });

  test('is believed by an owner that has loaded its claims since (I27)', () => {
    const box = scenario({ dag: job() });
    box.claim('job');
    box.killOwner().leave();
    expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 0 });
    expect([...box.state.workers.all()]).toEqual([]);
  });
});

test('a gateway that is lost takes its loans along, not the leases of its workers (D6)', () => {
  const box = scenario({ dag: job(), workers: ['w1', 'w2'] });
  const { worker } = box.claim('job');
  box.lend(box.worker('w2'), 3, true);
  box.feed({ kind: 'GatewayLost', gateway: worker.gateway });
  box.submit();
  expect(box.task('job').state).toBe('ready');
  box.advance('10s');
  expect(box.task('job', box.runIds[0]).state).toBe('running');
  worker.gateway = 'second' as typeof worker.gateway;
  box.heartbeat(worker).advance('10s').heartbeat(worker);
  expect(box.task('job', box.runIds[0]).state).toBe('running');
});

test('an attempt that its worker stopped, because it heard no server, counts as lost (I39)', () => {
  const box = scenario({ dag: job({ retry: { maxAttempts: 1, maxLost: 3 } }) });
  const attempt = box.claim('job');
  expect(box.report(attempt, 'lost', { code: 'lost:stopped' })).toEqual(accepted);
  expect(box.report(attempt, 'lost', { code: 'lost:stopped' })).toEqual(accepted);
  expect(box.changes('AttemptEnded')).toMatchObject([{ outcome: 'lost', lostCount: 1, taskState: 'retrying' }]);
  expect(box.report(box.claim('job'), 'succeeded')).toEqual(accepted);
});
