import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WatchedFolderPage } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../start.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-Watched-'));
  rig = await startRig();
  const variables = { SIGNALBOX_WATCH_FOLDERS: `orders=${folder}` };
  // The same folder on two servers, as on a shared disk.
  await rig.addServer(variables);
  await rig.addServer(variables);
});
afterAll(async () => {
  await rig.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a new file of a watched folder starts one run, though two servers see it', async () => {
  const on = {
    type: 'signalbox.file.created',
    source: '/signalbox/files/orders',
    where: 'event.data.size > 2',
    params: { path: '${{ event.data.path }}', size: '${{ event.data.size }}' },
  };
  await rig.ask('PUT', '/v1/dags/import', { name: 'import', on, tasks: [{ name: 't', handler: 'none' }] });
  await eventually(async () => (await rig.sql("select 1 from watched_file where path = ''")).length === 1, 15_000);
  await writeFile(join(folder, 'small.csv'), 'x');
  await writeFile(join(folder, 'orders.csv'), 'a;b\n');
  const runs = async () =>
    ((await rig.ask('GET', '/v1/runs?dag=import')).body as unknown as { items: { id: string }[] }).items;
  await eventually(async () => (await rig.sql("select 1 from watched_file where path <> ''")).length === 2, 20_000);
  await eventually(async () => (await runs()).length > 0);
  const [run, ...others] = await runs();
  expect(others).toEqual([]);
  const { body } = await rig.ask('GET', `/v1/runs/${run?.id}`);
  expect(body).toMatchObject({ actor: 'folder:orders', params: { path: 'orders.csv', size: 4 } });
  const { body: seen } = await rig.ask('GET', '/v1/folders', undefined, { server: rig.servers[1] as RunningServer });
  expect(seen).toMatchObject({
    items: [{ name: 'orders', path: folder, source: '/signalbox/files/orders', files: 2, problem: null }],
  });
  // A server that starts later knows the last file too, though it did not send it.
  const later = await rig.addServer({ SIGNALBOX_WATCH_FOLDERS: `orders=${folder}` });
  await eventually(async () => {
    const { body } = await rig.ask('GET', '/v1/folders', undefined, { server: later });
    return (body as unknown as WatchedFolderPage).items[0]?.lastFile === 'small.csv';
  });
});
