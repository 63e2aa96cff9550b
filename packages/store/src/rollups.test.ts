/** What `run_rollup` says is what a scan of all ended runs would say. */
import type { Instant, RunReopened, ShardNo, TenantId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { ACTOR, claimed, created, deployed, ended, newWorkerId, START, succeeded } from './conformance/changes.ts';
import { Generator } from './conformance/generate/generator.ts';
import { type Fixture, Fixtures } from './fixture.testing.ts';

const HOUR_MS = 3_600_000;
const TENANT = 1 as TenantId;
const fixtures = new Fixtures({ now: () => START });
afterAll(() => fixtures.stop());

const kept = (box: Fixture) =>
  box.sql(`select shard, dag_id, hour, outcome, bucket, runs from run_rollup where runs <> 0 order by 1, 2, 3, 4, 5`);
const scanned = (box: Fixture) =>
  box.sql(`select shard, dag_id, (ended_at / ${HOUR_MS})::integer as hour, outcome,
      (case when reopened_at is null then ceil(8 * ln(greatest(1, ended_at - created_at)::float8) / ln(2::float8))
        else -1 end)::smallint as bucket, count(*) as runs
    from run where phase = 2 group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`);

test.each([11, 12, 13, 14])('after any row of changes (seed %i), batch by batch', async (seed) => {
  const box = await fixtures.open();
  const shards = [5, 6] as ShardNo[];
  const node = await box.node(shards);
  const newRunId = (shard: ShardNo) => node.newRunId(shard);
  const generator = new Generator({ seed, shards, start: START, newRunId });
  for (const size of [40, 120, 1, 300, 7, 300, 25]) {
    generator.leap(HOUR_MS / 3);
    node.now = generator.now;
    await node.commit(generator.batch(size));
    expect(await kept(box)).toEqual(await scanned(box));
  }
  expect(await kept(box)).not.toEqual([]);
});

test('a run that is opened again counts once, where it ends last, and without a duration', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  const at = (hours: number) => (START + hours * HOUR_MS) as Instant;
  const run = created(dag, node.newRunId(5));
  const claim = claimed(run, newWorkerId());
  await node.commit([dag, run, claim, succeeded(claim, '1'), { ...ended(run), outcome: 'failed', at: at(1) }]);
  const from = START / HOUR_MS;
  const read = () => box.queries.endedByHour(TENANT, { dag, fromHour: from });
  expect(await read()).toMatchObject([{ hour: from + 1, outcome: 'failed', runs: 1 }]);
  const reopened: RunReopened = {
    kind: 'RunReopened',
    runId: run.runId,
    admitted: true,
    retryNo: 0,
    actor: ACTOR,
    at: at(2),
  };
  await node.commit([reopened]);
  expect(await read()).toEqual([]);
  await node.commit([{ ...ended(run), outcome: 'succeeded', at: at(5) }]);
  expect(await read()).toEqual([{ hour: from + 5, outcome: 'succeeded', withinMs: null, runs: 1 }]);
});

test('sums are read by hour and by dag, of one tenant, and dropped by age', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const [one, two] = [deployed(5, 1), deployed(5, 2)];
  await node.commit([one, two]);
  const from = START / HOUR_MS;
  const end = async (dag: typeof one, hours: number, tookMs: number) => {
    const run = created(dag, node.newRunId(5), { at: (START + hours * HOUR_MS) as Instant });
    const claim = claimed(run, newWorkerId());
    const at = (START + hours * HOUR_MS + tookMs) as Instant;
    await node.commit([run, claim, succeeded(claim, '1'), { ...ended(run), outcome: 'succeeded', at }]);
  };
  await end(one, 0, 1_000);
  await end(one, 3, 60_000);
  await end(two, 3, 60_000);
  const all = await box.queries.endedByHour(TENANT, { dag: null, fromHour: from + 1 });
  expect(all).toMatchObject([{ hour: from + 3, outcome: 'succeeded', runs: 2 }]);
  const within = all[0]?.withinMs ?? 0;
  expect(within >= 60_000 && within < 60_000 * 1.1).toBe(true);
  const byDag = await box.queries.endedByDag(TENANT, { fromHour: from, names: null });
  expect(byDag.map(({ dagName, runs }) => [dagName, runs])).toEqual([
    [one.name, 1],
    [one.name, 1],
    [two.name, 1],
  ]);
  const other = 2 as TenantId;
  expect(await box.queries.endedByDag(other, { fromHour: from, names: null })).toEqual([]);
  expect(await box.queries.endedByHour(other, { dag: null, fromHour: from })).toEqual([]);
  expect(await box.queries.endedByHour(other, { dag: one, fromHour: from })).toEqual([]);
  expect(await box.store.dropOldRollups(from + 1)).toBe(false);
  expect(await box.queries.endedByHour(TENANT, { dag: one, fromHour: from })).toHaveLength(1);
});
