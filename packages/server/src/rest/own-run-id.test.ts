import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  // Names whose dags lie on different shards.
  for (const name of ['pay', 'ship', 'bill', 'pack']) {
    await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'h', queue: 'nobody' }] });
  }
});
afterAll(() => rig.stop());

const ids = (no: number) => `0b6a1f5e-4f1d-4c1a-9d3e-00000000${no.toString(16).padStart(4, '0')}`;
const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });

test('the same id and body give the same run, another body is a conflict (I11)', async () => {
  const first = await client().submit('pay', { runId: ids(1), params: { order: 1 } });
  expect(first).toEqual({ id: ids(1) });
  expect(await client().submit('pay', { runId: ids(1).toUpperCase(), params: { order: 1 } })).toEqual({
    id: ids(1),
    repeated: true,
  });
  await expect(client().submit('pay', { runId: ids(1), params: { order: 2 } })).rejects.toMatchObject({
    code: 'RUN_ID_TAKEN',
  });
  const run = await client().getRun(ids(1));
  expect([run.id, run.dag, run.params]).toEqual([ids(1), 'pay', { order: 1 }]);
  expect((await client().listRuns({ dag: 'pay' })).items.map(({ id }) => id)).toEqual([ids(1)]);
});

test('an id is used once in the tenant, also by dags of other shards, and by requests at the same time', async () => {
  const dags = ['pay', 'ship', 'bill', 'pack'];
  const tried = await Promise.allSettled(dags.map((dag) => client().submit(dag, { runId: ids(2) })));
  expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of tried) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'RUN_ID_TAKEN' });
  const made = await Promise.all(dags.map(async (dag) => (await client().listRuns({ dag })).items));
  expect(made.flat().filter(({ id }) => id === ids(2))).toHaveLength(1);
});

test('a refused run leaves its id free (I12)', async () => {
  const refused = client().submit('pay', { runId: ids(3), until: 'nothing' });
  await expect(refused).rejects.toMatchObject({ code: 'UNTIL_INVALID' });
  expect(await client().submit('ship', { runId: ids(3) })).toEqual({ id: ids(3) });
});

test('a run with its own id is cancelled, watched and logged by it', async () => {
  await client().submit('ship', { runId: ids(4) });
  expect(await client().cancelRun(ids(4))).toMatchObject({ id: ids(4), outcome: 'cancelled' });
  expect((await client().listTasks(ids(4))).items).toHaveLength(1);
  expect((await client().readRunLog(ids(4))).lines).toEqual([]);
});

test.each([
  ['0190b0a0-0000-7000-8000-000000000001', 'another version than 7'],
  ['00000000-0000-0000-0000-000000000000', 'nil'],
  ['order-17', 'UUID'],
])('%s is refused with what to do', async (runId, words) => {
  const { status, body } = await rig.ask('POST', '/v1/dags/pay/runs', { runId });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain(words);
});

test('an id does not go with a window', async () => {
  const { status, body } = await rig.ask('POST', '/v1/dags/pay/runs', {
    runId: ids(5),
    window: '2026-01-01T00:00:00Z',
  });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('window')]);
});
