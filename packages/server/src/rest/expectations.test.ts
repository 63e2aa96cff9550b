import type { ExpectationView } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  // What two servers send is one event.
  await rig.addServer();
});
afterAll(() => rig.stop());

const tasks = [{ name: 't', handler: 'none' }];
const put = (name: string, more: object) => rig.ask('PUT', `/v1/dags/${name}`, { name, tasks, ...more });
const expected = async (dag: string) =>
  ((await rig.ask('GET', `/v1/expectations?dag=${dag}`)).body as unknown as { items: ExpectationView[] }).items;
const runsOf = async (dag: string) =>
  ((await rig.ask('GET', `/v1/runs?dag=${dag}`)).body as unknown as { items: { id: string }[] }).items;

test('an event that does not come is an event, which starts one run of each dag that takes it', async () => {
  const on = { type: 'signalbox.event.missing', where: 'event.data.dag == "waits"', params: '${{ event.data }}' };
  await put('alarm', { on });
  expect(await put('waits', { expect: { type: 'beat.*', source: '/heart', within: '1s' } })).toMatchObject({
    status: 200,
  });
  await eventually(async () => (await runsOf('alarm')).length > 0, 15_000);
  await eventually(async () => (await rig.sql('select 1 from missed_event')).length === 0);
  const [run, ...others] = await runsOf('alarm');
  expect(others).toEqual([]);
  const { body } = await rig.ask('GET', `/v1/runs/${run?.id}`);
  expect(body).toMatchObject({
    cause: 'event',
    actor: 'expectation',
    params: { dag: 'waits', type: 'beat.*', source: '/heart' },
  });
  expect(await expected('waits')).toMatchObject([{ name: 'beat.*', withinMs: 1_000, due: null, lastAt: null }]);
});

test('an event that comes is noted, from the right source only, and starts nothing by that', async () => {
  await put('daily', {
    expect: [{ name: 'file', type: 'file.arrived', source: '/sftp/*', by: '0 6 * * *', zone: 'Asia/Tokyo' }],
  });
  const send = async (source: string, id: string) =>
    (await rig.ask('POST', '/v1/events', { specversion: '1.0', id, source, type: 'file.arrived', data: {} })).body;
  expect(await send('/mail', '1')).toMatchObject({ matched: false, runs: [] });
  expect((await expected('daily'))[0]).toMatchObject({ by: '0 6 * * *', zone: 'Asia/Tokyo', lastAt: null });
  expect((await expected('daily'))[0]?.due?.slice(10)).toBe('T21:00:00.000Z');
  expect(await send('/sftp/eu', '2')).toMatchObject({ matched: true, runs: [] });
  expect((await expected('daily'))[0]?.lastAt).not.toBeNull();
});

test.each([
  [{ type: 'x' }, 'exactly one of the two'],
  [{ type: 'x', by: '0 6 * * *', within: '1h' }, 'exactly one of the two'],
  [{ type: 'x', by: '0 0 30 2 *' }, 'never fires'],
  [{ type: 'x', within: '1h', zone: 'UTC' }, 'goes with by'],
  [
    [
      { type: 'x', within: '1h' },
      { type: 'x', within: '2h' },
    ],
    'another one',
  ],
])('%j is refused', async (wrong, message) => {
  const { status, body } = await put('wrong', { expect: wrong });
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(message)]);
});
