import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.stop();
});

async function deploy(name: string, more: object = {}): Promise<void> {
  const dag = { name, tasks: [{ name: 'a', handler: 'echo', queue: 'nobody' }], ...more };
  expect((await rig.ask('PUT', `/v1/dags/${name}`, dag)).status).toBe(200);
}

async function submit(name: string, count: number, body: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await rig.ask('POST', `/v1/dags/${name}/runs`, body)).body.id);
  return ids;
}

const cancel = async (filter: object) => (await rig.ask('POST', '/v1/runs/cancel', filter)).body;
const idsOf = ({ items }: { readonly items: readonly { readonly run: string }[] }) => items.map(({ run }) => run);
const outcomeOf = async (id: string) => (await rig.read<{ outcome: string | null }>(`/v1/runs/${id}`)).outcome;

test('a dry run tells which runs fit, and cancels none; then those are cancelled and no others', async () => {
  await deploy('limited', { maxActiveRuns: 1 });
  await deploy('beside');
  const ids = await submit('limited', 3);
  const [other] = await submit('beside', 1);
  const filter = { dag: 'limited', state: 'queued' };
  const preview = await cancel({ ...filter, dryRun: true });
  expect(preview).toMatchObject({ dryRun: true, cursor: null });
  expect(idsOf(preview)).toEqual([ids[2], ids[1]]);
  expect(await outcomeOf(ids[1]!)).toBeNull();
  const done = await cancel(filter);
  expect(done.items).toEqual([ids[2], ids[1]].map((run) => ({ run, dag: 'limited', state: 'queued', refused: null })));
  expect(await Promise.all([...ids, other!].map(outcomeOf))).toEqual([null, 'cancelled', 'cancelled', null]);
  expect((await cancel(filter)).items).toEqual([]);
  expect(idsOf(await cancel({ dag: 'limited' }))).toEqual([ids[0]]);
});

test('by tag, priority, key and time, page by page', async () => {
  await deploy('tagged', { tags: ['nightly'], concurrency: { key: '${{ params.of }}', limit: 9 } });
  await deploy('untagged');
  const low = await submit('tagged', 3, { priority: 'low', params: { of: 'a' } });
  const [high] = await submit('tagged', 1, { priority: 'high', params: { of: 'b' } });
  await submit('untagged', 1, { priority: 'low' });
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await cancel({
      tag: 'nightly',
      priority: 'low',
      limit: 2,
      dryRun: true,
      ...(cursor !== '' && { cursor }),
    });
    found.push(...idsOf(page));
    cursor = page.cursor;
  }
  expect(found.toSorted()).toEqual(low.toSorted());
  expect(idsOf(await cancel({ tag: 'nightly', concurrencyKey: 'b', dryRun: true }))).toEqual([high]);
  expect(idsOf(await cancel({ tag: 'nightly', since: '2999-01-01T00:00:00Z' }))).toEqual([]);
  expect(idsOf(await cancel({ tag: 'nightly', until: '2000-01-01T00:00:00Z' }))).toEqual([]);
  expect(idsOf(await cancel({ tag: 'nobody' }))).toEqual([]);
  expect((await rig.client().cancelRuns({ tag: 'nightly' })).items).toHaveLength(4);
  await eventually(async () => (await outcomeOf(high!)) === 'cancelled');
});

test.each([
  [{}, 400, 'BAD_REQUEST'],
  [{ state: 'queued' }, 400, 'BAD_REQUEST'],
  [{ dag: 'missing' }, 404, 'DAG_NOT_FOUND'],
])('%j is refused with %i', async (filter, status, code) => {
  const answer = await rig.ask('POST', '/v1/runs/cancel', filter);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});
