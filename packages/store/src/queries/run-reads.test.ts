/** Runs that are read together are what each of them is by itself, whoever asks beside them. */
import { type Instant, nextRunId, type RunCreated, type TenantId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { claimed, created, deployed, ended, newUid, newWorkerId, specOf, succeeded } from '../conformance/changes.ts';
import { Database } from '../database.ts';
import { Fixtures } from '../fixture.testing.ts';
import { Partitions } from '../partitions.ts';
import { KnownSpecs } from './known-specs.ts';
import { type BatchedRun, readRunBatch, type WantedRun } from './run-batch.ts';
import { RunReads, type WholeRun } from './run-reads.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const OURS = 1 as TenantId;
const MEGABYTES = 16 * 1024 * 1024;
const now = Date.now() as Instant;
const databases: Database[] = [];
afterAll(() => Promise.all(databases.map((database) => database.close())));

function databaseAt(url: string, options: { preparedStatements: boolean }): Database {
  const timeouts = { connectTimeoutMs: 5_000, answerTimeoutMs: 5_000, statementTimeoutMs: 4_000 };
  const database = new Database({ url, ...options, ...timeouts, log: () => {}, maxConnections: 2 });
  databases.push(database);
  return database;
}

async function withRuns() {
  const box = await fixtures.open();
  const theirs = await box.queries.ensureTenant('theirs');
  const node = await box.node([5, 6]);
  const mine = deployed(5, 1, 1, now);
  const other = { ...deployed(6, 1, 1, now), tenantId: theirs };
  const large = { ...deployed(6, 2, 1, now), spec: specOf(101) };
  await node.commit([mine, other, large]);
  const run = (dag: typeof mine, params: string | null): RunCreated => {
    const runId = nextRunId(dag.shard, node.stamp(dag.shard).lastRunId, now);
    node.stamps.set(dag.shard, { ...node.stamp(dag.shard), lastRunId: runId });
    return created(dag, runId, { params });
  };
  const runs = {
    waits: run(mine, null),
    ended: run(mine, '{"a":1}'),
    failing: run(mine, null),
    // Together these two are more than a batch takes of one run.
    bulky: run(mine, JSON.stringify('x'.repeat(40_000))),
    theirs: run(other, '"private"'),
    large: run(large, null),
  };
  const worker = newWorkerId();
  const [done, first] = [claimed(runs.ended, worker), claimed(runs.failing, worker)];
  const [bulk, foreign] = [claimed(runs.bulky, worker), claimed(runs.theirs, worker)];
  await node.commit([...Object.values(runs), done, first, bulk, foreign]);
  const lost = { outcome: 'lost', taskState: 'retrying', retryAt: now, lostCount: 1, error: 'gone' } as const;
  await node.commit([
    ...[succeeded(done, '{"rows":3}'), ended(runs.ended), { ...succeeded(first), ...lost }],
    ...[succeeded(bulk, JSON.stringify('y'.repeat(40_000))), succeeded(foreign, '"secret"')],
  ]);
  const again = { ...first, attemptNo: 2 as never, fence: 2 as never, firstOfTask: false, firstOfRun: false };
  await node.commit([again]);
  return { box, theirs, runs };
}

test.each([true, false])(
  'each run of a batch is what it is alone; prepared statements: %s',
  async (preparedStatements) => {
    const { box, theirs, runs } = await withRuns();
    const { queries } = box;
    const wanted: WantedRun[] = [
      { tenantId: OURS, uid: runs.waits.uid },
      { tenantId: theirs, uid: runs.theirs.uid },
      { tenantId: OURS, uid: runs.ended.uid.toUpperCase() },
      { tenantId: OURS, uid: runs.failing.uid },
      { tenantId: OURS, uid: runs.ended.uid },
    ];
    // Of another tenant, unknown, no id, and too large: none of them is in the answer, nor keeps others from theirs.
    const without: WantedRun[] = [
      { tenantId: OURS, uid: runs.theirs.uid },
      { tenantId: theirs, uid: runs.ended.uid },
      { tenantId: OURS, uid: newUid(5 as never) },
      { tenantId: OURS, uid: "'; drop table run; --" },
      { tenantId: OURS, uid: runs.bulky.uid },
      { tenantId: OURS, uid: runs.large.uid },
    ];
    const database = databaseAt(box.url, { preparedStatements });
    const partitions = new Partitions(database);
    await partitions.refresh();
    const both = [...without, ...wanted, ...without];
    const found = await readRunBatch(database, partitions.days, new KnownSpecs(), both);
    expect(found.map((one) => one?.run.uid)).toEqual([
      ...without.map(() => undefined),
      ...wanted.map(({ uid }) => uid.toLowerCase()),
      ...without.map(() => undefined),
    ]);
    for (const [i, { tenantId, uid }] of wanted.entries()) {
      const { run, payloads } = found[without.length + i]!;
      const { children, ...alone } = (await queries.getRun(tenantId, uid))!;
      expect(run).toEqual(alone);
      expect(payloads).toEqual(await queries.getPayloads(tenantId, { uid, bytesLimit: MEGABYTES }));
      expect(children.size).toBe(0);
    }
    expect(found[without.length + 3]?.run).toMatchObject({ supersededAttempts: [{ attemptNo: 1, error: 'gone' }] });
    // All at once by the way in of the edge: what is not in a batch is read by itself.
    const all = await Promise.all(both.map((one) => queries.readRun(one, MEGABYTES)));
    expect(all.map((one) => one?.run.uid ?? null)).toEqual(
      both.map(({ tenantId, uid }) => {
        const ours = Object.values(runs).find((one) => one.uid === uid.toLowerCase());
        return ours === undefined || ours.tenantId !== tenantId ? null : ours.uid;
      }),
    );
    expect(all[4]?.payloads).toEqual(await queries.getPayloads(OURS, { uid: runs.bulky.uid, bytesLimit: MEGABYTES }));
  },
);

const runOf = (uid: string) => ({ run: { uid }, payloads: {} }) as unknown as BatchedRun;
const flush = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('what a batch cannot read is read one by one, and fails for its own readers alone', async () => {
  const reads = new RunReads({
    batch: async () => {
      throw new Error('canceling statement due to statement timeout');
    },
    alone: async ({ uid }) => {
      if (uid === 'broken') throw new Error('of this one alone');
      return uid === 'unknown' ? null : (runOf(uid) as WholeRun);
    },
    children: async () => new Map(),
  });
  const answers = await Promise.allSettled(
    ['a', 'broken', 'unknown', 'b'].map((uid) => reads.read({ tenantId: OURS, uid }, 1)),
  );
  expect(answers).toMatchObject([
    { status: 'fulfilled', value: { run: { uid: 'a' } } },
    { status: 'rejected', reason: { message: 'of this one alone' } },
    { status: 'fulfilled', value: null },
    { status: 'fulfilled', value: { run: { uid: 'b' } } },
  ]);
});

test('who asks while batches are under way is in one that begins later, and all are read in the end', async () => {
  const batches: { readonly uids: readonly string[]; readonly end: () => void }[] = [];
  const reads = new RunReads({
    batch: (wanted) =>
      new Promise((resolve) => {
        const uids = wanted.map(({ uid }) => uid);
        batches.push({ uids, end: () => resolve(uids.map(runOf)) });
      }),
    alone: async () => null,
    children: async () => new Map(),
  });
  const read = (uid: string) => reads.read({ tenantId: OURS, uid }, 1);
  const early = [read('1'), read('2')];
  await flush();
  const second = read('3');
  await flush();
  // Two are under way: what comes now waits, up to 64 for each batch.
  const late = Array.from({ length: 70 }, (_, no) => read(`late ${no}`));
  await flush();
  expect(batches.map(({ uids }) => uids)).toEqual([['1', '2'], ['3']]);
  batches[0]?.end();
  expect((await Promise.all(early)).map((one) => one?.run.uid)).toEqual(['1', '2']);
  await flush();
  expect(batches.map(({ uids }) => uids.length)).toEqual([2, 1, 64]);
  batches[1]?.end();
  expect((await second)?.run.uid).toBe('3');
  await flush();
  for (const { end } of batches) end();
  expect((await Promise.all(late)).map((one) => one?.run.uid)).toEqual(late.map((_, no) => `late ${no}`));
  expect(batches.map(({ uids }) => uids.length)).toEqual([2, 1, 64, 6]);
});
