import { randomUUID } from 'node:crypto';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { encodeWorkerMessage, parseWorkerMessage } from '@signalbox/protocol/grpc';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../start.ts';
import { RawWorker, type RawWorkerOptions } from '../testing/raw-worker.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

const MIB = 1024 * 1024;
let rig: Rig;
let server: RunningServer;
const open: RawWorker[] = [];
const sessions: ClientHttp2Session[] = [];
beforeAll(async () => {
  rig = await startRig();
  server = rig.servers[0] as RunningServer;
});
afterEach(() => {
  for (const worker of open.splice(0)) worker.close();
  for (const session of sessions.splice(0)) session.destroy();
});
afterAll(() => rig.stop());

function join(options: RawWorkerOptions): RawWorker {
  const worker = new RawWorker(server, options);
  open.push(worker);
  return worker;
}

async function tokenWith(limits: object): Promise<string> {
  const made = await rig.ask('POST', '/v1/tokens', { name: `t-${randomUUID()}`, role: 'worker', ...limits });
  expect([made.status, made.body.problems]).toEqual([201, undefined]);
  return (made.body as unknown as { token: string }).token;
}

const claims = (count: number) =>
  Array.from({ length: count }, (_, no) => ({ shard: 0, runId: 65_536 * (no + 1), task: 0, attempt: 1, fence: 1 }));

test.each([
  [5, 'holds'],
  [150_000, 'items'],
])(
  'a heartbeat with %i claims that were never assigned ends the stream, and no owner hears of them',
  async (count, why) => {
    const liar = await join({ token: rig.token, slots: 10 }).welcomed();
    await liar.beat(claims(count));
    expect(await liar.ended).toMatchObject({ code: status.INVALID_ARGUMENT, details: expect.stringContaining(why) });
    expect(liar.messages.flatMap(({ kills }) => kills)).toEqual([]);
  },
);

test('a hello may not name more claims than the worker has slots and reports that wait', async () => {
  const holds = claims(20_011).map((claim) => ({ claim, token: Buffer.alloc(16) }));
  expect(await join({ token: rig.token, slots: 10, holds }).ended).toMatchObject({ code: status.INVALID_ARGUMENT });
});

test('a message that names too much is refused before it is decoded', () => {
  const bytes = encodeWorkerMessage({ heartbeat: { no: 1, holds: claims(150_000), progress: [] } });
  const timed = (most: number): number => {
    const began = performance.now();
    try {
      parseWorkerMessage(bytes, most);
    } catch {
      // Refused, as it should be.
    }
    return performance.now() - began;
  };
  const median = (most: number) => [1, 2, 3, 4, 5].map(() => timed(most)).sort((a, b) => a - b)[2] as number;
  expect(median(10_000) * 10).toBeLessThan(median(1_000_000));
  expect(() => parseWorkerMessage(bytes, 10_000)).toThrow('items');
});

/** A call whose message has a length of `size`, of which only `sent` bytes come. */
function halfSent(size: number, sent: number): ClientHttp2Stream {
  const session = connect(`http://${server.grpcAddress}`);
  session.on('error', () => undefined);
  sessions.push(session);
  const call = session.request({
    ':method': 'POST',
    ':path': '/signalbox.worker.v1.WorkerGateway/Connect',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${rig.token}`,
  });
  call.on('error', () => undefined);
  const bytes = Buffer.alloc(sent + 5);
  bytes.writeUInt32BE(size, 1);
  call.write(bytes);
  return call;
}

const endOf = (call: ClientHttp2Stream) =>
  new Promise<number>((resolve) => {
    call.on('response', (head) => head['grpc-status'] !== undefined && resolve(Number(head['grpc-status'])));
    call.on('trailers', (trailers) => resolve(Number(trailers['grpc-status'])));
    call.resume();
  });

test('a message of 60 MB is refused by its first bytes', async () => {
  expect(await endOf(halfSent(60 * MIB, 1))).toBe(status.RESOURCE_EXHAUSTED);
});

test('half-sent messages take no more than their share in all, and honest workers do not notice', async () => {
  const ends: number[] = [];
  for (let i = 0; i < 16; i++) void endOf(halfSent(8 * MIB - 100, 7 * MIB)).then((code) => ends.push(code));
  // 16 of 7 MiB are 112: of these 64 may wait.
  await eventually(() => ends.filter((code) => code === Number(status.RESOURCE_EXHAUSTED)).length >= 7);
  await rig.ask('PUT', '/v1/dags/honest', { name: 'honest', tasks: [{ name: 'a', handler: 'a', queue: 'honest' }] });
  const honest = await join({ token: rig.token, queues: ['honest'] }).welcomed();
  const { id } = (await rig.ask('POST', '/v1/dags/honest/runs', {})).body;
  expect(await honest.report(await honest.assigned(), { error: 'x'.repeat(MIB) })).toBe('accepted');
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome === 'succeeded');
}, 60_000);

test.each([
  [{ queues: ['a', 'b'] }, { queues: ['a'] }, null],
  [{ queues: ['a', 'b'] }, { queues: ['a', 'c'] }, 'queue "c"'],
  [{ queues: ['a', 'b'] }, { queues: ['default'] }, '--queues'],
  [{ slots: 5 }, { slots: 5, queues: ['any'] }, null],
  [{ slots: 5 }, { slots: 6 }, '--slots'],
  [{}, { slots: 10_000, queues: ['any'] }, null],
  [{}, { slots: 10_001 }, '10000'],
  [{}, { queues: ['a', 'b'], queueWeights: [4, 2] }, null],
  [{}, { queues: ['a', 'b'], queueWeights: [4] }, 'queueWeights'],
  [{}, { queues: ['a', 'b'], queueWeights: [4, 0] }, 'queueWeights'],
])('a token made with %j and a worker with %j: %s', async (limits, asked, refusal) => {
  const token = await tokenWith(limits);
  const worker = join({ token, ...asked });
  if (refusal === null) await worker.welcomed();
  else {
    const ended = await worker.ended;
    expect(ended).toMatchObject({ code: status.INVALID_ARGUMENT, details: expect.stringContaining(refusal) });
  }
});

test('the slots of a token are those of all its workers at a server; one that comes again does not count twice', async () => {
  const token = await tokenWith({ slots: 10 });
  const workerId = randomUUID();
  const first = await join({ token, slots: 6, workerId }).welcomed();
  await join({ token, slots: 6, workerId }).welcomed();
  await first.ended;
  expect((await join({ token, slots: 5 }).ended).details).toContain('4 are free');
  const second = await join({ token, slots: 4 }).welcomed();
  second.close();
  await eventually(async () => {
    const again = join({ token, slots: 4 });
    return Promise.race([again.welcomed().then(() => true), again.ended.then(() => false)]);
  });
});

test('limits of a token are for workers, and are shown with it', async () => {
  const refused = await rig.ask('POST', '/v1/tokens', { name: 'op', role: 'operator', slots: 5 });
  expect([refused.status, refused.body.problems[0]?.path]).toEqual([400, 'slots']);
  for (const body of [{ queues: [] }, { slots: 0 }, { slots: 100_001 }, { queues: Array(101).fill('q') }]) {
    expect((await rig.ask('POST', '/v1/tokens', { name: 'w', role: 'worker', ...body })).status).toBe(400);
  }
  const made = await rig.ask('POST', '/v1/tokens', { name: 'limited', role: 'worker', queues: ['gpu'], slots: 8 });
  expect(made.body).toMatchObject({ queues: ['gpu'], slots: 8 });
  const { items } = (await rig.ask('GET', '/v1/tokens')).body;
  expect(items.find(({ name }) => name === 'limited')).toMatchObject({ queues: ['gpu'], slots: 8 });
});
