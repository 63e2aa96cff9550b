/** Whether a dag has succeeded within a time, as windows that require it ask. */
import type { Instant, ShardNo, TenantId } from '@signalbox/engine';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { claimed, created, deployed, ended, newWorkerId, START, succeeded } from './conformance/changes.ts';
import { type Fixture, Fixtures } from './fixture.testing.ts';
import { readRequirements } from './statements/requirement.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TENANT = 1 as TenantId;
const SHARD = 5 as ShardNo;
const fixtures = new Fixtures({ now: () => START });
afterAll(() => fixtures.stop());

const at = (ms: number) => (START + ms) as Instant;
type Node = Awaited<ReturnType<Fixture['node']>>;
type Dag = ReturnType<typeof deployed>;

/** A run from `from` to `to`, in milliseconds from the start. */
async function run(node: Node, dag: Dag, from: number, to: number, outcome: 'succeeded' | 'failed'): Promise<void> {
  node.now = at(from);
  const made = created(dag, node.newRunId(SHARD), { at: at(from) });
  const claim = claimed(made, newWorkerId());
  await node.commit([made, claim, succeeded(claim, '1')]);
  node.now = at(to);
  await node.commit([{ ...ended(made), outcome, at: at(to) }]);
}

async function isMet(node: Node, { name }: Dag, since: number): Promise<boolean | undefined> {
  const need = {
    kind: 'requirement',
    shard: SHARD,
    tenantId: TENANT,
    dag: name,
    since: at(since),
    window: null,
  } as const;
  const { requirements } = await node.store.fetch([need]);
  return requirements[0]?.isMet;
}

test('a success counts from its end on, to the millisecond, also in the hour in which the time begins', async () => {
  const box = await fixtures.open();
  const node = await box.node([SHARD]);
  const [dag, other] = [deployed(SHARD, 1), deployed(SHARD, 2)];
  await node.commit([dag, other]);
  await run(node, dag, 0, 3 * HOUR_MS + 10 * MINUTE_MS, 'succeeded');
  await run(node, dag, 4 * HOUR_MS, 4 * HOUR_MS + MINUTE_MS, 'failed');
  const end = 3 * HOUR_MS + 10 * MINUTE_MS;
  const asked = [0, 3 * HOUR_MS, end - 1, end, end + 1, 4 * HOUR_MS, 5 * HOUR_MS];
  const answers: (boolean | undefined)[] = [];
  for (const since of asked) answers.push(await isMet(node, dag, since));
  expect(answers).toEqual([true, true, true, true, false, false, false]);
  expect(await isMet(node, other, 0)).toBe(false);
});

test('the question costs a few rows, however many runs have failed', async () => {
  const box = await fixtures.open();
  const node = await box.node([SHARD]);
  const dag = deployed(SHARD, 1);
  await node.commit([dag]);
  await run(node, dag, 0, MINUTE_MS, 'succeeded');
  for (let batch = 0; batch < 4; batch++) {
    node.now = at(2 * HOUR_MS + batch * MINUTE_MS);
    const runs = Array.from({ length: 500 }, () => created(dag, node.newRunId(SHARD), { at: node.now }));
    await node.commit(runs);
    await node.commit(runs.map((made) => ({ ...ended(made), outcome: 'failed' as const, at: node.now })));
  }
  await box.sql('analyze run');
  const need = { kind: 'requirement', shard: SHARD, tenantId: TENANT, dag: dag.name, window: null } as const;
  const asked = [[MINUTE_MS / 2, true] as const, [2 * MINUTE_MS, false] as const, [HOUR_MS, false] as const];
  for (const [since, expected] of asked) {
    expect(await isMet(node, dag, since)).toBe(expected);
    const { statement, values } = readRequirements([{ ...need, since: at(since) }]);
    const plan = await planOf(box, statement.text, values);
    expect(rowsRead(plan)).toBeLessThan(20);
  }
});

/** As a fetch has it: by indexes. */
async function planOf({ url }: Fixture, text: string, values: readonly unknown[]): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('set enable_seqscan = off');
    const { rows } = await client.query<Record<string, unknown>>(`explain (analyze, format json) ${text}`, [...values]);
    return rows[0]?.['QUERY PLAN'];
  } finally {
    await client.end();
  }
}

/** Of runs, by all nodes of a plan: those that were found, and those that a filter then dropped. */
function rowsRead(plan: unknown): number {
  if (Array.isArray(plan)) return plan.reduce<number>((sum, one) => sum + rowsRead(one), 0);
  if (typeof plan !== 'object' || plan === null) return 0;
  const node = plan as { readonly [name: string]: unknown };
  const { 'Relation Name': table, 'Actual Rows': rows, 'Rows Removed by Filter': dropped } = node;
  const isScan = typeof table === 'string' && table.startsWith('run_d');
  const own = Number(rows ?? 0) + Number(dropped ?? 0);
  return (isScan ? own : 0) + rowsRead(Object.values(node).filter((inner) => typeof inner === 'object'));
}
