import type { Change, Instant, RunCreated, RunId, ScheduleNo, TenantId } from '@signalbox/engine';
import { firstRunIdAt, RESIDENT } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { claimed, created, deployed, ended, keyOf, newWorkerId, succeeded } from './conformance/changes.ts';
import type { TestNode } from './conformance/test-node.ts';
import { type Fixture, Fixtures } from './fixture.testing.ts';
import { DAY_MS, dayOf } from './leaf.ts';

const TODAY = Date.UTC(2026, 5, 15) as Instant;
const at = (day: number): Instant => (TODAY + day * DAY_MS) as Instant;

const fixtures = new Fixtures({ now: () => at(-20) }, async ({ partitions }) => {
  for (let day = -20; day <= 0; day++) await partitions.ensureAhead(at(day));
});
afterAll(() => fixtures.stop());

async function atWork(): Promise<{ box: Fixture; node: TestNode; dag: ReturnType<typeof deployed> }> {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const dag = deployed(5, 1, 1, at(-20));
  await commitAt(node, -20, [dag]);
  return { box, node, dag };
}

async function commitAt(node: TestNode, day: number, changes: readonly Change[]): Promise<void> {
  await node.chain.commit({ ...node.batch(changes), at: at(day) });
}

/** A run of that day; ended on another one if one is given. */
async function runAt(node: TestNode, dag: ReturnType<typeof deployed>, day: number, endedOn: number | null) {
  const stamp = node.stamp(5);
  const lastRunId = Math.max(stamp.lastRunId, firstRunIdAt(at(day)) + 5 * 65_536) as RunId;
  node.stamps.set(stamp.shard, { ...stamp, lastRunId });
  const run = created(dag, node.newRunId(5), { params: '{}', at: at(day) });
  const claim = claimed(run, newWorkerId());
  await commitAt(node, day, [run, claim]);
  if (endedOn !== null) {
    await commitAt(node, endedOn, [succeeded(claim, 'out'), { ...ended(run), at: at(endedOn) }]);
  }
  return run;
}

const there = async (box: Fixture, runs: readonly RunCreated[]) => {
  const seen = await box.store.fetch(runs.map(({ runId }) => ({ kind: 'run', runId })));
  return runs.map(({ runId }) => seen.runs.some((run) => run.runId === runId));
};
const expire = (box: Fixture, day: number, more: { maxSteps?: number; keysOlderThan?: Instant } = {}) =>
  box.store.dropExpired({ now: TODAY, olderThan: at(day), journalOlderThan: at(day), ...more });

test('a day goes whole when all its runs ended long enough ago, and not before (I62)', async () => {
  const { box, node, dag } = await atWork();
  const old = await runAt(node, dag, -15, -15);
  const endedLate = await runAt(node, dag, -14, -2);
  const fresh = await runAt(node, dag, -3, -3);
  const dropped = await expire(box, -10);
  expect(dropped.complete).toBe(true);
  expect(await there(box, [old, endedLate, fresh])).toEqual([false, true, true]);
  const [row] = await box.sql('select to_regclass($1) as gone, to_regclass($2) as kept', [
    `run_d${dayOf(at(-15))}`,
    `run_d${dayOf(at(-14))}`,
  ]);
  expect(row).toEqual({ gone: null, kept: `run_d${dayOf(at(-14))}` });
});

test('a day with a live run is gone through run by run: what is live stays whole, the rest goes', async () => {
  const { box, node, dag } = await atWork();
  const old = await runAt(node, dag, -15, -15);
  const live = await runAt(node, dag, -15, null);
  expect(await expire(box, -10)).toMatchObject({ runs: 1, complete: true });
  expect(await there(box, [old, live])).toEqual([false, true]);
  expect(await box.store.fetchPayloads([old, live].map(({ runId }) => ({ runId, taskNo: null })))).toHaveLength(1);
  for (const table of ['task', 'payload']) {
    expect(await box.sql(`select run_id::text from ${table}`)).toEqual([{ run_id: String(live.runId) }]);
  }
  expect((await node.load([5])).runs).toMatchObject([{ runId: live.runId, tasks: [{ state: 'running' }] }]);
});

test('a run that an unexpired key points at stays as long as the key', async () => {
  const { box, node, dag } = await atWork();
  const run = await runAt(node, dag, -15, -15);
  await commitAt(node, -1, [{ ...keyOf(run, dag.shard, 'late'), at: at(-1) }]);
  expect(await expire(box, -10)).toMatchObject({ keys: 0, runs: 0 });
  expect(await there(box, [run])).toEqual([true]);
  expect(await expire(box, -10, { keysOlderThan: at(0) })).toMatchObject({ keys: 1 });
  expect(await there(box, [run])).toEqual([false]);
});

test.each([
  ['a run that is still open', null, 'default'],
  ['a run that ended lately', -1, 'default'],
  ['a run that is still open, of a day without a partition', null, 'no partition'],
] as const)('the key of %s stays with it, however old both are (I62, I11)', async (_, endedOn, place) => {
  const { box, node, dag } = await atWork();
  const day = place === 'default' ? -15 : -100;
  const old = await runAt(node, dag, day, day);
  const kept = await runAt(node, dag, day, endedOn);
  for (const run of [old, kept])
    await commitAt(node, day, [{ ...keyOf(run, dag.shard, `k${run.runId}`), at: at(day) }]);
  expect(await expire(box, -10)).toMatchObject({ keys: 1, runs: 1, complete: true });
  const key = keyOf(kept, dag.shard, `k${kept.runId}`);
  const found = async () =>
    (await box.store.fetch([{ kind: 'row', table: 'keys', key }])).tables.keys?.map(({ runId }) => runId);
  expect(await found()).toEqual([kept.runId]);
  expect(await there(box, [old, kept])).toEqual([false, true]);
  // Once its run is past its age, both go, and the day as a whole.
  if (endedOn === null) await commitAt(node, -1, [{ ...ended(kept), at: at(-1) }]);
  await expire(box, 0);
  expect(await found()).toEqual([]);
  expect(await there(box, [kept])).toEqual([false]);
});

test('a run with an open dead letter keeps its key', async () => {
  const { box, node, dag } = await atWork();
  const run = await runAt(node, dag, -15, -15);
  await commitAt(node, -15, [{ ...keyOf(run, dag.shard, 'failed'), at: at(-15) }]);
  await box.sql(`insert into dead_letter (shard, run_id, task_no, attempt_no, uid, task_name, tenant_id, dag_id, version_no, reason, outcome, fingerprint, state, at)
    values (5, ${run.runId}, 0, 1, gen_random_uuid(), 'a', 1, ${dag.dagId}, 1, 0, 1, 1, 0, ${at(-15)})`);
  expect(await expire(box, -10)).toMatchObject({ keys: 0, runs: 0 });
});

test('runs of a day without a partition expire too', async () => {
  const { box, node, dag } = await atWork();
  const run = await runAt(node, dag, -100, -100);
  const live = await runAt(node, dag, -90, null);
  expect(await expire(box, -10)).toMatchObject({ runs: 1 });
  expect(await there(box, [run, live])).toEqual([false, true]);
});

test('journal and windows go by their own age, and days to come are made', async () => {
  const { box, node, dag } = await atWork();
  const key = { shard: dag.shard, dagId: dag.dagId, scheduleNo: 1 as ScheduleNo, name: 'default' };
  const spec = { cron: '* * * * *', zone: 'UTC', gap: 'skip', missed: 'skip', missedLimit: 1 } as const;
  await commitAt(node, -15, [
    {
      kind: 'ScheduleSet',
      origin: 'definition',
      fired: 0,
      dueAt: RESIDENT,
      fault: null,
      ...key,
      revision: 1,
      spec,
      paused: false,
      decidedUntil: at(-16),
      actor: dag.actor,
      at: at(-15),
    },
  ]);
  for (const day of [-15, -5, -100]) {
    const window = {
      firesAt: at(day),
      untilAt: at(day),
      wallTime: null,
      runId: null,
      skipped: 'missed',
      count: 1,
    } as const;
    await commitAt(node, -2, [{ kind: 'WindowDecided', ...key, ...window, at: at(-2) }]);
  }
  await box.store.dropExpired({ now: TODAY, olderThan: at(-10), journalOlderThan: at(-3) });
  const list = { dagName: dag.name, before: null, limit: 10 };
  expect((await box.queries.listWindows(1 as TenantId, list)).map(({ firesAt }) => firesAt)).toEqual([at(-5)]);
  expect((await box.store.readJournal(dag.shard, 0, 10)).map(({ commitNo }) => commitNo)).toEqual([3, 4, 5]);
  expect((await node.load([5])).schedules).toMatchObject([{ decidedUntil: at(-5) }]);
  // A window of a day whose partition has gone finds its place.
  const late = {
    firesAt: at(-15),
    untilAt: at(-15),
    wallTime: null,
    runId: null,
    skipped: 'missed',
    count: 1,
  } as const;
  await commitAt(node, 0, [{ kind: 'WindowDecided', ...key, ...late, at: at(0) }]);
  expect([...box.store.partitions.days.run]).toContain(dayOf(at(3)));
});

test('a call takes no more steps than it may, and goes on at the next', async () => {
  const { box, node, dag } = await atWork();
  await runAt(node, dag, -15, -15);
  let calls = 1;
  while (!(await expire(box, -10, { maxSteps: 3 * calls })).complete) calls += 1;
  expect(calls).toBeGreaterThan(1);
});
