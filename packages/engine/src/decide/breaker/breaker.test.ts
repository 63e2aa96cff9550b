import { describe, expect, test } from 'vitest';
import { type Attempt, type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';

const RETRY = { maxAttempts: 50, minMs: 1_000, baseMs: 1_000, maxMs: 1_000 };
const CAUSE = { tasks: 4, withinMs: 60_000, pauseMs: 5_000, maxPauseMs: 20_000 };
const many = (more: Parameters<typeof job>[0] = {}, runs = 8, settings = {}) =>
  scenario({ dag: job({ retry: RETRY, ...more }), runs, settings: { causeBreaker: CAUSE, ...settings } });

/** All that can be claimed now; the workers go on being heard. */
function claimAll(box: Scenario): Attempt[] {
  const attempts: Attempt[] = [];
  for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) attempts.push(next);
  return attempts;
}
function failAll(box: Scenario, attempts = claimAll(box), error = 'connect ECONNREFUSED 10.0.0.1:5432'): number {
  for (const attempt of attempts) box.report(attempt, 'transient', { error });
  return attempts.length;
}
const states = (box: Scenario) => box.changes('BreakerSet').map(({ state }) => state);

/** A probe is let through, waits for a slot, and is cancelled: the next one goes a pause after it. */
function expectPauseAfterProbe(box: Scenario): void {
  box.advance('9s', [box.worker()]); // let through at 5 s, and nobody lends a slot
  const [probe] = claimAll(box);
  box.cancel(probe!.claim.runId);
  box.report(probe!, 'cancelled');
  box.advance('4s');
  expect(claimAll(box)).toEqual([]);
  box.advance('1s');
  expect(claimAll(box)).toHaveLength(1);
}

describe('many tasks that fail on one thing become probes', () => {
  test('once enough of them have failed their retries are held, and one is let through after the pause', () => {
    const box = many();
    expect(failAll(box)).toBe(8);
    expect(states(box)).toEqual(['open']);
    box.advance('4s');
    expect(claimAll(box)).toEqual([]);
    box.advance('1s');
    expect(claimAll(box)).toHaveLength(1);
    box.advance('60s', [box.worker()]);
    expect(claimAll(box)).toEqual([]); // not while the probe runs
  });

  test('a probe that fails doubles the pause, up to the most; what is held keeps its attempts (I39)', () => {
    const box = many();
    failAll(box);
    const probed: number[] = [];
    for (let second = 1; second <= 80; second++) {
      box.advance('1s');
      if (failAll(box) > 0) probed.push(second);
    }
    expect(probed).toEqual([5, 15, 35, 55, 75]);
    const attempts = box.runIds.map((runId) => box.task('job', runId).attemptCount);
    expect(attempts.reduce((sum, count) => sum + count)).toBe(8 + 5);
    expect(box.changes('DeadLetterWritten')).toEqual([]);
  });

  test('when a probe succeeds the others are let go, more each second, and it closes', () => {
    const box = many({}, 100);
    failAll(box);
    box.advance('5s');
    box.report(claimAll(box)[0]!, 'succeeded');
    const let_go: number[] = [];
    for (let second = 0; second < 6; second++) {
      const attempts = claimAll(box);
      let_go.push(attempts.length);
      for (const attempt of attempts) box.report(attempt, 'succeeded');
      box.advance('1s');
    }
    expect(let_go[0]).toBeLessThan(25);
    expect(let_go.slice(0, 5).reduce((sum, count) => sum + count)).toBe(99);
    expect(let_go.filter((count) => count > 0).length).toBeGreaterThan(2);
    expect(states(box)).toEqual(['open', 'ramping', 'closed']);
    for (const runId of box.runIds) expect(box.run(runId).outcome).toBe('succeeded');
  });

  test('a probe that fails with another error closes it as well: what held them back is gone', () => {
    const box = many();
    failAll(box);
    box.advance('5s');
    failAll(box, claimAll(box), 'unknown column');
    expect(states(box)).toEqual(['open', 'ramping']);
  });

  test('those let go that fail again open it again', () => {
    const box = many({}, 20);
    failAll(box);
    box.advance('5s');
    box.report(claimAll(box)[0]!, 'succeeded');
    box.advance('1s');
    failAll(box);
    expect(states(box)).toEqual(['open', 'ramping', 'open']);
    expect(box.changes('BreakerSet').at(-1)).toMatchObject({ pauseMs: 10_000 });
  });

  test('a success between them, or one task alone, opens nothing', () => {
    const box = many({}, 2);
    for (let i = 0; i < 10; i++) {
      failAll(box);
      box.advance('1s');
    }
    expect(states(box)).toEqual([]);
    const other = many({}, 8);
    const attempts = claimAll(other);
    failAll(other, attempts.slice(0, 3));
    other.advance('1s');
    other.report(claimAll(other)[0]!, 'succeeded');
    failAll(other, attempts.slice(3, 6));
    expect(states(other)).toEqual([]);
  });

  test('other dags, other errors and first attempts go on (I47)', () => {
    const box = many();
    failAll(box);
    const other = box.deploy(job({ retry: RETRY }), 'other');
    box.submit({ dagId: other, priority: 'low' });
    box.submit();
    const claimed = claimAll(box);
    expect(claimed.map(({ claim }) => claim.runId)).toEqual([box.runIds.at(-1), box.runIds.at(-2)]);
    failAll(box, claimed, 'something else');
    box.advance('1s');
    expect(claimAll(box)).toHaveLength(2);
  });

  test('retries that were ready when it opened, and not begun, are held too', () => {
    const box = many({}, 12);
    const attempts = claimAll(box);
    failAll(box, attempts.slice(0, 3));
    box.advance('1s'); // ready again
    failAll(box, attempts.slice(3));
    expect(states(box)).toEqual(['open']);
    expect(claimAll(box)).toEqual([]);
    box.advance('5s');
    expect(claimAll(box)).toHaveLength(1);
  });

  test('a dag that wants none has none', () => {
    const box = many({ breaker: null });
    failAll(box);
    box.advance('1s');
    expect(failAll(box)).toBe(8);
    expect(states(box)).toEqual([]);
  });

  test('cancel works on what is held (I42), by hand a task goes past it, and with nothing left it closes', () => {
    const box = many();
    failAll(box);
    box.advance('1s');
    for (const runId of box.runIds.slice(1)) expect(box.cancel(runId)).toMatchObject({ ok: true });
    expect(box.run(box.runIds[3]).phase).toBe('ended');
    expect(box.retry('job', box.runIds[0])).toMatchObject({ ok: true });
    box.report(box.claim('job'), 'succeeded');
    box.advance('30s');
    expect(states(box).at(-1)).toBe('closed');
  });

  test('a handover keeps it: no storm, and the probe that another owner let through counts', () => {
    const box = many();
    failAll(box);
    box.killOwner().advance('1s');
    expect(claimAll(box)).toEqual([]);
    box.advance('4s');
    const [probe] = claimAll(box);
    expect(probe).toBeDefined();
    box.killOwner().heartbeat();
    box.report(probe!, 'succeeded');
    expect(states(box)).toEqual(['open', 'ramping']);
    box.killOwner().advance('3s');
    expect(claimAll(box).length).toBe(7);
  });

  test('a probe that is lost says nothing: the next one tells', () => {
    const box = many();
    failAll(box);
    box.advance('5s');
    expect(claimAll(box)).toHaveLength(1);
    box.heartbeat().advance('16s'); // the worker dies
    expect(states(box)).toEqual(['open']);
    box.advance('5s');
    expect(claimAll(box).length).toBeGreaterThan(0);
  });

  test('the pause begins with the probe, which may have waited for a slot: when it tells nothing the next is a pause later', () => {
    const box = many();
    failAll(box);
    expectPauseAfterProbe(box);
  });

  test('a probe whose claims come back puts the next one off no further', () => {
    const box = many();
    failAll(box);
    box.advance('5s');
    const [first] = claimAll(box);
    box.refuse(first!);
    for (let second = 0; second < 30; second++) {
      box.advance('1s', [box.worker()]);
      const [next] = claimAll(box);
      if (next!.claim.runId !== first!.claim.runId) return;
      box.refuse(next!);
    }
    expect.fail('no other is let through');
  });

  test('a probe that finds no slot is not waited for for ever', () => {
    const box = many();
    failAll(box);
    const ready = () => box.runIds.filter((runId) => box.task('job', runId).state === 'ready');
    box.advance('10s'); // let through, and nobody lends a slot
    const [first, ...others] = ready();
    expect([first !== undefined, others]).toEqual([true, []]);
    box.advance('20s');
    expect(ready()).toHaveLength(1);
    expect(ready()).not.toEqual([first]);
  });

  test('reset by hand lets go', () => {
    const box = many();
    failAll(box);
    const { fingerprint, dagId } = box.changes('BreakerSet')[0]!;
    const reset = { kind: 'ResetBreaker', shard: box.shard, dagId, fingerprint, actor: box.actor } as const;
    expect(box.feed({ ...reset, tenantId: 2 as typeof TENANT })).toMatchObject({
      ok: false,
      code: 'BREAKER_NOT_FOUND',
    });
    expect(box.feed({ ...reset, tenantId: TENANT })).toMatchObject({ ok: true });
    box.advance('1s');
    expect(claimAll(box).length).toBe(8);
    expect(box.feed({ ...reset, dagId: 9_999 as typeof dagId, tenantId: TENANT })).toMatchObject({ ok: false });
  });
});

describe("a dag's own breaker", () => {
  const breaker = { share: 0.5, windowMs: 60_000, minimum: 6, pauseMs: 5_000, maxPauseMs: 10_000 };
  const dag = { breaker, retry: { maxAttempts: 1 } };
  /** Six of the runs have failed, which opens the breaker. */
  const opened = (runs = 20): Scenario => {
    const box = many(dag, runs);
    const attempts = Array.from({ length: 6 }, () => box.claim('job'));
    failAll(box, attempts);
    return box;
  };

  test('holds its new tasks once too many have failed; running ones go on, other dags too (I47)', () => {
    const box = many(dag, 20);
    const first = Array.from({ length: 8 }, () => box.claim('job'));
    failAll(box, first.slice(0, 6));
    expect(box.changes('BreakerSet')).toMatchObject([{ state: 'open', fingerprint: null }]);
    expect(claimAll(box)).toEqual([]);
    box.report(first[6]!, 'succeeded'); // claimed before: proves nothing
    expect(states(box)).toEqual(['open']);
    const other = box.deploy(job(), 'other');
    box.submit({ dagId: other });
    expect(claimAll(box).map(({ claim }) => claim.runId)).toEqual([box.lastRun()]);
  });

  test('probes one by one at a growing pause, and lets go when one succeeds', () => {
    const box = opened(40);
    const seen: number[] = [];
    for (let second = 1; second <= 30; second++) {
      box.advance('1s');
      if (failAll(box) > 0) seen.push(second);
    }
    expect(seen).toEqual([5, 15, 25]);
    box.advance('5s');
    const [probe] = claimAll(box);
    box.report(probe!, 'succeeded');
    expect(states(box).at(-1)).toBe('ramping');
    box.advance('1ms');
    const few = claimAll(box).length;
    expect(few).toBeGreaterThan(0);
    expect(few).toBeLessThan(30);
    box.advance('1s');
    expect(claimAll(box).length).toBeGreaterThan(0);
    box.advance('10s', [box.worker()]);
    expect(states(box).at(-1)).toBe('closed');
  });

  test('the pause begins with the probe, whenever there was one to go', () => {
    const box = opened();
    expectPauseAfterProbe(box);
  });

  test('a probe whose claim came back says nothing: another one goes', () => {
    const box = opened();
    box.advance('5s');
    box.refuse(box.claim('job'));
    expect(claimAll(box)).toEqual([]);
    box.advance('5s');
    expect(claimAll(box)).toHaveLength(1);
  });

  test('a version without breakers lets go what older ones held', () => {
    const box = opened();
    box.deploy(job({ breaker: null }));
    box.advance('5s');
    expect(states(box)).toEqual(['open', 'closed']);
    expect(claimAll(box)).toHaveLength(14);
  });

  test('survives a handover', () => {
    const box = opened();
    box.killOwner();
    expect(claimAll(box)).toEqual([]);
    box.advance('5s');
    expect(claimAll(box)).toHaveLength(1);
  });
});

describe('the budget of retries of a node', () => {
  test('retries beyond it wait for the next second; first attempts do not', () => {
    const box = many({ breaker: null }, 30, { retriesPerSecond: 10 });
    failAll(box);
    box.advance('1s');
    box.submit();
    const claimed = claimAll(box);
    expect(claimed).toHaveLength(11);
    expect(claimed.map(({ claim }) => claim.runId)).toContain(box.lastRun());
    box.advance('1s', [box.worker()]);
    expect(claimAll(box)).toHaveLength(10);
    box.advance('1s', [box.worker()]);
    expect(claimAll(box)).toHaveLength(10);
    expect(claimAll(box)).toEqual([]);
  });

  test('a retry with no backoff counts too; what lost its worker does not wait', () => {
    const box = many({ breaker: null, retry: { ...RETRY, minMs: 0, baseMs: 0 } }, 20, { retriesPerSecond: 5 });
    failAll(box);
    expect(claimAll(box)).toHaveLength(5);
    box.heartbeat().advance('16s');
    box.advance('5s');
    expect(claimAll(box)).toHaveLength(20);
  });
});
