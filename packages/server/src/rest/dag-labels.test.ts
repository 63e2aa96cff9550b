import type { DagLabels, DagStats } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PLAIN_HANDLERS, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addWorker(PLAIN_HANDLERS);
  const client = rig.client();
  const tasks = [{ name: 'only', handler: 'echo' }];
  await client.deployDag({ name: 'bills', tasks, tags: ['billing', 'nightly'], owner: 'team-money' });
  await client.deployDag({
    name: 'dunning',
    tasks,
    tags: ['billing'],
    owner: 'team-mail',
    description: 'Asks Politely.',
  });
  await client.deployDag({ name: 'plain', tasks });
  await client.deployDag({ name: 'broken', tasks: [{ name: 'only', handler: 'fail' }] });
  await client.deployDag({ name: 'stuck', tasks: [{ name: 'only', handler: 'echo', queue: 'nobody' }] });
  const schedule = { cron: '0 6 * * *' };
  await client.deployDag({ name: 'daily', schedule, tasks });
  await client.deployDag({ name: 'held', schedule, tasks });
  await client.deployDag({ name: 'gone', tasks, tags: ['billing'] });
  await client.deleteDag('gone');
  await client.pauseSchedule('held');
  for (const name of ['plain', 'broken']) await client.waitForRun((await client.submit(name)).id);
  await client.submit('stuck');
});
afterAll(() => rig.stop());

test('dags are found by tag and by owner', async () => {
  const client = rig.client();
  const found = async (filter: { tag?: string; owner?: string }) =>
    (await client.listDags(filter)).items.map(({ name, tags, owner }) => [name, tags.join(), owner]);
  expect(await found({ tag: 'billing' })).toEqual([
    ['bills', 'billing,nightly', 'team-money'],
    ['dunning', 'billing', 'team-mail'],
  ]);
  expect(await found({ tag: 'billing', owner: 'team-mail' })).toEqual([['dunning', 'billing', 'team-mail']]);
  expect(await found({ tag: 'bill' })).toEqual([]);
  expect(await client.getDag('plain')).toMatchObject({ tags: [], owner: null });
  expect(await client.getVersion('bills', 1)).toMatchObject({ tags: ['billing', 'nightly'], owner: 'team-money' });
});

test.each([
  [{}, ['bills', 'broken', 'daily', 'dunning', 'held', 'plain', 'stuck']],
  [{ retired: true, tag: 'billing' }, ['bills', 'dunning', 'gone']],
  [{ q: 'MONEY night' }, ['bills']],
  [{ q: 'politely' }, ['dunning']],
  [{ q: "100%_' nothing" }, []],
  [{ show: 'running' }, ['stuck']],
  [{ show: 'failed' }, ['broken']],
  [{ show: 'scheduled' }, ['daily', 'held']],
  [{ show: 'paused' }, ['held']],
] as const)('the filter %j lets %j through, in pages and as names', async (filter, names) => {
  const client = rig.client();
  expect((await client.listDagNames(filter)).items).toEqual(names);
  expect((await client.listDags({ ...filter, limit: 50 })).items.map(({ name }) => name)).toEqual(names);
  const first = await client.listDags({ ...filter, limit: 1 });
  expect(first.items.map(({ name }) => name)).toEqual(names.slice(0, 1));
});

test('labels are counted over dags that are not deleted', async () => {
  expect(await rig.read<DagLabels>('/v1/dag-labels')).toEqual({
    tags: [
      { name: 'billing', dags: 2 },
      { name: 'nightly', dags: 1 },
    ],
    owners: [
      { name: 'team-mail', dags: 1 },
      { name: 'team-money', dags: 1 },
    ],
  });
});

test('sums of some dags are asked for by name', async () => {
  const names = async (query: string) =>
    (await rig.read<DagStats>(`/v1/stats/dags?${query}`)).items.map(({ dag }) => dag);
  expect(await names('')).toEqual(['broken', 'plain']);
  expect(await names('dag=plain')).toEqual(['plain']);
  expect(await names('dag=plain&dag=bills')).toEqual(['plain']);
});
