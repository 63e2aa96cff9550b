import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { NodeId } from '@signalbox/engine';
import { createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import { migrate, openPostgresStore, type PostgresStore } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../testing/rig.ts';
import { ThreadRenewer } from './renewer.ts';

let postgres: TestPostgres;
let store: PostgresStore;
let url: string;
beforeAll(async () => {
  postgres = await startTestPostgres();
  url = await createDatabase(postgres);
  await migrate(url);
  store = await openPostgresStore({ url });
});
afterAll(async () => {
  await store.close();
  await postgres.stop();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('the beat rises while the main loop ticks, stands still when it does not, and outlives an outage (D5)', async () => {
  const nodeId = randomUUID() as NodeId;
  const beat = async () => (await store.observe()).nodes.find((node) => node.nodeId === nodeId)?.beat ?? 0;
  await store.registerNode({
    nodeId,
    peerAddress: 'here:1',
    gatewayAddress: 'here:1',
    dataAddress: '',
    version: '1.2.3',
  });
  const renewer = new ThreadRenewer(
    { url, preparedStatements: true, logLevel: 'silent', windowGraceMs: 10_000 },
    () => undefined,
  );
  renewer.start(nodeId);
  let ticking = setInterval(() => renewer.tick(), 50);
  const first = await beat();
  await eventually(async () => (await beat()) >= first + 2);

  clearInterval(ticking);
  await pause(2_000); // a beat that was under way, and the one for the last tick
  const still = await beat();
  await pause(2_500);
  expect(await beat()).toBe(still);

  ticking = setInterval(() => renewer.tick(), 50);
  await eventually(async () => (await beat()) > still);
  await postgres.restart();
  const after = await eventually(async () => (await beat().catch(() => 0)) > 0).then(beat);
  await eventually(async () => (await beat()) > after);
  clearInterval(ticking);
  await renewer.stop();
}, 60_000);

test('a renewer whose thread has just failed can be stopped all the same', async () => {
  const renewer = new ThreadRenewer(
    { url, preparedStatements: true, logLevel: 'silent', windowGraceMs: 10_000 },
    () => undefined,
  );
  const begun = once(process, 'worker') as Promise<[Worker]>;
  renewer.start(randomUUID() as NodeId);
  const [thread] = await begun;
  await thread.terminate();
  await renewer.stop();
});
