import { describe, expect, test } from 'vitest';
import { accepted, scenario } from '../../testing/scenario.ts';
import { chain, job } from '../../testing/specs.ts';

describe('a run that makes decisions throw is set aside, and stops no other (I57)', () => {
  test('with its second strike; the first one is stored', () => {
    const box = scenario({ dag: job(), runs: 2 });
    const [bad, good] = box.runIds;
    box.strike(bad);
    box.killOwner();
    expect(box.run(bad).phase).toBe('open');
    box.strike(bad);
    expect(box.changes('RunStruck').map(({ strikes, setAside }) => [strikes, setAside])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(box.claim('job').claim.runId).toBe(good);
    expect(box.tryClaim()).toBeNull();
    box.killOwner();
    expect(box.state.runs.find(bad!)).toBe(-1);
  });

  test('at once, when it is asked for', () => {
    const box = scenario({ dag: job() });
    box.strike(box.lastRun(), true);
    expect(box.changes('RunStruck')).toMatchObject([{ strikes: 1, setAside: true }]);
  });

  test.each(['in memory', 'in the database'] as const)('its attempts, tasks and callers are told so, %s', (where) => {
    const box = scenario({ dag: chain('a', 'b') });
    const attempt = box.claim('a');
    if (where === 'in memory') box.hold();
    box.strike(box.lastRun(), true);
    const aside = { ok: false, code: 'RUN_SET_ASIDE' };
    expect(box.cancel()).toMatchObject(aside);
    expect(box.report(attempt, 'succeeded')).toMatchObject(aside);
    attempt.worker.holds = [attempt.claim];
    box.heartbeat().settle();
    expect(attempt.worker.killed).toMatchObject([{ claim: attempt.claim, reason: 'lost' }]);
    box.advance('1h');
    expect(box.changes('AttemptEnded')).toEqual([]);
  });

  test('it takes up no place again when its shard is loaded anew (I7)', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 3 });
    const [bad, first, second] = box.runIds;
    box.strike(bad, true);
    box.killOwner();
    box.report(box.claim('job'), 'succeeded');
    expect(box.run(first).phase).toBe('ended');
    expect(box.run(second).admitted).toBe(true);
    expect(box.claim('job').claim.runId).toBe(second);
  });

  test('it gives its place to a run that waits (I7)', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 2 });
    const [bad, waiting] = box.runIds;
    box.strike(bad, true);
    expect(box.run(waiting).admitted).toBe(true);
    expect(box.claim('job').claim.runId).toBe(waiting);
  });

  test('also one that can not even be loaded', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 2 });
    const [bad, waiting] = box.runIds;
    box.node.state = box.node.restored((state) => state.quarantined.add(bad!));
    expect(box.strike(bad, true)).toMatchObject({ ok: true });
    expect(box.run(waiting).admitted).toBe(true);
    box.killOwner();
    expect(box.report(box.claim('job'), 'succeeded')).toEqual(accepted);
    expect(box.changes('RunAdmitted')).toHaveLength(1);
  });

  test('one that has ended, or never was, is not struck', () => {
    const box = scenario({ dag: job() });
    box.hold().report(box.settle().claim('job'), 'succeeded');
    box.settle();
    expect(box.strike()).toMatchObject({ ok: false, code: 'RUN_ENDED' });
    expect(box.strike((box.lastRun() + 1) as (typeof box.runIds)[0])).toMatchObject({
      ok: false,
      code: 'RUN_NOT_FOUND',
    });
  });
});
