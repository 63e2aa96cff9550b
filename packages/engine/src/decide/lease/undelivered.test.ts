import { expect, test } from 'vitest';
import { step } from '../../engine.ts';
import { accepted, scenario } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

test('a claim that never arrived goes back, keeps its place, and costs no retry (I26)', () => {
  const box = scenario({ dag: job(), workers: ['deaf', 'w2'], runs: 2 });
  const [deaf, other] = [box.worker('deaf'), box.worker('w2')];
  const [first] = box.runIds;
  deaf.isDeaf = true;
  const lost = box.claim('job', deaf);
  expect(lost.claim.runId).toBe(first);
  box.advance('6s', [deaf]);
  expect(box.changes('ClaimReturned')).toMatchObject([{ runId: first, fence: 1, reason: 'undelivered' }]);
  const again = box.claim('job', other);
  expect(again.claim).toEqual({ runId: first, taskNo: 0, attemptNo: 1, fence: 2 });
  expect(box.report(again, 'succeeded')).toEqual(accepted);
});

test('not before its time: the assignment may be on its way (I26)', () => {
  const box = scenario({ dag: job() });
  box.worker().isDeaf = true;
  box.claim('job');
  box.heartbeat().advance('1.9s').heartbeat(); // With the first of them the owner sees that the commit is through.
  expect(box.task('job').state).toBe('running');
  box.advance('0.2s').heartbeat();
  expect(box.task('job').state).toBe('ready');
});

test('a slow commit does not count: time begins when the assignment is sent (I26)', () => {
  const box = scenario({ dag: job() });
  box.hold().tryClaim();
  for (let i = 0; i < 4; i++) box.advance('3s').heartbeat();
  expect(box.task('job').state).toBe('running');
  box.settle().advance('1.9s').heartbeat().advance('1h', [box.worker()]);
  expect(box.task('job')).toMatchObject({ state: 'running', attemptCount: 1, lostCount: 0 });
  expect(box.changes('ClaimReturned')).toEqual([]);
});

test('a heartbeat heard before its time proves nothing, though it comes after (I26)', () => {
  const box = scenario({ dag: job() });
  box.worker().isDeaf = true;
  box.claim('job');
  box.heartbeat().advance('2.1s').heartbeat(box.worker(), { agoMs: 500 });
  expect(box.task('job').state).toBe('running');
  expect(box.heartbeat().task('job').state).toBe('ready');
});

test('a worker that shows the claim keeps it, however seldom it is heard (I25)', () => {
  const box = scenario({ dag: job() });
  const { worker } = box.claim('job');
  box.advance('14s').heartbeat(worker).advance('14s').heartbeat(worker);
  expect(box.task('job')).toMatchObject({ state: 'running', attemptCount: 1 });
});

test('a worker that is not heard either may have died of the task: that attempt counts as lost (I28)', () => {
  const box = scenario({ dag: job({ retry: { maxLost: 3 } }), workers: ['w1', 'w2', 'w3', 'w4'] });
  for (const worker of ['w1', 'w2', 'w3']) {
    box.claim('job', box.worker(worker));
    box.advance('16s');
  }
  expect(box.tryClaim(box.worker('w4'))).toBeNull();
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

test('a heartbeat that was overtaken by a later one proves nothing (I25)', () => {
  const box = scenario({ dag: job() });
  const { worker, claim } = box.claim('job');
  box.advance('3s', [worker]);
  worker.holds = []; // Made before the claim arrived, heard through another gateway, late.
  box.heartbeat(worker, { agoMs: 2_500 });
  expect(box.task('job').state).toBe('running');
  worker.holds = [claim];
  expect(box.heartbeat().task('job').state).toBe('running');
});

test('of two sets in one batch the later one tells: what the earlier lacks may have arrived between them (I25)', () => {
  const box = scenario({ dag: job() });
  const { worker, claim } = box.claim('job');
  box.feed({ kind: 'Tick' }); // hears of the commit: from here the claim is timed
  box.advance('3s');
  const { state } = box;
  const heard = { kind: 'WorkerHeard', gateway: worker.gateway, workerId: worker.id, agoMs: 0, knows: [] } as const;
  step(
    state,
    [
      { ...heard, holds: [] },
      { ...heard, holds: [claim] },
    ],
    {
      now: state.now,
      mono: state.mono,
      seed: 1,
      settledBatchNo: state.batchNo,
      seen: null,
    },
  );
  expect(box.task('job').state).toBe('running');
});

test('a worker that shows an attempt no more for a while, and did not report it, has lost it (I25)', () => {
  const box = scenario({ dag: job() });
  const { worker, claim } = box.claim('job');
  box.heartbeat();
  worker.drop(claim);
  box.heartbeat();
  expect(box.task('job').state).toBe('running'); // it may be an old set, late
  box.advance('3s').heartbeat();
  expect(box.task('job').state).toBe('running');
  box.advance('3s').heartbeat();
  expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 1, lostCount: 1 });
});

test('an old set that comes late, by another gateway, gives up nothing (I25)', () => {
  const box = scenario({ dag: job() });
  const { worker, claim } = box.claim('job');
  box.heartbeat();
  worker.holds = []; // as it was before the claim
  box.heartbeat();
  worker.holds = [claim];
  box.advance('6s', [worker]);
  worker.holds = [];
  box.heartbeat();
  expect(box.task('job').state).toBe('running');
});

test('a refused claim goes back at once, keeps its place, and costs no retry (I26)', () => {
  const box = scenario({ dag: dag([task('a'), task('b')]), workers: ['w1', 'w2'] });
  const refused = box.claim('a');
  box.refuse(refused);
  const again = box.claim('a', box.worker('w2')); // before b
  expect(again.claim).toMatchObject({ attemptNo: 1, fence: 2 });
  expect(box.refuse(refused)).toMatchObject({ ok: true }); // of an old fence: changes nothing (I21)
  expect(box.task('a').state).toBe('running');
});

test('what a worker has and does not own any more it is told to stop (I21)', () => {
  const box = scenario({ dag: job() });
  const { worker, claim } = box.claim('job');
  box.advance('16s');
  worker.killed.length = 0;
  box.heartbeat();
  expect(worker.killed).toMatchObject([{ claim, reason: 'lost' }]);
});
