/** What `usage_rollup` says is what all ends of attempts together say. */
import { type Change, type Instant, NOBODY, type ShardNo, shardOfRun, type TenantId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { claimed, created, deployed, newWorkerId, START, succeeded } from './conformance/changes.ts';
import { Generator } from './conformance/generate/generator.ts';
import { type Fixture, Fixtures } from './fixture.testing.ts';
import { usageOf } from './statements/usage.ts';

const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;
const TENANT = 1 as TenantId;
const fixtures = new Fixtures({ now: () => START });
afterAll(() => fixtures.stop());

const kept = async (box: Fixture) =>
  (
    await box.sql(`select shard, sum(attempts)::float8 as attempts, sum(slot_ms)::float8 as slot_ms, sum(cpu_ms)::float8 as cpu_ms
      from usage_rollup group by 1 order by 1`)
  ).map(Object.values);

/** From the changes alone. */
function counted(changes: readonly Change[]) {
  const sums = new Map<number, [number, number, number]>();
  const cpu = new Map<string, number>();
  for (const change of changes) {
    if (change.kind === 'AttemptMeasured')
      cpu.set(`${change.runId}/${change.taskNo}/${change.fence}`, change.cpuMs ?? 0);
    if (!('claimedAt' in change && 'endedAt' in change) || change.workerId === NOBODY) continue;
    const shard = shardOfRun(change.runId);
    const [attempts, slotMs, cpuMs] = sums.get(shard) ?? [0, 0, 0];
    const used = cpu.get(`${change.runId}/${change.taskNo}/${change.fence}`) ?? 0;
    sums.set(shard, [attempts + 1, slotMs + Math.max(0, change.endedAt - change.claimedAt), cpuMs + used]);
  }
  return [...sums].sort(([a], [b]) => a - b).map(([shard, list]) => [shard, ...list]);
}

test.each([21, 22, 23])(
  'after any row of changes (seed %i), batch by batch, also under another owner',
  async (seed) => {
    const box = await fixtures.open();
    const shards = [5, 6] as ShardNo[];
    let node = await box.node(shards);
    box.store.isAccounting = true;
    const generator = new Generator({ seed, shards, start: START, newRunId: (shard) => node.newRunId(shard) });
    const all: Change[] = [];
    for (const size of [40, 120, 1, 300, 7, 300]) {
      generator.leap(HOUR_MS / 3);
      node.now = generator.now;
      const batch = generator.batch(size);
      all.push(...batch);
      await node.commit(batch);
      expect(await kept(box)).toEqual(counted(all));
      const [hours] = await box.sql(`select sum(slot_ms) as slot_ms from usage_hour`);
      const [days] = await box.sql(`select sum(slot_ms) as slot_ms from usage_rollup`);
      expect(hours).toEqual(days);
    }
    expect((await kept(box)).length).toBe(2);
    node = await box.node(shards);
    expect(await kept(box)).toEqual(counted(all));
  },
);

test('without a rate card nothing is summed', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  const run = created(dag, node.newRunId(5));
  const claim = claimed(run, newWorkerId());
  await node.commit([dag, run, claim, succeeded(claim)]);
  expect(await kept(box)).toEqual([]);
});

test('what an attempt took is in the hours in which it ran, its processor time in the last', () => {
  const dag = deployed(5, 1);
  const run = created(dag, 1 as never, { at: (START + HOUR_MS / 2) as Instant });
  const claim = claimed(run, newWorkerId());
  const { runId, taskNo, attemptNo, fence, workerId } = claim;
  const endedAt = (START + 2 * HOUR_MS + 1) as Instant;
  const measured: Change = {
    kind: 'AttemptMeasured',
    ...{ runId, taskNo, attemptNo, fence, workerId },
    cpuMs: 70,
    peakBytes: 2 * MIB,
    at: endedAt,
  } as never;
  const pieces = usageOf([measured, { ...succeeded(claim), endedAt }]);
  const hour = START / HOUR_MS;
  const of = { runId, taskNo };
  expect(pieces).toEqual([
    { ...of, hour, attempts: 0, slotMs: HOUR_MS / 2, cpuMs: 0, memoryMibMs: HOUR_MS },
    { ...of, hour: hour + 1, attempts: 0, slotMs: HOUR_MS, cpuMs: 0, memoryMibMs: 2 * HOUR_MS },
    { ...of, hour: hour + 2, attempts: 1, slotMs: 1, cpuMs: 70, memoryMibMs: 2 },
  ]);
  // A clock that went back makes no time, and a call of another dag takes none.
  const backwards = usageOf([{ ...succeeded(claim), endedAt: (claim.at - 5_000) as Instant }]);
  expect(backwards.map(({ slotMs, attempts }) => [slotMs, attempts])).toEqual([[0, 1]]);
  expect(usageOf([{ ...succeeded(claim), workerId: NOBODY }])).toEqual([]);
});

test('sums are read by tenant, dag, task and day, with the share that is burst, and dropped by age', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  box.store.isAccounting = true;
  const [one, two] = [deployed(5, 1), deployed(5, 2)];
  await node.commit([one, two]);
  const end = async (dag: typeof one, hours: number, tookMs: number) => {
    const run = created(dag, node.newRunId(5), { at: (START + hours * HOUR_MS) as Instant });
    const claim = claimed(run, newWorkerId());
    await node.commit([run, claim, { ...succeeded(claim), endedAt: (claim.at + tookMs) as Instant }]);
  };
  await end(one, 0, HOUR_MS);
  await end(one, 0, HOUR_MS);
  await end(two, 0, HOUR_MS);
  await end(two, 24, HOUR_MS / 2);
  const day = START / HOUR_MS / 24;
  const days = [day, day + 1].map((no) => ({ day: no, cardNo: no - day, burstAboveSlots: 2 }));
  const read = async (
    by: 'tenant' | 'dag' | 'task' | 'day',
    dag: string | null = null,
    tenantId: TenantId | null = TENANT,
  ) =>
    (await box.queries.readUsage({ by, dag, days, tenantId })).map((row) => [
      row.key,
      row.cardNo,
      row.attempts,
      row.slotMs / HOUR_MS,
      row.burstMs / HOUR_MS,
    ]);
  // Three slots in an hour, two of which are not burst.
  const third = 1 / 3;
  expect(await read('day')).toEqual([
    [String(day), 0, 3, 3, expect.closeTo(1)],
    [String(day + 1), 1, 1, 0.5, 0],
  ]);
  expect(await read('dag')).toEqual([
    [one.name, 0, 2, 2, expect.closeTo(2 * third)],
    [two.name, 0, 1, 1, expect.closeTo(third)],
    [two.name, 1, 1, 0.5, 0],
  ]);
  expect(await read('task', two.name)).toEqual([
    [`${two.versionNo}/0`, 0, 1, 1, expect.closeTo(third)],
    [`${two.versionNo}/0`, 1, 1, 0.5, 0],
  ]);
  expect((await read('tenant', null, null)).map(([tenant]) => tenant)).toEqual(['default', 'default']);
  expect(await read('dag', null, 2 as TenantId)).toEqual([]);
  expect(await box.store.dropOldUsage(day + 1)).toBe(false);
  expect(await read('day')).toEqual([[String(day + 1), 1, 1, 0.5, 0]]);
});
