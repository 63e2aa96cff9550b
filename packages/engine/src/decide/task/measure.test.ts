import { expect, test } from 'vitest';
import { accepted, scenario } from '../../testing/scenario.ts';
import { chain } from '../../testing/specs.ts';

const used = { cpuMs: 1_250, peakBytes: 64 * 1024 * 1024 };

test('what an attempt used is recorded with its end, once', () => {
  const box = scenario({ dag: chain('extract', 'load') });
  const attempt = box.claim('extract');
  expect(box.report(attempt, 'succeeded', { used })).toEqual(accepted);
  expect(box.report(attempt, 'succeeded', { used })).toEqual(accepted);
  const told = box.node.journal.filter(({ kind }) => kind === 'AttemptMeasured');
  expect(told).toEqual([
    {
      kind: 'AttemptMeasured',
      runId: attempt.claim.runId,
      taskNo: 0,
      attemptNo: 1,
      fence: 1,
      ...used,
      at: expect.any(Number),
    },
  ]);
});

test('a report that is stale, or has nothing to tell, measures nothing', () => {
  const box = scenario({ dag: chain('extract', 'load') });
  const attempt = box.claim('extract');
  box.report(attempt, 'succeeded');
  expect(box.report(box.claim('load'), 'succeeded', { used: null })).toEqual(accepted);
  expect(box.report(attempt, 'transient', { used })).not.toEqual(accepted);
  expect(box.node.journal.filter(({ kind }) => kind === 'AttemptMeasured')).toEqual([]);
});
