import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
  await rig.ask('PUT', '/v1/dags/out', { name: 'out', tasks: [{ name: 'a', handler: 'echo' }] });
});
afterAll(() => rig.stop());

const submit = (key: string) =>
  rig.ask('POST', '/v1/dags/out/runs', { params: key }, { headers: { 'idempotency-key': key } });

const works = async (key: string) => {
  const { id } = (await submit(key)).body;
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome === 'succeeded');
};

test('with the database killed requests fail within their deadline, and all works again after its return (I60)', async () => {
  await works('before');
  await rig.postgres.killHard();
  const began = performance.now();
  const [written, read] = await Promise.all([submit('during'), rig.ask('GET', '/v1/runs')]);
  expect(performance.now() - began).toBeLessThan(12_000);
  expect([503, 504]).toContain(written.status);
  expect([written.body.retryable, read.status, read.body.code]).toEqual([true, 503, 'UNAVAILABLE']);
  expect((await fetch(`${rig.servers[0]?.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${rig.servers[0]?.url}/readyz`)).status).toBe(503);

  await rig.postgres.restart();
  await eventually(async () => (await fetch(`${rig.servers[0]?.url}/readyz`)).status === 200, 10_000);
  await eventually(async () => (await submit('after')).status === 201, 10_000);
  await works('after');
  // What was asked during the outage was done once, or not at all; the key tells, and does it now if it was not.
  expect((await submit('during')).status).toBe(201);
  const { items } = (await rig.ask('GET', '/v1/runs?dag=out')).body;
  expect(items).toHaveLength(3);
}, 60_000);

test('a database that stands still is no reason to wait beyond the deadline (I60)', async () => {
  await rig.postgres.freeze();
  const began = performance.now();
  const [written, read] = await Promise.all([submit('frozen'), rig.ask('GET', '/v1/runs')]);
  expect(performance.now() - began).toBeLessThan(12_000);
  expect([503, 504]).toContain(written.status);
  expect(read.status).toBe(503);
  rig.postgres.thaw();
  await eventually(async () => (await submit('frozen')).status === 201, 20_000);
  await works('frozen');
  const { items } = (await rig.ask('GET', '/v1/runs?dag=out')).body;
  expect(items).toHaveLength(4);
}, 60_000);
