import type { Change } from '@signalbox/engine';
import { scenario } from '@signalbox/engine/testing';
import { expect, test } from 'vitest';
import type { Session } from '../gateway/session.ts';
import { Histogram } from './histogram.ts';
import { Metrics } from './metrics.ts';

test('each value is in one bucket, on its bound too', () => {
  const histogram = new Histogram([1, 10]);
  for (const value of [0, 1, 1.5, 10, 11, 1_000]) histogram.add(value);
  expect(histogram.seen()).toEqual({ bounds: [1, 10], counts: [2, 2, 2], sum: 1_023.5, count: 6 });
});

test('what is committed is counted by what it was, a batch without changes is no commit', () => {
  const metrics = new Metrics();
  const changes = [
    { kind: 'RunCreated', cause: 'event' },
    { kind: 'AttemptClaimed' },
    { kind: 'ClaimReturned', reason: 'undelivered' },
    { kind: 'AttemptClaimed' },
    { kind: 'AttemptEnded', outcome: 'lost' },
    { kind: 'RunEnded', outcome: 'failed' },
    { kind: 'RunReopened' },
    { kind: 'SpeculativeClaimed' },
    { kind: 'SpeculativeTookOver', outcome: 'cancelled' },
    { kind: 'AttemptEnded', outcome: 'succeeded', speculative: true },
  ] as Change[];
  metrics.committed(changes, { commandCount: 3, tookMs: 1.5 });
  metrics.committed([], { commandCount: 2, tookMs: 99 });
  metrics.committed([], { commandCount: 0, tookMs: 0 });
  metrics.reloaded();
  expect(metrics.seen(null, [], 7)).toMatchObject({
    ...{ shardsOwned: 0, liveRuns: 0, inboxLength: 7, claims: 3, commits: 1, changes: 10, reloads: 1, runsReopened: 1 },
    runsCreated: { api: 0, schedule: 0, event: 1 },
    runsEnded: { succeeded: 0, failed: 1, cancelled: 0 },
    claimsReturned: { refused: 0, undelivered: 1, drained: 0 },
    attemptsEnded: { succeeded: 1, lost: 1, cancelled: 1 },
    speculativeAttempts: { begun: 1, won: 1 },
    commitMs: { sum: 1.5, count: 1 },
    commandsPerBatch: { sum: 5, count: 2 },
  });
});

test('what there is now is taken from the working set when somebody asks', () => {
  const box = scenario({ runs: 0 });
  const retry = { maxAttempts: 1, minMs: 0, baseMs: 0, factor: 1, maxMs: 0, maxLost: 1 };
  const job = { name: 'job', handler: 'job', queue: 'default' as never, needs: [], retry, timeoutMs: null };
  const limits = { maxActiveRuns: null, maxActiveTasks: 1, schedule: null };
  box.dagId = box.deploy({ tasks: [job], priority: 'normal', ...limits });
  box.submit({ count: 3 });
  box.submit({ priority: 'critical' });
  box.claim('job');
  const session = (slots: number, held: number, isDraining: boolean) =>
    ({ slots, held: new Map(Array.from({ length: held }, (_, i) => [i, i])), isDraining }) as unknown as Session;
  const sessions = [session(4, 1, false), session(2, 1, true)];
  expect(new Metrics().seen(box.state, sessions, 0)).toMatchObject({
    ...{ shardsOwned: 1, liveRuns: 4, runningAttempts: 1, workers: 2, slots: 6, freeSlots: 3 },
    readyTasks: { critical: 0, high: 0, normal: 3, low: 0 },
  });
});
