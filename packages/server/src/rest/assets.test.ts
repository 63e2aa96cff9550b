import type { AssetView } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker({ make: () => null, fail: () => Promise.reject(new Error('no')) });
});
afterAll(() => rig.stop());

const producer = (name: string, asset: string, handler = 'make') => ({
  name,
  tasks: [{ name: 'make', handler, produces: [asset] }],
});
const consumer = (name: string, on: unknown) => ({ name, on, tasks: [{ name: 'use', handler: 'make' }] });

async function deploy(...dags: { readonly name: string }[]): Promise<void> {
  for (const dag of dags) expect(await rig.ask('PUT', `/v1/dags/${dag.name}`, dag)).toMatchObject({ status: 200 });
}
const runsOf = async (dag: string) =>
  ((await rig.ask('GET', `/v1/runs?dag=${dag}`)).body as unknown as { items: { id: string; assets?: unknown[] }[] })
    .items;
async function run(dag: string): Promise<string> {
  const { id } = (await rig.ask('POST', `/v1/dags/${dag}/runs`, {})).body as unknown as { id: string };
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.state === 'ended');
  return id;
}
const shardsOf = async (...names: string[]) =>
  (await rig.sql(`select shard from dag where name in (${names.map((name) => `'${name}'`).join()})`)).map(
    ({ shard }) => shard,
  );

test('a dag runs once all its assets were produced, on whichever shards, and names the runs that did', async () => {
  await deploy(producer('load-a', 'a'), producer('load-b', 'b'), consumer('report', { assets: { all: ['a', 'b'] } }));
  expect(new Set(await shardsOf('load-a', 'load-b', 'report')).size).toBeGreaterThan(1);
  const a = await run('load-a');
  const newer = await run('load-a');
  expect(a).not.toBe(newer);
  expect(await runsOf('report')).toEqual([]);
  const b = await run('load-b');
  await eventually(async () => (await runsOf('report')).length === 1);
  expect((await runsOf('report'))[0]).toMatchObject({
    cause: 'event',
    actor: 'asset',
    assets: [
      { name: 'a', run: newer, dag: 'load-a', task: 'make' },
      { name: 'b', run: b, dag: 'load-b', task: 'make' },
    ],
  });
  const { body } = await rig.ask('GET', '/v1/assets');
  const { items } = body as unknown as { items: AssetView[] };
  const consumers = [{ dag: 'report', trigger: 'assets', mode: 'all', assets: ['a', 'b'] }];
  expect(items).toMatchObject([
    { name: 'a', run: newer, dag: 'load-a', task: 'make', producedBy: 'task', count: 2, consumers },
    { name: 'b', run: b, count: 1, consumers },
  ]);
});

test('an asset is declared fresh by hand, listed before it ever was, and unknown before anybody names it', async () => {
  await deploy(consumer('watch', { name: 'any-of', assets: { any: ['s3://lake/x', 'y'] } }));
  const path = `/v1/assets/${encodeURIComponent('s3://lake/x')}`;
  expect((await rig.ask('GET', path)).body).toMatchObject({ name: 's3://lake/x', producedAt: null, count: 0 });
  expect(await rig.ask('GET', '/v1/assets/nobody')).toMatchObject({ status: 404, body: { code: 'ASSET_NOT_FOUND' } });
  expect((await rig.ask('GET', '/v1/assets/no%20body')).body).toMatchObject({ problems: [{ path: 'asset' }] });
  const made = await rig.ask('POST', `${path}/materialize`, {});
  expect(made).toMatchObject({ status: 200, body: { count: 1, run: null, producedBy: 'token:admin' } });
  await eventually(async () => (await runsOf('watch')).length === 1);
  expect((await runsOf('watch'))[0]?.assets).toMatchObject([{ name: 's3://lake/x', run: null }]);
  const first = (await rig.ask('GET', '/v1/assets?limit=1')).body as unknown as { items: AssetView[]; cursor: string };
  const rest = (await rig.ask('GET', `/v1/assets?limit=100&cursor=${first.cursor}`)).body as unknown as {
    items: AssetView[];
  };
  const names = [...first.items, ...rest.items].map(({ name }) => name);
  expect(names).toEqual([...names].sort());
  expect(names).toContain('y');
});

test('a failed task produces nothing', async () => {
  await deploy(producer('broken', 'never', 'fail'), consumer('hopeful', { assets: { any: ['never'] } }));
  await run('broken');
  expect((await rig.ask('GET', '/v1/assets/never')).body).toMatchObject({ count: 0 });
});

test('assets are found by a part of their names, page by page', async () => {
  for (const name of ['Pond/orders', 'pond/rates', 'pond/10_off'])
    await rig.ask('POST', `/v1/assets/${encodeURIComponent(name)}/materialize`, {});
  await deploy(consumer('fisher', { assets: { any: ['the-pond'] } }));
  const found = async (query: string) => {
    const { body } = await rig.ask('GET', `/v1/assets?${query}`);
    return (body.items as unknown as { readonly name: string }[]).map(({ name }) => name);
  };
  expect((await found('q=POND')).sort()).toEqual(['Pond/orders', 'pond/10_off', 'pond/rates', 'the-pond']);
  // Signs that patterns have are signs like others.
  expect(await found('q=D_R')).toEqual([]);
  const [first = ''] = await found('q=pond&limit=1');
  expect(await found(`q=pond&limit=10&cursor=${encodeURIComponent(first)}`)).toHaveLength(3);
  expect(await found('q=nowhere')).toEqual([]);
});

test.each([
  [{ ...producer('self', 'mine'), on: { assets: { any: ['mine'] } } }, 'run for ever'],
  [consumer('both', { assets: { any: ['a'], all: ['b'] } }), 'either all or any'],
  [consumer('mixed', { assets: { any: ['a'] }, where: 'event.data.x > 1' }), 'does not go with assets'],
  [{ ...consumer('strict', { assets: { any: ['a'] } }), params: { type: 'object', required: ['x'] } }, 'a default'],
  [{ name: 'mapped', tasks: [{ name: 'm', handler: 'make', map: [1, 2], produces: ['z'] }] }, 'a task with a map'],
])('%j is refused', async (dag, message) => {
  const { status, body } = await rig.ask('PUT', `/v1/dags/${dag.name}`, dag);
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(message)]);
});

test('through a handover each time counts once at most, and the last one counts (I1, I72)', async () => {
  const server = await rig.addServer();
  await deploy(consumer('handover', { assets: { any: ['often'] } }));
  const produce = async () => {
    const made = await rig.ask('POST', '/v1/assets/often/materialize', {}, { server });
    // Without an answer it may have been done or not: what counts is stored.
    expect([200, 503, 504]).toContain(made.status);
  };
  const [first] = rig.servers;
  for (let i = 0; i < 4; i++) await produce();
  const stopped = first?.stop();
  for (let i = 0; i < 4; i++) await produce();
  await stopped;
  await produce();
  const [asset] = await rig.sql("select no from asset where name = 'often'");
  const taken = async () => {
    const rows = await rig.sql(
      "select r.notes from run r join dag d on d.shard = r.shard and d.dag_id = r.dag_id where d.name = 'handover'",
    );
    return rows.map(({ notes }) => (typeof notes === 'string' ? JSON.parse(notes) : notes).assets[0].no as number);
  };
  await eventually(async () => (await taken()).includes(Number(asset?.no)), 30_000);
  const numbers = await taken();
  expect(new Set(numbers).size).toBe(numbers.length);
});
