/** More submissions than the server can take: refused at once with a time to come again, while everything else goes through (I74). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.ask('PUT', '/v1/dags/bulk', { name: 'bulk', tasks: [{ name: 'a', handler: 'nobody' }] });
});
afterAll(() => rig.stop());

const batchOf = (count: number) => JSON.stringify({ runs: Array(count).fill({}) });

test('a flood of batches is refused beyond a second’s work, and what was accepted is done', async () => {
  const { body } = await rig.ask('POST', '/v1/dags/bulk/runs');
  const batch = batchOf(1_000);
  const flood = Array.from({ length: 60 }, () => rig.ask('POST', '/v1/dags/bulk/runs/batch', batch));
  // Both come after the flood.
  const cancelled = rig.ask('POST', `/v1/runs/${body.id}/cancel`);
  const answers = await Promise.all(flood);
  const accepted = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(accepted.length).toBeGreaterThan(5);
  expect(refused.length).toBeGreaterThan(5);
  for (const { status, headers, body: problem } of refused) {
    expect({ status, code: problem.code }).toEqual({ status: 429, code: 'LOAD_SHED' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await cancelled).status).toBe(200);
  const ids = new Set(accepted.flatMap((answer) => answer.body.ids));
  expect(ids.size).toBe(accepted.length * 1_000);
  const [stored] = await rig.sql('select count(*)::int as count from run');
  expect(stored).toEqual({ count: ids.size + 1 });
});

test('runs are charged to the token that submits them, each of a batch', async () => {
  const slow = await rig.addServer({ SIGNALBOX_RUN_RATE: '500' });
  const ask = (count: number) => rig.ask('POST', '/v1/dags/bulk/runs/batch', batchOf(count), { server: slow });
  expect((await ask(600)).status).toBe(201);
  const refusal = await ask(900);
  expect(refusal).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await rig.ask('GET', '/v1/runs', undefined, { server: slow })).status).toBe(200);
});
