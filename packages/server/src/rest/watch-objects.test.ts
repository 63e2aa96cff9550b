import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

/** Credentials of the test server, where the client of AWS looks for them. */
const AWS = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

let rig: Rig;
let folder: string;
let objects: S3rver;
let client: S3Client;
beforeAll(async () => {
  Object.assign(process.env, AWS);
  folder = await mkdtemp(join(tmpdir(), 'signalbox-objects-'));
  objects = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory: folder },
    configureBuckets: [{ name: 'shop' }],
  });
  const { port } = await objects.run();
  const endpoint = `http://127.0.0.1:${port}`;
  client = new S3Client({ endpoint, forcePathStyle: true });
  rig = await startRig();
  const variables = { SIGNALBOX_WATCH_OBJECTS: 'orders=s3://shop/in/', SIGNALBOX_S3_ENDPOINT: endpoint };
  await rig.addServer(variables);
  await rig.addServer(variables);
});
afterAll(async () => {
  client?.destroy();
  await rig?.stop();
  await objects?.close();
  await rm(folder, { recursive: true, force: true });
});

const put = (Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket: 'shop', Key, Body }));

test('a new object under a watched prefix starts one run, though two servers watch it', async () => {
  const on = {
    type: 'signalbox.object.created',
    source: '/signalbox/objects/orders',
    where: 'event.data.size > 2',
    params: { url: '${{ event.data.url }}', size: '${{ event.data.size }}' },
  };
  await rig.ask('PUT', '/v1/dags/import', { name: 'import', on, tasks: [{ name: 't', handler: 'none' }] });
  await eventually(async () => (await rig.sql('select 1 from object_watch where is_looked')).length === 1, 30_000);
  await put('other/orders.csv', 'a;b\n');
  await put('in/small.csv', 'x');
  await put('in/orders.csv', 'a;b\n');
  await eventually(async () => (await rig.sql('select 1 from watched_object')).length === 2, 30_000);
  const { items } = (await rig.ask('GET', '/v1/runs?dag=import')).body as unknown as { items: { id: string }[] };
  expect(items).toHaveLength(1);
  const { body } = await rig.ask('GET', `/v1/runs/${items[0]?.id}`);
  expect(body).toMatchObject({ actor: 'objects:orders', params: { url: 's3://shop/in/orders.csv', size: 4 } });
}, 90_000);
