import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { API_SERVICE, loadService } from '@signalbox/protocol/grpc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../../testing/rig.ts';

let rig: Rig;
let client: Client;
beforeAll(async () => {
  rig = await startRig();
  client = new Client(rig.servers[0]?.servicesAddress ?? '', credentials.createInsecure());
  for (const name of ['one', 'two']) {
    await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 't', handler: 'none' }] });
  }
});
afterAll(async () => {
  client.close();
  await rig.stop();
});

interface Told {
  readonly cursor: string;
  readonly kind: string;
  readonly dag: string;
  readonly runId: string;
  readonly detailsJson: string;
}

const api = loadService('api.proto', API_SERVICE);

function follow(message: object, token = rig.token) {
  const { path, requestSerialize, responseDeserialize } = api.definition.FollowEvents!;
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, message, metadata);
  const told: Told[] = [];
  stream.on('data', (one: Told) => told.push(one));
  const over = new Promise<number>((resolve) => {
    stream.on('error', (error: ServiceError) => resolve(error.code));
    stream.on('end', () => resolve(status.OK));
  });
  return { told, over, stop: () => stream.cancel(), runs: () => told.flatMap(({ runId }) => runId || []) };
}

const submit = async (dag: string) =>
  ((await rig.ask('POST', `/v1/dags/${dag}/runs`, {})).body as unknown as { id: string }).id;

test('events come as they happen, and after an interruption from where the reader was', async () => {
  const first = follow({ dag: 'one', kind: 'run.created' });
  await eventually(() => first.told.length > 0);
  expect(first.told[0]).toMatchObject({ kind: '', cursor: expect.stringMatching(/./) });
  const ids = [await submit('one')];
  await submit('two');
  await eventually(() => first.runs().length === 1);
  expect(first.told.at(-1)).toMatchObject({ kind: 'run.created', dag: 'one', runId: ids[0] });
  expect(JSON.parse(first.told.at(-1)!.detailsJson)).toBeTypeOf('object');
  first.stop();
  expect(await first.over).toBe(status.CANCELLED);
  ids.push(await submit('one'), await submit('one'));
  const second = follow({ dag: 'one', kind: 'run.created', after: first.told.at(-1)!.cursor });
  await eventually(() => second.runs().length === 2);
  expect(second.runs()).toEqual(ids.slice(1));
  second.stop();
  const third = follow({ dag: 'one', kind: 'run.created', after: first.told[0]!.cursor });
  await eventually(() => third.runs().length === 3);
  expect(third.runs()).toEqual(ids);
  third.stop();
});

test('a wrong cursor, and a caller without a credential, are refused', async () => {
  expect(await follow({ after: 'nowhere' }).over).toBe(status.INVALID_ARGUMENT);
  expect(await follow({}, 'nobody').over).toBe(status.UNAUTHENTICATED);
});

test('a stream ends with the credential that opened it (I66), and frees its place', async () => {
  const made = await rig.ask('POST', '/v1/tokens', { name: 'reader', role: 'viewer' });
  const { token } = made.body as unknown as { token: string };
  const stream = follow({}, token);
  await eventually(() => stream.told.length > 0);
  await rig.ask('POST', '/v1/tokens/reader/revoke');
  expect(await stream.over).toBe(status.UNAUTHENTICATED);
}, 30_000);

test('readers that leave give their places to others (I73)', async () => {
  for (let round = 0; round < 30; round++) {
    const some = Array.from({ length: 5 }, () => follow({}));
    await eventually(() => some.every(({ told }) => told.length > 0));
    for (const { stop } of some) stop();
    await Promise.all(some.map(({ over }) => over));
  }
}, 60_000);
