import { describe, expect, test } from 'vitest';
import type { BackfillUid, Instant, ScheduleNo } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { accepted, scenario, TENANT } from '../../testing/scenario.ts';
import { chain, every, job } from '../../testing/specs.ts';

const DAY = 86_400_000;

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

  /** A backfill of three windows, with so many of its runs at work. */
  function backfill(maxActive: number) {
    const schedule = every('0 0 * * *');
    const box = scenario({ dag: job({ schedule }) });
    const [fromAt, toAt] = [(START - 3 * DAY) as Instant, (START - DAY) as Instant];
    const windows = { scheduleNo: 1 as ScheduleNo, scheduleName: 'default', schedule, fromAt, toAt };
    const spec = { ...windows, which: 'missing', order: 'forward', maxActive, share: 0.05 } as const;
    const { shard, dagId, actor } = box;
    const uid = '00000000-0000-7000-8000-000000000107' as BackfillUid;
    box.feed({ kind: 'StartBackfill', shard, tenantId: TENANT, dagId, uid, spec, windowCount: 3, actor });
    box.node.work();
    return { box, uid };
  }

  test('one of a backfill that can not be loaded is no live run of it any more (I19)', () => {
    const { box, uid } = backfill(1);
    const [bad] = box.runIds;
    box.node.state = box.node.restored((state) => state.quarantined.add(bad!));
    box.strike(bad, true);
    // The next window has its place.
    box.node.work();
    expect(box.runIds).toHaveLength(2);
    expect(box.state.backfills.get(uid)?.liveRuns).toBe(1);
  });

  test('one that can not be loaded is set aside once, also if the second strike comes before the first is stored (I37)', () => {
    const { box, uid } = backfill(3);
    const [bad] = box.runIds;
    box.node.state = box.node.restored((state) => state.quarantined.add(bad!));
    box.hold();
    box.strike(bad, true);
    expect(box.strike(bad, true)).toMatchObject({ ok: true });
    box.settle();
    expect(box.changes('RunStruck')).toHaveLength(1);
    expect(box.state.backfills.get(uid)?.liveRuns).toBe(2);
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
