import { expect, test } from 'vitest';
import { accepted, scenario } from '../../testing/scenario.ts';
import { chain, job } from '../../testing/specs.ts';

test('an attempt that runs through a handover keeps its token and may finish (I17)', () => {
  const box = scenario({ dag: chain('extract', 'load'), workers: ['w1'] });
  const attempt = box.claim('extract');
  box.killOwner().advance('6s');
  expect(box.report(attempt, 'succeeded')).toEqual(accepted);
  expect(box.task('load').state).toBe('ready');
});

test.each([
  { case: 'it holds the claim', holds: true, knows: true, state: 'running', attempts: 1 },
  { case: 'it never got the claim', holds: false, knows: true, state: 'ready', attempts: 0 },
  {
    case: 'it does not know the new owner yet, so the claim may still come',
    holds: false,
    knows: false,
    state: 'running',
    attempts: 1,
  },
  {
    case: 'it holds the claim, and does not know the new owner',
    holds: true,
    knows: false,
    state: 'running',
    attempts: 1,
  },
])('after a handover the worker is believed: $case (I17)', ({ holds, knows, state, attempts }) => {
  const box = scenario({ dag: job() });
  const attempt = box.claim('job');
  box.killOwner();
  if (!holds) attempt.worker.drop(attempt.claim);
  box.heartbeat(attempt.worker, { knows });
  expect(box.task('job')).toMatchObject({ state, attemptCount: attempts });
  expect(box.task('job').fence).toBe(1);
});

test('a claim returned after a handover has a new fence the next time; the old one is refused (I20, I21)', () => {
  const box = scenario({ dag: job() });
  const lost = box.claim('job');
  box.killOwner();
  lost.worker.drop(lost.claim);
  box.heartbeat();
  const again = box.claim('job');
  expect(again.claim).toMatchObject({ fence: 2, attemptNo: 1 });
  expect(box.report(lost, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
  expect(box.report(again, 'succeeded')).toEqual(accepted);
});

test('what was in flight when the owner died never was (I15, I16)', () => {
  const box = scenario({ dag: job() });
  box.hold();
  expect(box.tryClaim()).toBeNull(); // decided, not sent
  box.killOwner();
  expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 0, fence: 0 });
  expect(box.claim('job').claim).toMatchObject({ fence: 1, attemptNo: 1 });
});
