import { createHash } from 'node:crypto';
import type {
  AttemptClaimed,
  Change,
  DagDeployed,
  Instant,
  RunCreated,
  RunId,
  ScheduleNo,
  TaskNo,
  TenantId,
} from '@signalbox/engine';
import { nextRunId, RESIDENT } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { claimed, created, deployed, ended, newWorkerId, START, succeeded } from './conformance/changes.ts';
import type { TestNode } from './conformance/test-node.ts';
import { Fixtures } from './fixture.testing.ts';
import { migrate } from './migrate.ts';
import type { ListRuns, RunPlace } from './queries/run-list.ts';
import { openQueries } from './queries.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const OURS = 1 as TenantId;
const HOSTILE = `'; drop table run; -- "\\ {,} \u0000 \u0001 \ud800 \u{1F600} NULL`;

/** Runs spread over three days, the middle one without a partition of its own. */
async function withRuns(count: number) {
  const box = await fixtures.open({ now: () => START });
  const node = await box.node([5, 6]);
  const [one, other] = [deployed(5, 1), deployed(6, 1)];
  await node.commit([one, other]);
  const worker = newWorkerId();
  const runs: RunCreated[] = [];
  for (let no = 0; no < count; no++) {
    const dag = no % 3 === 0 ? other : one;
    const stamp = node.stamp(dag.shard);
    const day = Math.floor((no * 3) / count);
    node.stamps.set(dag.shard, { ...stamp, lastRunId: Math.max(stamp.lastRunId, day * 86_400 * 2 ** 22 * 5) as RunId });
    const run = created(dag, node.newRunId(dag.shard));
    runs.push(run);
    const changes: Change[] = [run];
    if (no % 2 === 0) changes.push(claimed(run, worker), succeeded(claimed(run, worker)), ended(run));
    await node.commit(changes);
  }
  return { box, node, runs, one, other };
}

async function listAll(box: Awaited<ReturnType<typeof withRuns>>['box'], list: Omit<ListRuns, 'before'>) {
  const found: RunId[] = [];
  let before: RunPlace | null = null;
  for (let page = 0; page < 200; page++) {
    const { runs, next } = await box.queries.listRuns(OURS, { ...list, before });
    expect(runs.length).toBeLessThanOrEqual(list.limit);
    found.push(...runs.map(({ runId }) => runId));
    if (next === null) return found;
    expect(next).not.toEqual(before);
    before = next;
  }
  throw new Error('the list has no end');
}

test('runs made within one second in many shards are listed in the order of their making, page by page without holes or repeats', async () => {
  const box = await fixtures.open({ now: () => START });
  const shards = [3, 60, 17, 5, 42];
  const node = await box.node(shards);
  const dags = shards.map((shard) => deployed(shard, 1));
  await node.commit(dags);
  const runs: RunCreated[] = [];
  // Over three seconds, several in the same millisecond.
  for (let no = 0; no < 45; no++) {
    const dag = dags[(no * 7) % shards.length]!;
    const at = (START + no * 60 - (no % 3) * 60) as typeof START;
    const actor = (no % 5 === 2 ? HOSTILE : 'schedule') as RunCreated['actor'];
    const run = { ...created(dag, nextRunId(dag.shard, node.stamp(dag.shard).lastRunId, at)), at, actor };
    node.stamps.set(dag.shard, { ...node.stamp(dag.shard), lastRunId: run.runId });
    runs.push(run);
    await node.commit(no % 2 === 0 ? [run] : [run, ...endedAtOnce(run)]);
  }
  const newest = (list: readonly RunCreated[]) =>
    [...list].sort((a, b) => b.at - a.at || b.runId - a.runId).map(({ runId }) => runId);
  for (const limit of [1, 2, 7, 100]) {
    expect(await listAll(box, { limit })).toEqual(newest(runs));
    expect(await listAll(box, { limit, state: 'open' })).toEqual(newest(runs.filter((_, no) => no % 2 === 0)));
    expect(await listAll(box, { limit, state: 'succeeded' })).toEqual(newest(runs.filter((_, no) => no % 2 === 1)));
    const byOne = runs.filter(({ actor }) => actor === HOSTILE);
    expect(await listAll(box, { limit, actor: byOne[0]!.actor })).toEqual(newest(byOne));
    const openByOne = runs.filter(({ actor }, no) => actor === HOSTILE && no % 2 === 0);
    expect(await listAll(box, { limit, actor: byOne[0]!.actor, state: 'open' })).toEqual(newest(openByOne));
  }
});

const endedAtOnce = (run: RunCreated): Change[] => {
  const claim = claimed(run, newWorkerId());
  return [claim, succeeded(claim), ended(run)];
};

test('lists have every run once, newest first, whatever the page and filter', async () => {
  const { box, runs, one } = await withRuns(30);
  const newestFirst = (list: readonly RunCreated[]) => list.map(({ runId }) => runId).sort((a, b) => b - a);
  for (const limit of [1, 7, 100]) {
    expect(await listAll(box, { limit })).toEqual(newestFirst(runs));
    const ofOne = runs.filter((run) => run.dagId === one.dagId);
    expect(await listAll(box, { limit, dagName: one.name })).toEqual(newestFirst(ofOne));
    for (const [state, parity] of [
      ['open', 1],
      ['ended', 0],
      ['succeeded', 0],
    ] as const) {
      const expected = newestFirst(runs.filter((_, no) => no % 2 === parity));
      expect(await listAll(box, { limit, state })).toEqual(expected);
    }
    expect(await listAll(box, { limit, state: 'failed' })).toEqual([]);
    expect(await listAll(box, { limit, state: 'closing', dagName: one.name })).toEqual([]);
  }
  expect(await box.queries.listRuns(OURS, { limit: 10, dagName: 'no such dag' })).toEqual({ runs: [], next: null });
});

test('a list that its first look cannot fill goes on where that look was cut', async () => {
  const box = await fixtures.open({ now: () => START });
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  await node.commit([dag]);
  const dayMs = 86_400_000;
  // More runs in each day than the first look shows of a dag; every ninth is of the actor who is asked for.
  const runs = Array.from({ length: 400 }, (_, no): RunCreated => {
    const at = (START - (1 - Math.floor(no / 200)) * dayMs + (no % 200) * 1_000) as typeof START;
    const runId = nextRunId(dag.shard, node.stamp(5).lastRunId, at);
    node.stamps.set(dag.shard, { ...node.stamp(5), lastRunId: runId });
    return { ...created(dag, runId), at, actor: (no % 9 === 0 ? HOSTILE : 'schedule') as RunCreated['actor'] };
  });
  await node.commit(runs);
  const ids = (list: readonly RunCreated[]) => list.map(({ runId }) => runId).sort((a, b) => b - a);
  const wanted = runs.filter(({ actor }) => actor === HOSTILE);
  for (const limit of [5, 30, 100]) {
    expect(await listAll(box, { limit })).toEqual(ids(runs));
    expect(await listAll(box, { limit, actor: wanted[0]!.actor })).toEqual(ids(wanted));
  }
  // The look after the first one is wide enough for a page of few among many.
  expect((await box.queries.listRuns(OURS, { limit: 30, actor: wanted[0]!.actor })).runs).toHaveLength(30);
});

test('a run comes with its spec, its tasks and the attempts before the newest', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  const run = created(dag, node.newRunId(5), { params: HOSTILE });
  const first = claimed(run, newWorkerId());
  const again = { ...first, attemptNo: 2 as never, fence: 2 as never, firstOfTask: false, firstOfRun: false };
  const lost: Change = {
    ...succeeded(first),
    outcome: 'lost',
    taskState: 'retrying',
    retryAt: (START + 5) as Instant,
    lostCount: 1,
    error: HOSTILE,
  };
  await node.commit([dag, run, first]);
  await node.commit([lost]);
  expect(await box.queries.getRun(OURS, run.uid)).toMatchObject({
    tasks: [{ state: 'retrying', attemptNo: 1, error: HOSTILE }],
    supersededAttempts: [],
  });
  await node.commit([again]);
  await node.commit([{ ...succeeded(again, '{"rows":3}'), lostCount: 1 }, ended(run)]);
  expect(await box.queries.getRun(OURS, run.uid.toUpperCase())).toMatchObject({
    uid: run.uid,
    dagName: dag.name,
    spec: dag.spec,
    phase: 'ended',
    outcome: 'succeeded',
    createdBy: run.actor,
    tasks: [{ taskNo: 0, state: 'succeeded', attemptNo: 2, lostCount: 1, hasOutput: true, error: null }],
    supersededAttempts: [{ taskNo: 0, attemptNo: 1, outcome: 'lost', error: HOSTILE }],
  });
  expect(await box.queries.resolveRun(OURS, run.uid)).toEqual({ shard: 5, runId: run.runId });
  expect(await box.queries.getPayload(OURS, { uid: run.uid, taskNo: null })).toBe(HOSTILE);
  expect(await box.queries.getPayload(OURS, { uid: run.uid, taskNo: 0 as TaskNo })).toBe('{"rows":3}');
  expect(await box.queries.getPayload(OURS, { uid: run.uid, taskNo: 1 as TaskNo })).toBeNull();
});

test('a speculative attempt shows while it runs beside the first, and after it took over; its log can be read', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  const run = created(dag, node.newRunId(5));
  const first = claimed(run, newWorkerId());
  const { runId, taskNo } = first;
  const next = { attemptNo: 2 as never, fence: 2 as never, workerId: newWorkerId(), claimedAt: (START + 3) as Instant };
  const claim = { runId, taskNo, attemptNo: next.attemptNo, fence: next.fence, workerId: next.workerId };
  await node.commit([dag, run, first]);
  await node.commit([
    { kind: 'SpeculativeClaimed', ...claim, notes: JSON.stringify({ second: next }), at: next.claimedAt },
  ]);
  expect(await box.queries.getRun(OURS, run.uid)).toMatchObject({
    tasks: [{ attemptNo: 1, speculative: false, state: 'running' }],
    supersededAttempts: [{ attemptNo: 2, fence: 2, speculative: true, outcome: null, claimedAt: START + 3 }],
  });
  expect((await box.queries.getLogAttempts(OURS, { runId, taskNo: null }))?.attempts).toMatchObject([
    { attemptNo: 1, endedAt: null },
    { attemptNo: 2, endedAt: null },
  ]);
  const end = { outcome: 'cancelled', claimedAt: first.at, startedAt: null, endedAt: (START + 9) as Instant } as const;
  const { attemptNo, fence, workerId } = first;
  await node.commit([
    {
      kind: 'SpeculativeTookOver',
      ...{ runId, taskNo, attemptNo, fence, workerId, ...end, error: HOSTILE, code: 'superseded', next },
      notes: JSON.stringify({ speculative: 2 }),
    },
    { ...succeeded({ ...first, ...claim, at: next.claimedAt }), speculative: true },
    ended(run),
  ]);
  expect(await box.queries.getRun(OURS, run.uid)).toMatchObject({
    tasks: [{ attemptNo: 2, speculative: true, state: 'succeeded', outcome: 'succeeded' }],
    supersededAttempts: [
      { attemptNo: 1, speculative: false, outcome: 'cancelled', code: 'superseded', error: HOSTILE },
    ],
  });
});

test('a run whose uid is of another year than its id is found all the same', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  const run = created(dag, node.newRunId(5), { uid: '00000000-0001-7000-8000-000000000005' as RunCreated['uid'] });
  await node.commit([dag, run]);
  expect(await box.queries.resolveRun(OURS, run.uid)).toEqual({ shard: 5, runId: run.runId });
});

test('what belongs to another tenant is not there, by any question (I65)', async () => {
  const box = await fixtures.open();
  const node = await box.node([5, 6]);
  const theirs = await box.queries.ensureTenant('theirs');
  expect(await box.queries.ensureTenant('theirs')).toBe(theirs);
  const mine = deployed(5, 1);
  const dag = { ...deployed(6, 1), tenantId: theirs, name: mine.name };
  const run = created(dag, node.newRunId(6), { params: 'private' });
  const own = created(mine, node.newRunId(5));
  const schedule = { cron: '* * * * *', zone: 'UTC', gap: 'skip', missed: 'skip', missedLimit: 1 } as const;
  const at = START;
  const key = { shard: dag.shard, dagId: dag.dagId, scheduleNo: 1 as ScheduleNo, name: 'default' };
  await node.commit([
    mine,
    dag,
    run,
    own,
    {
      kind: 'ScheduleSet',
      origin: 'definition',
      fired: 0,
      dueAt: RESIDENT,
      ...key,
      fault: null,
      revision: 1,
      spec: schedule,
      paused: true,
      decidedUntil: at,
      actor: dag.actor,
      at,
    },
    {
      kind: 'WindowDecided',
      ...key,
      firesAt: at,
      wallTime: null,
      runId: run.runId,
      skipped: null,
      count: 1,
      untilAt: at,
      at,
    },
    {
      kind: 'WindowDecided',
      ...key,
      firesAt: at,
      wallTime: '02:30',
      runId: null,
      skipped: 'gap',
      count: 1,
      untilAt: at,
      at,
    },
  ]);
  const { queries } = box;
  expect(await queries.getRun(OURS, run.uid)).toBeNull();
  expect(await queries.resolveRun(OURS, run.uid)).toBeNull();
  expect(await queries.getPayload(OURS, { uid: run.uid, taskNo: null })).toBeNull();
  expect((await queries.listRuns(OURS, { limit: 10 })).runs.map(({ runId }) => runId)).toEqual([own.runId]);
  expect((await queries.listRuns(OURS, { limit: 10, state: 'open' })).runs.map(({ runId }) => runId)).toEqual([
    own.runId,
  ]);
  expect(await queries.listWindows(OURS, { dagName: mine.name, before: null, limit: 10 })).toEqual([]);
  expect((await queries.listDags(OURS, { after: null, limit: 10 })).map(({ dagId }) => dagId)).toEqual([mine.dagId]);
  expect(await queries.findDag(OURS, mine.name)).toMatchObject({ dagId: mine.dagId, schedules: [] });
  expect(await queries.findDag(theirs, mine.name)).toMatchObject({
    shard: 6,
    dagId: dag.dagId,
    spec: dag.spec,
    schedules: [{ paused: true, spec: schedule, decidedUntil: at }],
  });
  expect(await queries.getPayload(theirs, { uid: run.uid, taskNo: null })).toBe('private');
  expect(await queries.listWindows(theirs, { dagName: mine.name, before: null, limit: 10 })).toMatchObject([
    { wallTime: null, runUid: run.uid, skipped: null },
    { wallTime: '02:30', runUid: null, skipped: 'gap' },
  ]);
});

test.each(['', 'x', "' or 1=1 --", '00000000-0000-7000-8000-0000000000ff', '00000000-0000-7000-8000-000000000005'])(
  'a run by the uid %j is not there',
  async (uid) => {
    const box = await fixtures.open();
    expect(await box.queries.getRun(OURS, uid)).toBeNull();
    expect(await box.queries.resolveRun(OURS, uid)).toBeNull();
  },
);

test('a token is found by its hash until it is revoked', async () => {
  const { queries } = await fixtures.open();
  const sha256 = createHash('sha256').update('secret').digest();
  const token = { tenantId: OURS, name: HOSTILE, role: 'admin', sha256 };
  expect(await queries.findToken(sha256)).toBeNull();
  expect(await queries.createToken(token)).toBe(true);
  expect(await queries.createToken({ ...token, sha256: createHash('sha256').update('other').digest() })).toBe(false);
  const found = {
    tenantId: 1,
    tenant: 'default',
    name: HOSTILE,
    role: 'admin',
    leftMs: null,
    queues: null,
    slots: null,
    serves: null,
    isSuspended: false,
    mayBeCritical: true,
    defaultPriority: null,
  };
  expect(await queries.findToken(sha256)).toEqual(found);
  expect(await queries.listTokens(OURS)).toMatchObject([{ name: HOSTILE, role: 'admin', revokedAt: null }]);
  expect(await queries.revokeToken(OURS, HOSTILE, { actor: HOSTILE, origin: HOSTILE })).toBe(true);
  expect(await queries.revokeToken(OURS, HOSTILE, { actor: HOSTILE, origin: HOSTILE })).toBe(false);
  expect(await queries.findToken(sha256)).toBeNull();
});

test('each database has its own incarnation and key', async () => {
  const clusterOfNewDatabase = async () => {
    const url = await fixtures.emptyDatabase();
    await migrate(url);
    const queries = await openQueries({ url });
    return queries.cluster().finally(() => queries.close());
  };
  const [a, b] = [await clusterOfNewDatabase(), await clusterOfNewDatabase()];
  expect(a).toMatchObject({ shardCount: 64 });
  expect(a.tokenKey).toHaveLength(32);
  expect(a.tokenKey.equals(b.tokenKey)).toBe(false);
  expect(a.incarnation).not.toBe(b.incarnation);
});

test('hostile names and keys are data (I69)', async () => {
  const box = await fixtures.open();
  const node: TestNode = await box.node([5]);
  const dag = { ...deployed(5, 1), name: HOSTILE, hash: HOSTILE, actor: HOSTILE as never };
  const spec = { ...dag.spec, tasks: [{ ...(dag.spec.tasks[0] as object), name: HOSTILE }] as never };
  const run = created(dag, node.newRunId(5), { actor: HOSTILE as never });
  const need = { shard: dag.shard, tenantId: OURS, operation: HOSTILE, target: dag.dagId, key: HOSTILE };
  const struck: Change = {
    kind: 'RunStruck',
    runId: run.runId,
    strikes: 2,
    setAside: true,
    reason: HOSTILE,
    at: START,
  };
  const key: Change = { kind: 'KeyStored', ...need, bodyHash: HOSTILE, runId: run.runId, uid: run.uid, at: START };
  await node.commit([{ ...dag, spec }, run, key]);
  await node.commit([struck]);
  const seen = await box.store.fetch([
    { kind: 'dag_name', shard: dag.shard, tenantId: OURS, name: HOSTILE, schedules: [HOSTILE] },
    { kind: 'row', table: 'keys', key: need },
  ]);
  expect(seen).toMatchObject({
    dags: [{ name: HOSTILE }],
    versions: [{ hash: HOSTILE, spec }],
    tables: { keys: [{ key: HOSTILE }] },
  });
  expect(await box.queries.findDag(OURS, HOSTILE)).toMatchObject({ name: HOSTILE, deployedBy: HOSTILE, spec });
  expect(await box.queries.getRun(OURS, run.uid)).toMatchObject({
    createdBy: HOSTILE,
    strikeReason: HOSTILE,
    setAside: true,
  });
  const [first, second] = await box.store.readJournal(dag.shard, 0, 10);
  expect(first).toMatchObject({
    commitNo: 1,
    changes: [{ name: HOSTILE, spec }, { kind: 'RunCreated' }, { key: HOSTILE }],
  });
  expect(second?.changes).toEqual([struck]);
});

test('an event finds the dags whose newest version waits for it, of its own tenant, and none that is retired (I65)', async () => {
  const box = await fixtures.open();
  const node = await box.node([5, 6]);
  const on = (event: string | null, dag: DagDeployed): DagDeployed =>
    event === null ? dag : { ...dag, spec: { ...dag.spec, on: { event } } };
  const named = async (event: string, tenantId = OURS) =>
    (await box.queries.dagsOnEvent(tenantId, [event])).map(({ shard, dagId, name }) => [shard, dagId, name]);
  const [one, other] = [on(HOSTILE, deployed(5, 1)), on(HOSTILE, deployed(6, 1))];
  const row = ({ shard, dagId, name }: DagDeployed) => [shard, dagId, name];
  await node.commit([one, other]);
  expect(await named(HOSTILE)).toEqual([row(one), row(other)]);
  expect(await named('other')).toEqual([]);
  expect(await named(HOSTILE, 2 as TenantId)).toEqual([]);
  const { shard, dagId, tenantId, actor, at } = one;
  const retired = (dag: DagDeployed): Change => ({ kind: 'DagRetired', shard: dag.shard, dagId: dag.dagId, actor, at });
  await node.commit([on('other', deployed(5, 1, 2)), retired(other)]);
  expect(await named(HOSTILE)).toEqual([]);
  expect(await named('other')).toEqual([row(one)]);
  await node.commit([on(null, deployed(5, 1, 3))]);
  expect(await named('other')).toEqual([]);
  const back: Change = { kind: 'DagRevived', shard, dagId, tenantId, event: 'other', actor, at };
  await node.commit([retired(one), back]);
  expect(await named('other')).toEqual([row(one)]);
});

test('a run that was opened again keeps its older attempts with their errors, also of one commit (I32, I37)', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  const run = created(dag, node.newRunId(5));
  const { runId } = run;
  const first = claimed(run, newWorkerId());
  const claim = (no: number): AttemptClaimed => {
    return { ...first, attemptNo: no as never, fence: no as never, firstOfTask: no === 1, firstOfRun: no === 1 };
  };
  const failed = (no: number): Change[] => [
    { ...succeeded(claim(no)), outcome: 'permanent', taskState: 'failed', error: `${no} ${HOSTILE}` },
    { kind: 'RunClosing', runId, outcome: 'failed', actor: dag.actor, at: START },
    { kind: 'RunEnded', runId, outcome: 'failed', at: START },
  ];
  const again = (no: number): Change[] => [
    { kind: 'RunReopened', runId, admitted: true, retryNo: 0, actor: dag.actor, at: START },
    {
      kind: 'TaskCleared',
      runId,
      taskNo: 0 as TaskNo,
      attemptNo: no as never,
      fence: no as never,
      from: 'failed',
      freshBudget: true,
      more: false,
      actor: dag.actor,
      at: START,
    },
  ];
  await node.commit([dag, run, claim(1), ...failed(1)]);
  await node.commit(again(1));
  expect(await box.queries.getRun(OURS, run.uid)).toMatchObject({
    ...{ phase: 'open', outcome: null, endedAt: null, closedBy: null },
    tasks: [{ state: 'cleared', attemptNo: 1, outcome: 'permanent', error: `1 ${HOSTILE}` }],
    supersededAttempts: [],
  });
  // Two whole lives in one commit, each over the row of the one before.
  await node.commit([claim(2), ...failed(2), ...again(2), claim(3), ...failed(3), ...again(3), claim(4)]);
  await node.commit([succeeded(claim(4), '{}'), ended(run)]);
  expect(await box.queries.getRun(OURS, run.uid)).toMatchObject({
    ...{ phase: 'ended', outcome: 'succeeded' },
    tasks: [{ state: 'succeeded', attemptNo: 4 }],
    supersededAttempts: [1, 2, 3].map((no) => ({ attemptNo: no, outcome: 'permanent', error: `${no} ${HOSTILE}` })),
  });
});
