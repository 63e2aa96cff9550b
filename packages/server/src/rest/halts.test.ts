import type { FreezePage, RunView } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ SIGNALBOX_DAG_FAN_OUT: '50' });
  await rig.addWorker({ list: () => Array.from({ length: 200 }, (_, i) => i), quick: () => null });
  const tasks = [
    { name: 'list', handler: 'list' },
    { name: 'work', handler: 'quick', map: '${{ tasks.list.output }}' },
  ];
  const deployed = await rig.ask('PUT', '/v1/dags/etl', { name: 'etl', tasks });
  expect(deployed.status).toBe(200);
  await rig.ask('PUT', '/v1/dags/small', { name: 'small', tasks: [{ name: 'work', handler: 'quick' }] });
});
afterAll(async () => {
  await rig.stop();
});

const submit = async (dag: string) => (await rig.ask('POST', `/v1/dags/${dag}/runs`, {})).body.id;
const runOf = (id: string) => rig.read<RunView>(`/v1/runs/${id}`);
const ended = (id: string) => eventually(async () => (await runOf(id)).state === 'ended');

test('a map that explodes halts its dag: it says why, others go on, and a thaw lets it end', async () => {
  const id = await submit('etl');
  await eventually(async () => (await rig.read<FreezePage>('/v1/freezes')).items.length > 0);
  const [halt] = (await rig.read<FreezePage>('/v1/freezes')).items;
  expect(halt).toMatchObject({ target: 'dag:etl', by: 'system' });
  expect(halt?.reason).toMatch(/^Halted: it created \d+ tasks within a minute, and 50 tasks are allowed\.$/);
  const waits = await submit('etl');
  await eventually(async () => (await runOf(waits)).tasks[0]?.why?.code === 'halted');
  const why = await rig.ask('GET', `/v1/runs/${waits}/tasks/list/why`);
  expect(JSON.stringify(why.body)).toContain('signalbox thaw dag:etl');
  await ended(await submit('small'));
  expect((await runOf(waits)).tasks[0]?.state).toBe('ready');

  expect((await rig.ask('DELETE', '/v1/freezes/dag:etl')).body).toMatchObject({ thawed: true });
  await ended(id);
  const events = await rig.read<{ items: { kind: string; dag: string }[] }>(
    '/v1/events?from=start&dag=etl&kind=dag.halted,dag.resumed',
  );
  expect(events.items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['dag.halted', 'dag.resumed']));
  const actions = (await rig.client().listAudit()).items.map(({ action }) => action);
  expect(actions).toContain('dag.resumed');
  // The second run may have halted it again with its own map.
  await eventually(async () => {
    await rig.ask('DELETE', '/v1/freezes/dag:etl');
    return (await runOf(waits)).state === 'ended';
  });
});

test('the quota of a tenant takes the place of the setting', async () => {
  const tenant = { fanout: '/v1/tenants/default/quotas/fanout' };
  expect((await rig.ask('PUT', tenant.fanout, { hard: 2 })).body).toMatchObject({ quota: 'fanout', hard: 2 });
  await eventually(async () => {
    await submit('small');
    return (await rig.read<FreezePage>('/v1/freezes')).items.some(({ target }) => target === 'dag:small');
  });
  expect((await rig.ask('DELETE', tenant.fanout)).status).toBe(200);
  expect((await rig.ask('DELETE', '/v1/freezes/dag:small')).status).toBe(200);
  expect((await rig.ask('DELETE', '/v1/freezes/dag:small')).body.code).toBe('FREEZE_NOT_FOUND');
});
