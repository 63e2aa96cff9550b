import { firstRunIdAt, type RunId, type TenantId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { created, deployed, START } from '../conformance/changes.ts';
import { Fixtures } from '../fixture.testing.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

test('outputs come in the order in which they are asked for, up to a number of bytes', async () => {
  const box = await fixtures.open({ now: () => START });
  const owner = await box.node([5]);
  const dag = deployed(5, 1);
  const run = created(dag, (firstRunIdAt(START) + 5 * 65_536 + 1) as RunId);
  await owner.commit([dag, run]);
  const bodies = Array.from({ length: 50 }, (_, no) => no).filter((no) => no !== 7);
  await box.sql(
    `insert into payload (shard, run_id, task_no, body) select 5, $1, no, no::text from unnest($2::integer[]) no`,
    [run.runId, bodies],
  );
  const queries = box.queries;
  const read = (nos: readonly number[], bytesLimit: number, tenantId = run.tenantId) =>
    queries.readOutputs(tenantId, { runId: run.runId, nos, bytesLimit });
  expect(await read([3, 7, 49, 1], 1_000)).toEqual(['3', null, '49', '1']);
  // One that is missing counts as the four bytes of null; the first that does not fit any more is the last.
  expect(await read([10, 7, 11, 12], 7)).toEqual(['10', null, '11']);
  expect(await read([3], 1_000, 99 as TenantId)).toEqual([]);
});
