import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { connect } from 'node:http2';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { API_SERVICE, HEALTH_SERVICE, openLogStream, openWorkerStream, parseLogStored } from '@signalbox/protocol/grpc';
import { openQueries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOf } from '../auth/bearer.ts';
import type { RunningServer } from '../start.ts';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let server: RunningServer;
beforeAll(async () => {
  rig = await startRig();
  server = rig.servers[0] as RunningServer;
});
afterAll(() => rig.stop());

/** As a worker, where that matters. */
const bearer = (token: string) => {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  metadata.set('signalbox-worker', randomUUID());
  return metadata;
};

/** Begins a call whose message is never completed, and returns the status that it is answered with. */
async function halfACall(path: string, headers: Record<string, string> = {}): Promise<number> {
  const session = connect(`http://${server.servicesAddress}`);
  const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers };
  const call = session.request(head);
  const message = Buffer.alloc(1_000_000);
  message.writeUInt32BE(15_000_000, 1);
  call.on('error', () => undefined);
  call.write(message);
  const answered = await new Promise<number>((resolve) => {
    call.on('response', (answer) => resolve(Number(answer['grpc-status'])));
  });
  session.destroy();
  return answered;
}

test.each([`/${API_SERVICE}/ListDags`, `/${API_SERVICE}/RegisterDag`, '/signalbox.node.v1.NodeLogs/ReadLogs'])(
  'a stranger at %s is refused before its message is read (I66, I68)',
  async (path) => {
    expect(await halfACall(path)).toBe(status.UNAUTHENTICATED);
    expect(await halfACall(path, { 'signalbox-proof': 'x', 'signalbox-node': 'y' })).toBe(status.UNAUTHENTICATED);
  },
);

test('a question for health that never comes to its end is not waited for', async () => {
  expect(await halfACall(`/${HEALTH_SERVICE}/Check`)).toBe(status.RESOURCE_EXHAUSTED);
}, 15_000);

const codeOf = (open: () => EventEmitter) =>
  new Promise<number>((resolve) => {
    const stream = open();
    stream.on('data', () => resolve(status.OK));
    stream.on('error', ({ code }: { code: number }) => resolve(code));
  });

test('a worker of another tenant that says the id of a worker is another worker (I65)', async () => {
  const queries = await openQueries({ url: rig.databaseUrl });
  const [tenantId, token] = [await queries.ensureTenant('other'), randomUUID()];
  await queries.createToken({ tenantId, name: 'w', role: 'worker', sha256: hashOf(token) });
  await queries.close();
  const worker = await rig.addWorker({ noop: () => null });
  const [before] = (await rig.ask('GET', '/v1/workers')).body.items;
  const client = new Client(server.grpcAddress, credentials.createInsecure());
  const hello = {
    name: 'w',
    queues: ['default'],
    slots: 1,
    holds: [],
    holdTokens: [],
    draining: false,
    workerId: worker.id,
  };
  const joined = await codeOf(() => {
    const stream = openWorkerStream(client, bearer(token));
    stream.write({ hello });
    return stream;
  });
  expect(joined).toBe(status.OK);
  expect((await rig.ask('GET', '/v1/workers')).body.items).toMatchObject([{ id: before?.id }]);
  client.close();
});

test('lines of a shard that there is not are dropped as forged ones are', async () => {
  const client = new Client(server.servicesAddress, credentials.createInsecure());
  const stream = openLogStream(client, bearer(rig.token));
  const claim = { shard: 70_000, runId: 1, task: 0, attempt: 1, fence: 1 };
  stream.write({ no: 1, pieces: [{ claim, token: Buffer.alloc(16), firstLine: 0, lines: [] }] });
  const answer = await new Promise((resolve, reject) => {
    stream.on('data', (input: unknown) => resolve(parseLogStored(input)));
    stream.on('error', reject);
  });
  expect(answer).toBe(1);
  stream.cancel();
  client.close();
});

// The last: from then on strangers from here wait.
test('wrong credentials over gRPC are counted by address, and good ones of before are not kept out', async () => {
  const [services, workers] = [server.servicesAddress, server.grpcAddress].map(
    (address) => new Client(address, credentials.createInsecure()),
  ) as [Client, Client];
  const good = () => {
    const stream = openLogStream(services, bearer(rig.token));
    stream.write({ no: 1, pieces: [] });
    return stream;
  };
  expect(await codeOf(good)).toBe(status.OK);
  const codes = { services: new Set<number>(), workers: new Set<number>() };
  for (let i = 0; i < 30; i++) {
    codes.services.add(await codeOf(() => openLogStream(services, bearer(randomUUID()))));
    codes.workers.add(await codeOf(() => openWorkerStream(workers, bearer(randomUUID()))));
  }
  expect([...codes.services]).toEqual([status.UNAUTHENTICATED, status.UNAVAILABLE]);
  expect([...codes.workers]).toEqual([status.UNAUTHENTICATED, status.RESOURCE_EXHAUSTED]);
  expect(await codeOf(good)).toBe(status.OK);
  services.close();
  workers.close();
});
