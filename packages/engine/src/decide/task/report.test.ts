import { describe, expect, test } from 'vitest';
import type { ClaimRef } from '../../model/command.ts';
import { accepted, reportOf, type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, dag, job, task } from '../../testing/specs.ts';

const stale = { ok: false, code: 'STALE_TOKEN' };

describe('a report with any token but the valid one changes nothing and is told so (I21)', () => {
  test.each([
    ['a lower fence', { fence: 0 }],
    ['a higher fence', { fence: 2 }],
    ['another attempt', { attemptNo: 2 }],
    ['another task', { taskNo: 1 }],
    ['a task that the dag does not have', { taskNo: 99 }],
    ['a run that never was', { runId: 5_000_000_000_000_000 - (5_000_000_000_000_000 % 4_194_304) + 7 * 65_536 }],
  ])('%s', (_, wrong) => {
    const box = scenario({ dag: chain('a', 'b') });
    const attempt = box.claim('a');
    const forged = { ...attempt, claim: { ...attempt.claim, ...wrong } as ClaimRef };
    const before = box.node.journal.length;
    expect(box.report(forged, 'succeeded')).toMatchObject(stale);
    expect(box.node.journal).toHaveLength(before);
    expect(box.task('a').state).toBe('running');
    expect(box.report(attempt, 'succeeded')).toEqual(accepted);
  });

  test('one for a shard of another node is passed on', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    const elsewhere = { ...attempt, claim: { ...attempt.claim, runId: attempt.claim.runId + 65_536 } as ClaimRef };
    expect(box.report(elsewhere, 'succeeded')).toMatchObject({ ok: false, code: 'NOT_OWNER' });
  });
});

describe('a report repeated with its token has the effect of one and gets the same answer (I22)', () => {
  test.each<[string, (box: Scenario) => unknown]>([
    ['the run goes on', () => undefined],
    ['the next task runs', (box) => box.claim('b')],
    ['after a handover', (box) => box.killOwner()],
    ['the run was cancelled meanwhile', (box) => box.cancel()],
    ['the run has ended and is history', (box) => box.report(box.claim('b'), 'succeeded')],
  ])('%s', (_, meanwhile) => {
    const box = scenario({ dag: chain('a', 'b') });
    const attempt = box.claim('a');
    expect(box.report(attempt, 'succeeded')).toEqual(accepted);
    meanwhile(box);
    const before = box.node.journal.length;
    expect(box.report(attempt, 'succeeded')).toEqual(accepted);
    expect(box.node.journal).toHaveLength(before);
  });

  test.each(['succeeded', 'transient', 'permanent', 'cancelled'] as const)(
    '%s, its commit still in flight',
    (outcome) => {
      const box = scenario({ dag: job() });
      const attempt = box.claim('job');
      box.hold().report(attempt, outcome);
      expect(box.report(attempt, outcome)).toEqual(accepted);
      box.settle();
      expect(box.changes('AttemptEnded')).toHaveLength(1);
    },
  );

  test('the run is forgotten between the needs of the repeat and its step', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    box.hold().report(attempt, 'succeeded');
    const repeat = reportOf(attempt, 'succeeded');
    const seen = box.node.fetch([repeat]);
    box.settle();
    expect(box.node.decide([repeat], seen).answers).toEqual([accepted]);
  });

  test('the next attempt runs already', () => {
    const box = scenario({ dag: job({ retry: { maxAttempts: 2, baseMs: 0 } }) });
    const first = box.claim('job');
    box.report(first, 'transient');
    const second = box.claim('job');
    expect(box.report(first, 'transient')).toEqual(accepted);
    expect(box.task('job')).toMatchObject({ state: 'running', attemptCount: 2 });
    expect(box.report(second, 'succeeded')).toEqual(accepted);
  });

  test('another outcome than the one recorded is no repeat (I21)', () => {
    const box = scenario({ dag: chain('a', 'b') });
    const attempt = box.claim('a');
    box.report(attempt, 'transient');
    expect(box.report(attempt, 'succeeded')).toMatchObject(stale);
  });

  test('what the server ended itself is not confirmed to the worker (I21)', () => {
    const box = scenario({ dag: job() });
    const attempt = box.claim('job');
    box.advance('16s');
    expect(box.report(attempt, 'succeeded')).toMatchObject(stale);
  });

  test.each([
    ['a cancel', [accepted, 'lost'], (box: Scenario) => box.cancel()],
    // Ends the attempt at once: no report does any more.
    ['a cancel with force', [stale, 'cancelled'], (box: Scenario) => box.force()],
    [
      'a failure that closes the run',
      [accepted, 'lost'],
      (box: Scenario) => box.report(box.claim('other', box.worker('w2')), 'permanent'),
    ],
  ] as const)(
    'after %s what is not recorded is called stale, and each repeat gets the same answer (lost: %j; I21, I22, I42)',
    (_, lost, close) => {
      for (const [outcome, answer, recorded] of [
        ['succeeded', stale, 'cancelled'],
        ['transient', stale, 'cancelled'],
        ['cancelled', accepted, 'cancelled'],
        ['lost', ...lost],
      ] as const) {
        const spec = dag([task('job'), task('other')], { onFailure: 'fail_fast' });
        const box = scenario({ dag: spec, workers: ['w1', 'w2'] });
        const attempt = box.claim('job');
        close(box);
        expect(box.report(attempt, outcome, { output: '1' })).toMatchObject(answer);
        expect(box.changes('AttemptEnded').at(-1)).toMatchObject({
          taskNo: 0,
          outcome: recorded,
          taskState: 'cancelled',
          output: null,
        });
        expect(box.run().phase).toBe('ended');
        // Of a run in memory, and of one that is found in the database.
        expect(box.report(attempt, outcome, { output: '1' })).toMatchObject(answer);
        box.killOwner();
        expect(box.report(attempt, outcome, { output: '1' })).toMatchObject(answer);
      }
    },
  );
});

test('the output of an attempt that succeeded is kept, of no other (I36)', () => {
  const box = scenario({ dag: job({ retry: { maxAttempts: 2, baseMs: 0 } }) });
  box.report(box.claim('job'), 'transient', { output: 'half', error: 'boom' });
  box.report(box.claim('job'), 'succeeded', { output: 'whole' });
  expect(box.changes('AttemptEnded').map(({ output, error }) => [output, error])).toEqual([
    [null, 'boom'],
    ['whole', null],
  ]);
});
