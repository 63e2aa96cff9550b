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

const submit = async (name: string, body: object = {}): Promise<string> =>
  (await rig.ask('POST', `/v1/dags/${name}/runs`, body)).body.id;
const priorityOf = async (id: string) => (await rig.read<{ priority: string }>(`/v1/runs/${id}`)).priority;

test('the priority of a run is changed, shown, and told as an event', async () => {
  await deploy('one');
  const id = await submit('one');
  const { cursor: after } = await rig.client().listEvents({});
  expect(await rig.client().setPriority(id, 'high')).toEqual({ run: id, before: 'normal', priority: 'high' });
  expect(await rig.client().setPriority(id, 'high')).toEqual({ run: id, before: 'high', priority: 'high' });
  expect(await priorityOf(id)).toBe('high');
  const told = { items: [] as unknown[] };
  await eventually(async () => {
    told.items = (await rig.client().listEvents({ after, kinds: ['run.priority_set'] })).items;
    return told.items.length > 0;
  });
  expect(told.items).toMatchObject([{ run: id, details: { before: 'normal', priority: 'high' } }]);
});

test('a run that has ended, has not begun, or is not there is refused', async () => {
  await deploy('refused');
  const id = await submit('refused');
  await rig.client().cancelRun(id, { force: true });
  await expect(rig.client().setPriority(id, 'high')).rejects.toMatchObject({ code: 'RUN_ENDED' });
  const later = await submit('refused', { delay: '1h' });
  await expect(rig.client().setPriority(later, 'high')).rejects.toMatchObject({ code: 'RUN_SCHEDULED' });
  const nobody = '00000000-0000-4000-8000-000000000000';
  await expect(rig.client().setPriority(nobody, 'high')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  expect((await rig.ask('POST', `/v1/runs/${id}/priority`, { priority: 'urgent' })).status).toBe(400);
});

test('by a filter: a dry run tells which runs would change; then those change and no others', async () => {
  await deploy('many', { maxActiveRuns: 1 });
  await deploy('beside');
  const ids = [await submit('many'), await submit('many'), await submit('many', { priority: 'high' })];
  const other = await submit('beside');
  const filter = { dag: 'many', to: 'high' } as const;
  const expected = [ids[1], ids[0]];
  const preview = await rig.client().setPriorities({ ...filter, dryRun: true });
  expect(preview).toMatchObject({ dryRun: true, cursor: null });
  expect(preview.items.map(({ run }) => run)).toEqual(expected);
  expect(await priorityOf(ids[0]!)).toBe('normal');
  const waiting = await rig.client().setPriorities({ ...filter, state: 'queued' });
  expect(waiting.items).toEqual([{ run: ids[1], dag: 'many', state: 'queued', before: 'normal', refused: null }]);
  const rest = await rig.client().setPriorities(filter);
  expect(rest.items.map(({ run }) => run)).toEqual([ids[0]]);
  expect(await Promise.all([...ids, other].map(priorityOf))).toEqual(['high', 'high', 'high', 'normal']);
  expect((await rig.ask('POST', '/v1/runs/priority', { to: 'high' })).status).toBe(400);
});

test('critical needs the permission of the tenant, one by one and by filter', async () => {
  await rig.ask('POST', '/v1/tenants', { name: 'plain' });
  const made = await rig.ask('POST', '/v1/tokens', { name: 'op', role: 'operator', tenant: 'plain' });
  const { token } = made.body as unknown as { token: string };
  const ask = (method: string, path: string, body: unknown) =>
    rig.ask(method, path, body, { headers: { authorization: `Bearer ${token}` } });
  await ask('PUT', '/v1/dags/mine', { name: 'mine', tasks: [{ name: 'a', handler: 'echo', queue: 'nobody' }] });
  const { id } = (await ask('POST', '/v1/dags/mine/runs', {})).body;
  const critical = [
    await ask('POST', `/v1/runs/${id}/priority`, { priority: 'critical' }),
    await ask('POST', '/v1/runs/priority', { dag: 'mine', to: 'critical' }),
    await ask('POST', '/v1/runs/priority', { dag: 'mine', to: 'critical', dryRun: true }),
  ];
  expect(critical.map(({ status, body }) => [status, body.code])).toEqual(critical.map(() => [403, 'FORBIDDEN']));
  expect((await ask('POST', `/v1/runs/${id}/priority`, { priority: 'high' })).status).toBe(200);
  await deploy('urgent');
  await rig.client().setPriority(await submit('urgent'), 'critical');
  const audit = await rig.read<{ items: unknown[] }>('/v1/audit?action=priority.critical');
  expect(audit.items).toMatchObject([{ target: 'urgent', details: { by: 'setPriority' } }]);
});
