import { describe, expect, test } from 'vitest';
import type { BackfillSpec } from '../../model/backfill.ts';
import type { BackfillUid, DagId, Instant, ScheduleNo } from '../../model/ids.ts';
import { blockersOf } from '../../tables/queue/blockers.ts';
import type { EngineSettings } from '../../tables/state.ts';
import { CallLines } from '../../testing/call-lines.ts';
import { START } from '../../testing/node.ts';
import { reportOf, type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, every, task } from '../../testing/specs.ts';

const HOURLY = every('0 * * * *');
const begun = (box: Scenario) => box.effects.filter(({ kind }) => kind === 'SendAssignment').length;
const halts = (box: Scenario) => box.changes('DagHalted');
const resume = (box: Scenario, dagId: DagId = box.dagId) =>
  box.feed({ kind: 'ResumeDag', shard: box.shard, tenantId: TENANT, dagId, actor: box.actor });
const few = (settings: Partial<EngineSettings>) => ({ settings });
const two = () => dag([task('a'), task('b', [0])]);

/** list → work (for each item) */
const fanned = (call: object = {}) =>
  dag([task('list', [], { facts: [[]] }), task('work', [], { group: 0, ...call })], {
    groups: [{ name: 'work', parent: null, map: { over: [{ from: 'task', task: 0, fact: 0 }], mode: 'product' } }],
  });
const unfold = (box: Scenario, items: number) =>
  box.report(box.claim('list'), 'succeeded', { output: JSON.stringify(Array.from({ length: items }, (_, i) => i)) });
const endAll = (box: Scenario) => {
  for (const effect of box.effects.splice(0))
    if (effect.kind === 'SendAssignment') box.feed(reportOf(box.attemptOf(effect), 'succeeded'));
};

describe('a dag that creates more tasks in a minute than it may', () => {
  test('is halted: what runs goes on, all it has waits, and a resume lets it go (I46)', () => {
    const box = scenario({ dag: two(), runs: 2, ...few({ mostFanOut: 5 }) });
    const first = box.claim('a');
    box.submit({ count: 2 });
    expect(halts(box)).toMatchObject([{ cause: 'fan_out', tasks: 6, most: 5 }]);
    box.lend(box.worker(), 10, true);
    expect(begun(box)).toBe(1);
    expect(box.report(first, 'succeeded')).toMatchObject({ ok: true });
    expect(begun(box)).toBe(1);
    expect(blockersOf(box.state, TENANT)).toMatchObject([{ code: 'halted', subject: 'dag:etl', count: 4 }]);
    expect(resume(box)).toMatchObject({ ok: true });
    expect(begun(box)).toBe(5);
    expect(box.changes('RunCreated')).toHaveLength(4);
  });

  test('stays halted when its shard has another owner, and runs that come wait', () => {
    const box = scenario({ dag: two(), runs: 3, ...few({ mostFanOut: 5 }) });
    box.killOwner().advance('6s');
    box.submit();
    box.lend(box.worker(), 10, true);
    expect(begun(box)).toBe(0);
    resume(box);
    expect(begun(box)).toBe(4);
  });

  test('is not halted by as many in a longer time', () => {
    const box = scenario({ dag: two(), runs: 2, ...few({ mostFanOut: 5 }) });
    for (let i = 0; i < 5; i++) {
      box.advance('2m');
      box.submit({ count: 2 });
    }
    expect(halts(box)).toEqual([]);
  });

  test('counts from 0 after a resume, and is halted again if it goes on', () => {
    const box = scenario({ dag: two(), runs: 3, ...few({ mostFanOut: 5 }) });
    resume(box);
    box.submit({ count: 2 });
    expect(halts(box)).toHaveLength(1);
    box.submit();
    expect(halts(box)).toHaveLength(2);
  });

  test('holds back no other dag (I47)', () => {
    const box = scenario({ dag: two(), runs: 3, ...few({ mostFanOut: 5 }) });
    const other = box.deploy(dag([task('x')]), 'other');
    box.submit({ dagId: other });
    box.lend(box.worker(), 10, true);
    expect(begun(box)).toBe(1);
  });

  test('a resume of one that is not halted, or of another tenant, changes nothing', () => {
    const box = scenario({ dag: two(), runs: 3, ...few({ mostFanOut: 5 }) });
    const { shard, dagId, actor } = box;
    const tenantId = 9 as typeof TENANT;
    const refused = { ok: false, code: 'DAG_NOT_FOUND' };
    expect(box.feed({ kind: 'ResumeDag', shard, tenantId, dagId, actor })).toMatchObject(refused);
    resume(box);
    resume(box);
    expect(box.changes('DagResumed')).toHaveLength(1);
  });
});

describe('with a quota of its tenant', () => {
  const withQuota = (box: Scenario, hard: number | null, soft: number | null = null) =>
    void box.feed({ kind: 'SetQuotas', quotas: [{ tenantId: TENANT, quota: 'fanout', soft, hard, used: 0 }] });

  test('that is halted by it, the count outlives a handover (I50)', () => {
    const box = scenario({ dag: two(), runs: 0 });
    withQuota(box, 5);
    box.submit({ count: 2 });
    box.killOwner().advance('6s');
    withQuota(box, 5);
    expect(halts(box)).toEqual([]);
    box.submit();
    expect(halts(box)).toMatchObject([{ cause: 'fan_out', tasks: 6, most: 5 }]);
    resume(box);
    box.submit({ count: 2 });
    expect(halts(box)).toHaveLength(1);
    box.submit();
    expect(halts(box)).toHaveLength(2);
  });

  test('a soft limit alone halts nothing', () => {
    const box = scenario({ dag: two(), runs: 0 });
    withQuota(box, null, 1);
    box.submit({ count: 5 });
    expect(halts(box)).toEqual([]);
  });
});

describe('a dag whose live runs have more tasks than it may', () => {
  test('is halted, and goes on above it once it is resumed; the tasks of ended runs do not count', () => {
    const box = scenario({ dag: dag([task('a')]), runs: 2, ...few({ mostLiveTasks: 3 }) });
    box.lend(box.worker(), 10, true);
    endAll(box);
    box.submit({ count: 3 });
    expect(halts(box)).toEqual([]);
    box.submit({ count: 2 });
    expect(halts(box)).toMatchObject([{ cause: 'live_tasks', tasks: 4, most: 3 }]);
    resume(box);
    box.submit();
    expect(halts(box)).toHaveLength(1);
    endAll(box);
    endAll(box);
    box.submit({ count: 4 });
    expect(halts(box)).toHaveLength(2);
  });
});

describe('together with', () => {
  test('a map of 10,000: it stops where it is, and the rest comes after the resume', () => {
    const box = scenario({ dag: fanned(), audit: false, ...few({ mostFanOut: 3_000 }) });
    unfold(box, 10_000);
    expect(halts(box)).toHaveLength(1);
    const made = box.changes('MapUnfolded').at(-1)!.until;
    expect(made).toBeLessThan(4_100);
    box.advance('10s');
    expect(box.changes('MapUnfolded').at(-1)!.until).toBe(made);
    for (let i = 0; i < 4; i++) {
      resume(box);
      box.advance('1s');
    }
    expect(box.changes('MapUnfolded').at(-1)!.until).toBe(10_000);
  });

  test('a map that is halted at a takeover: it goes on after the resume', () => {
    const box = scenario({ dag: fanned(), ...few({ mostFanOut: 20, unfoldPerStep: 10 }) });
    unfold(box, 40);
    const made = box.changes('MapUnfolded').at(-1)!.until;
    box.killOwner().advance('6s');
    expect(box.changes('MapUnfolded').at(-1)!.until).toBe(made);
    resume(box);
    box.advance('1s');
    expect(box.changes('MapUnfolded').at(-1)!.until).toBeGreaterThan(made);
  });

  test('child runs: a halted dag makes no calls until it is resumed, and a halted child waits', () => {
    const kid = dag(['a', 'b'].map((name) => task(name, [], { queue: 'kids' })));
    const box = scenario({ dag: kid, runs: 0, workers: { w1: ['default'], w2: ['kids'] }, ...few({ mostFanOut: 8 }) });
    const lines = new CallLines(box, { etl: box.dagId });
    const parent = box.deploy(fanned({ child: { dag: 'etl' } }), 'parent');
    box.submit({ dagId: parent });
    unfold(box, 4);
    lines.deliver();
    expect(box.changes('RunCreated').filter(({ cause }) => cause === 'parent')).toHaveLength(4);
    box.submit({ dagId: parent });
    unfold(box, 9);
    lines.deliver();
    expect(halts(box).map(({ dagId }) => dagId)).toContain(parent);
    const before = box.changes('RunCreated').length;
    box.advance('5s');
    lines.deliver();
    expect(box.changes('RunCreated')).toHaveLength(before);
    resume(box, parent);
    box.advance('1s');
    lines.deliver();
    expect(box.changes('RunCreated').length).toBeGreaterThan(before);
    expect(halts(box).map(({ dagId }) => dagId)).toContain(box.dagId);
    box.lend(box.worker('w2'), 10, true);
    expect(begun(box)).toBe(2);
  });

  test('a backfill: it creates nothing while the dag is halted, and all of it in the end', () => {
    const box = scenario({ dag: { ...two(), schedule: HOURLY }, ...few({ mostFanOut: 5 }) });
    const { shard, dagId, actor } = box;
    const toAt = START;
    const spec: BackfillSpec = {
      ...{ scheduleNo: 1 as ScheduleNo, scheduleName: 'default', schedule: HOURLY, which: 'missing', order: 'forward' },
      ...{ fromAt: (toAt - 10 * 3_600_000) as Instant, toAt, maxActive: 100, share: 0.05 },
    };
    const uid = '00000000-0000-7000-8000-000000000007' as BackfillUid;
    box.feed({ kind: 'StartBackfill', shard, tenantId: TENANT, dagId, uid, spec, windowCount: 10, actor });
    const made = () => box.changes('RunCreated').filter(({ cause }) => cause === 'backfill').length;
    box.advance('5s');
    const before = made();
    expect(halts(box)).toHaveLength(1);
    expect(before).toBeLessThan(10);
    box.advance('30s');
    expect(made()).toBe(before);
    for (let i = 0; i < 10 && made() < 11; i++) {
      resume(box);
      box.advance('2s');
    }
    expect(made()).toBe(11);
  });

  test('a suspended tenant: neither of the two lets go what the other holds (I46)', () => {
    const box = scenario({ dag: two(), runs: 3, ...few({ mostFanOut: 5 }) });
    const suspend = (isSuspended: boolean) =>
      void box.feed({ kind: 'SetTenants', tenants: [{ tenantId: TENANT, weight: 1, isSuspended }] });
    suspend(true);
    box.lend(box.worker(), 10, true);
    resume(box);
    expect(begun(box)).toBe(0);
    box.submit({ count: 3 });
    suspend(false);
    expect(begun(box)).toBe(0);
    resume(box);
    expect(begun(box)).toBe(6);
  });
});
