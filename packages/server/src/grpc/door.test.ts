import { randomUUID } from 'node:crypto';
import { Client, credentials, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import {
  type GatewayMessage,
  openPeerLink,
  openWorkerStream,
  parseGatewayMessage,
  type WorkerStream,
} from '@signalbox/protocol/grpc';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../start.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
const clients: Client[] = [];
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_HEARTBEAT_MS: '200', SIGNALBOX_LEASE_MS: '1000' });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(() => rig.stop());

interface Opened {
  readonly stream: WorkerStream;
  readonly messages: GatewayMessage[];
  readonly ended: Promise<StatusObject>;
}

function connect(): Client {
  const client = new Client(rig.servers[0]?.grpcAddress ?? '', credentials.createInsecure());
  clients.push(client);
  return client;
}

function open(authorization: string | null = `Bearer ${rig.token}`): Opened {
  const metadata = new Metadata();
  if (authorization !== null) metadata.set('authorization', authorization);
  const stream = openWorkerStream(connect(), metadata);
  const messages: GatewayMessage[] = [];
  stream.on('data', (input) => messages.push(parseGatewayMessage(input)));
  stream.on('error', () => undefined);
  const ended = new Promise<StatusObject>((resolve) => stream.once('status', resolve));
  return { stream, messages, ended };
}

const hello = (more: object = {}) => ({
  workerId: randomUUID(),
  name: 'test',
  queues: ['door'],
  slots: 2,
  holds: [],
  holdTokens: [],
  draining: false,
  ...more,
});

test.each([
  ['none', null],
  ['one that nobody has', 'Bearer unknown'],
  ['no bearer', 'Basic abc'],
])('a worker with %s for a token is turned away (I66)', async (_, authorization) => {
  const { stream, ended, messages } = open(authorization);
  stream.write({ hello: hello() });
  expect((await ended).code).toBe(status.UNAUTHENTICATED);
  expect(messages).toEqual([]);
});

test('hello is answered with a welcome that names the gateways, first of all', async () => {
  const { stream, messages } = open();
  stream.write({ hello: hello() });
  await eventually(() => messages.length > 0);
  const { grpcAddress, servicesAddress, nodeId } = rig.servers[0] as RunningServer;
  expect(messages[0]?.welcome).toEqual({
    nodeId,
    heartbeatMs: 200,
    leaseMs: 1000,
    gateways: [grpcAddress],
    dataAddress: servicesAddress,
    pingMs: 1000,
    workerId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    shared: false,
  });
  expect(messages[0]?.epochs).toHaveLength(64);
  stream.cancel();
});

test('a ping is answered with its number', async () => {
  const { stream, messages } = open();
  stream.write({ hello: hello() });
  stream.write({ ping: 7 });
  await eventually(() => messages.some(({ pingAnswered }) => pingAnswered === 7));
  stream.cancel();
});

const claim = { shard: 0, runId: 1, task: 0, attempt: 1, fence: 1 };

test.each([
  ['something else than hello', { heartbeat: { no: 1, holds: [], progress: [] } }],
  ['no worker id', { hello: hello({ workerId: 'me' }) }],
  ['no slots', { hello: hello({ slots: 0 }) }],
  ['a million slots', { hello: hello({ slots: 1_000_000 }) }],
  ['no queues', { hello: hello({ queues: [] }) }],
  ['a shard that there is not', { hello: hello(), holdings: { epochs: [{ shard: 64, epoch: 1 }], holds: [] } }],
])('a worker that begins with %s is refused', async (_, parts) => {
  const { stream, ended } = open();
  stream.write(parts);
  expect((await ended).code).toBe(status.INVALID_ARGUMENT);
});

test.each([
  ['of a format that is not known', [0x08, 99], status.FAILED_PRECONDITION, 'format 99'],
  ['that are no message', [0xff, 0xff, 0xff, 0xff], status.INVALID_ARGUMENT, 'is not a message of signalbox.worker.v1'],
  [
    'with a part that ends in the middle',
    [0x08, 1, 0x1a, 3, 0x0a, 1, 0xff],
    status.INVALID_ARGUMENT,
    'is not a message of signalbox.worker.v1',
  ],
])('bytes %s are refused, and said so', async (_, bytes, code, details) => {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${rig.token}`);
  const stream = connect().makeBidiStreamRequest(
    '/signalbox.worker.v1.WorkerGateway/Connect',
    (sent: Buffer) => sent,
    (came: Buffer) => came,
    metadata,
  );
  stream.on('error', () => undefined);
  const ended = new Promise<StatusObject>((resolve) => stream.once('status', resolve));
  stream.write(Buffer.from(bytes));
  expect(await ended).toMatchObject({ code, details: expect.stringContaining(details) });
});

const times = { startedAt: 1, endedAt: 2 };
const plainReport = {
  outcome: 'succeeded',
  output: '',
  error: '',
  ...times,
  code: '',
  retryAfterMs: 0,
  memoryBytes: 0,
  cpuMicros: 0,
  peakBytes: 0,
} as const;

test('a report with a token that was made up is stale, whatever it claims (I20, I21)', async () => {
  const { stream, messages } = open();
  stream.write({ hello: hello() });
  const report = { ...plainReport, claim, output: '1' };
  stream.write({
    reports: [Buffer.alloc(16), Buffer.alloc(0), Buffer.alloc(200)].map((token) => ({ ...report, token })),
  });
  await eventually(() => messages.flatMap(({ answers }) => answers).length === 3);
  expect(new Set(messages.flatMap(({ answers }) => answers.map(({ verdict }) => verdict)))).toEqual(new Set(['stale']));
  stream.cancel();
});

test('the token of one attempt is of no use to another, and works once for its own', async () => {
  const tasks = [{ name: 'a', handler: 'x', queue: 'tokens', retries: { maxAttempts: 2, baseMs: 1, maxMs: 1 } }];
  await rig.ask('PUT', '/v1/dags/tokens', { name: 'tokens', tasks });
  const { stream, messages } = open();
  stream.write({ hello: hello({ queues: ['tokens'] }) });
  await rig.ask('POST', '/v1/dags/tokens/runs/batch', { runs: [{}, {}] });
  const assignments = () => messages.flatMap((message) => message.assignments);
  await eventually(() => assignments().length === 2);
  const [mine, other] = assignments();
  if (mine === undefined || other === undefined) throw new Error('two were assigned');
  const report = plainReport;
  const answers = () => messages.flatMap((message) => message.answers);
  stream.write({ reports: [{ ...report, claim: mine.claim, token: other.token }] });
  await eventually(() => answers().length === 1);
  stream.write({ reports: [{ ...report, claim: mine.claim, token: mine.token }] });
  await eventually(() => answers().length === 2);
  stream.write({ reports: [{ ...report, claim: mine.claim, token: mine.token }] });
  await eventually(() => answers().length === 3);
  // The same report again gets the same answer (I22).
  expect(answers().map(({ verdict }) => verdict)).toEqual(['stale', 'accepted', 'accepted']);
  stream.write({ reports: [{ ...report, claim: other.claim, token: other.token }] });
  await eventually(() => answers().length === 4);
  stream.cancel();
});

test('a worker that is silent for its lease loses its stream and its work (I25)', async () => {
  const retries = { maxAttempts: 1, maxLost: 5 };
  const tasks = [{ name: 'a', handler: 'x', queue: 'silent', retries }];
  await rig.ask('PUT', '/v1/dags/silent', { name: 'silent', tasks });
  const silent = open();
  silent.stream.write({ hello: hello({ queues: ['silent'] }) });
  const { id } = (await rig.ask('POST', '/v1/dags/silent/runs', {})).body;
  await eventually(() => silent.messages.some(({ assignments }) => assignments.length > 0));
  await silent.ended;
  await rig.addWorker({ x: () => 'done' }, { queues: ['silent'] });
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome === 'succeeded');
});

test.each([
  ['nothing', {}],
  ['a proof that was made up', { 'signalbox-proof': Buffer.alloc(32).toString('base64url') }],
])('who brings %s is no node of the cluster (I66)', async (_, proof) => {
  const metadata = new Metadata();
  const said = { 'signalbox-format': '1', 'signalbox-node': randomUUID(), 'signalbox-session': '1', ...proof };
  for (const [name, value] of Object.entries(said)) metadata.set(name, value);
  const stream = openPeerLink(connect(), metadata);
  stream.on('error', () => undefined);
  const ended = new Promise<StatusObject>((resolve) => stream.once('status', resolve));
  stream.resume();
  stream.write(Buffer.from('[]'));
  expect((await ended).code).toBe(status.UNAUTHENTICATED);
});

test.each([
  ['by heartbeats', (no: number) => ({ heartbeat: { no, holds: [], progress: [] } })],
  ['by anything but heartbeats', () => ({ holdings: { epochs: [], holds: [] } })],
])('a token that is revoked ends the streams that it opened, kept alive %s (I66)', async (how, sign) => {
  const name = how.replaceAll(' ', '-');
  const made = await rig.ask('POST', '/v1/tokens', { name, role: 'worker' });
  const { token } = made.body as unknown as { token: string };
  const { stream, messages, ended } = open(`Bearer ${token}`);
  stream.write({ hello: hello() });
  await eventually(() => messages.some((message) => message.welcome !== null));
  await rig.ask('POST', `/v1/tokens/${name}/revoke`);
  let no = 0;
  const beating = setInterval(() => stream.write(sign(++no)), 100);
  const { code } = await ended;
  clearInterval(beating);
  expect(code).toBe(status.UNAUTHENTICATED);
});
