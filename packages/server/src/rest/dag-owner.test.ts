import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const deploy = (name: string, more: object = {}) =>
  rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', run: 'true' }], ...more });

test('an owner that is set by hand goes before that of the definition, and survives deploys', async () => {
  const client = rig.client();
  await deploy('report', { owner: 'team-a' });
  await deploy('other', { owner: 'team-a' });
  expect(await client.setDagOwner('report', 'team-b')).toEqual({
    ...{ name: 'report', owner: 'team-b', ofDefinition: 'team-a' },
  });
  await deploy('report', { owner: 'team-c' });
  expect((await client.getDag('report')).owner).toBe('team-b');
  const ofOwner = async (owner: string) => (await client.listDags({ owner })).items.map(({ name }) => name);
  expect([await ofOwner('team-b'), await ofOwner('team-c'), await ofOwner('team-a')]).toEqual([
    ['report'],
    [],
    ['other'],
  ]);
  const found = (await rig.ask('GET', '/v1/dags?q=team-b')).body.items.map(({ name }) => name);
  expect(found).toEqual(['report']);
  const { body } = await rig.ask('GET', '/v1/dag-labels');
  expect((body as unknown as { owners: unknown }).owners).toEqual([
    { name: 'team-a', dags: 1 },
    { name: 'team-b', dags: 1 },
  ]);
  expect(await client.setDagOwner('report', null)).toMatchObject({ owner: 'team-c' });
  expect((await client.getDag('report')).owner).toBe('team-c');
  const actions = (await client.listAudit()).items.map(({ action }) => action);
  expect(actions.filter((action) => action === 'dag.owner')).toHaveLength(2);
});

test('a dag without an owner in its definition is counted under the one that is set', async () => {
  await deploy('plain');
  await rig.client().setDagOwner('plain', 'team-z');
  const { body } = await rig.ask('GET', '/v1/dag-labels');
  expect((body as unknown as { owners: unknown[] }).owners).toContainEqual({ name: 'team-z', dags: 1 });
});

test('two lines are refused, and so is a dag that is not there', async () => {
  expect((await rig.ask('PUT', '/v1/dags/report/owner', { owner: 'a\nb' })).status).toBe(400);
  expect((await rig.ask('PUT', '/v1/dags/nobody/owner', { owner: 'a' })).body.code).toBe('DAG_NOT_FOUND');
});
