import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

test('dags are found by tag and by owner', async () => {
  const client = createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
  const tasks = [{ name: 'only', handler: 'echo' }];
  await client.deployDag({ name: 'bills', tasks, tags: ['billing', 'nightly'], owner: 'team-money' });
  await client.deployDag({ name: 'dunning', tasks, tags: ['billing'], owner: 'team-mail' });
  await client.deployDag({ name: 'plain', tasks });
  const found = async (filter: { tag?: string; owner?: string }) =>
    (await client.listDags(filter)).items.map(({ name, tags, owner }) => [name, tags.join(), owner]);
  expect(await found({ tag: 'billing' })).toEqual([
    ['bills', 'billing,nightly', 'team-money'],
    ['dunning', 'billing', 'team-mail'],
  ]);
  expect(await found({ tag: 'billing', owner: 'team-mail' })).toEqual([['dunning', 'billing', 'team-mail']]);
  expect(await found({ tag: 'bill' })).toEqual([]);
  expect(await found({})).toHaveLength(3);
  expect(await client.getDag('plain')).toMatchObject({ tags: [], owner: null });
  expect(await client.getVersion('bills', 1)).toMatchObject({ tags: ['billing', 'nightly'], owner: 'team-money' });
});
