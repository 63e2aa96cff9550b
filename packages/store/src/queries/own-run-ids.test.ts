import { randomUUID } from 'node:crypto';
import { firstRunIdAt, type RunId, type RunUid, type TenantId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { created, deployed, START } from '../conformance/changes.ts';
import { Fixtures } from '../fixture.testing.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const runOf = (shard: number, no: number) => (firstRunIdAt(START) + shard * 65_536 + no) as RunId;

test('an id belongs to one dag of its tenant, and goes with its run (I11, I62)', async () => {
  const fixture = await fixtures.open();
  const { queries, store } = fixture;
  const owner = await fixture.node([5, 9]);
  const [dag, other] = [deployed(5, 1), deployed(9, 1)];
  const { tenantId } = dag;
  const [kept, unused] = [randomUUID() as RunUid, randomUUID() as RunUid];
  await owner.commit([dag, other, created(dag, runOf(5, 1), { uid: kept })]);
  const idOf = (uid: string, { shard, dagId }: typeof dag) => ({ tenantId, uid, shard, dagId });

  expect(await queries.claimRunId(idOf(kept, dag))).toBe(true);
  expect(await queries.claimRunId(idOf(kept, other))).toBe(false);
  expect(await queries.claimRunId(idOf(unused, other))).toBe(true);
  expect(await queries.resolveRun(tenantId, kept)).toEqual({ shard: 5, runId: runOf(5, 1) });
  expect(await queries.resolveRun(tenantId, unused)).toBeNull();
  expect(await queries.resolveRun((tenantId + 1) as TenantId, kept)).toBeNull();

  await store.dropUnusedRunIds(30);
  expect(await fixture.sql('select uid from own_run_id')).toHaveLength(2);
  await fixture.sql(`update own_run_id set check_at = clock_timestamp() - interval '1 second'`);
  expect(await store.dropUnusedRunIds(30)).toBe(false);
  expect(await fixture.sql('select uid, check_at > now() as later from own_run_id')).toEqual([
    { uid: kept, later: true },
  ]);
});

test('an id is taken back only by the one request that used it', async () => {
  const fixture = await fixtures.open();
  const { queries } = fixture;
  const dag = deployed(5, 1);
  await (await fixture.node([5])).commit([dag]);
  const [alone, shared] = [randomUUID(), randomUUID()].map((uid) => ({ ...dag, uid }));
  await queries.claimRunId(alone!);
  await queries.releaseRunId(alone!);
  expect(await queries.shardOfOwnRunId(dag.tenantId, alone!.uid)).toBeNull();
  await queries.claimRunId(shared!);
  await queries.claimRunId(shared!);
  await queries.releaseRunId(shared!);
  expect(await queries.shardOfOwnRunId(dag.tenantId, shared!.uid)).toBe(5);
});
