/** What a task does outside happens once, though its worker is killed between the effect and the report. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cluster } from '../cluster.ts';

const WORKER = fileURLToPath(new URL('../../dist/effect-worker.js', import.meta.url));

let cluster: Cluster;
beforeAll(async () => {
  process.env['SIGNALBOX_LEASE_MS'] = '2000';
  process.env['SIGNALBOX_HEARTBEAT_MS'] = '500';
  cluster = await Cluster.start({ servers: 1, workers: 0, slots: 1 });
}, 120_000);
afterAll(async () => {
  delete process.env['SIGNALBOX_LEASE_MS'];
  delete process.env['SIGNALBOX_HEARTBEAT_MS'];
  await cluster.stop();
});

async function runTwice(handler: string, params: object) {
  const client = cluster.client();
  await client.deployDag({ name: handler, tasks: [{ name: 'a', handler }] });
  const first = await cluster.addWorker(1, WORKER);
  const { id } = await client.submit(handler, { params });
  await first.exited;
  const second = await cluster.addWorker(1, WORKER);
  const run = await client.waitForRun(id);
  second.signal('SIGKILL');
  await second.exited;
  return run;
}

test('a payment in PostgreSQL is made once, and the second attempt gets what the first one made', async () => {
  await cluster.sql.query('create table payment (id int generated always as identity, attempt int not null)');
  const run = await runTwice('pay', { database: cluster.postgres.url });
  expect(run.tasks[0]).toMatchObject({ state: 'succeeded', attempt: 2, output: { id: 1 } });
  expect(run.tasks[0]?.attempts[0]?.outcome).toBe('lost');
  const { rows } = await cluster.sql.query('select id, attempt from payment');
  expect(rows).toEqual([{ id: 1, attempt: 1 }]);
}, 120_000);

test('an order over HTTP is taken once by a server that knows Idempotency-Key', async () => {
  const orders = new Map<string, number>();
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    const key = String(request.headers['idempotency-key']);
    if (!orders.has(key)) orders.set(key, orders.size + 1);
    response.end(JSON.stringify({ order: orders.get(key) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const run = await runTwice('call', { url });
    expect(run.tasks[0]).toMatchObject({ state: 'succeeded', attempt: 2, output: { order: 1 } });
    expect([calls, [...orders.keys()]]).toEqual([2, [`${run.id}/a:order`]]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}, 120_000);
