import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { API_SERVICE, loadService } from '@signalbox/protocol/grpc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../../testing/rig.ts';

let rig: Rig;
let client: Client;
beforeAll(async () => {
  rig = await startRig();
  client = new Client(rig.servers[0]?.servicesAddress ?? '', credentials.createInsecure());
  const tasks = [{ name: 't', handler: 'none' }];
  const on = { type: 'order.paid', where: 'event.data.total > 100' };
  const more = { on, schedule: { cron: '0 0 1 * *' }, expect: { name: 'beat', type: 'beat', within: '1d' } };
  await rig.ask('PUT', '/v1/dags/shop', { name: 'shop', tasks, ...more });
});
afterAll(async () => {
  client.close();
  await rig.stop();
});

const api = loadService('api.proto', API_SERVICE);

// oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it asks for
function call(name: string, message: object = {}): Promise<any> {
  const method = api.definition[name];
  if (method === undefined) throw new Error(name);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${rig.token}`);
  const { path, requestSerialize, responseDeserialize } = method;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, {}, (error, answer) =>
      error === null ? resolve(answer) : reject(error),
    );
  });
}
const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    ({ code }: ServiceError) => code,
  );

test('schedules are created, listed, edited, paused, resumed, deleted and previewed', async () => {
  const scheduleJson = JSON.stringify({ name: 'extra', cron: '30 2 * * *', zone: 'Europe/Berlin', missed: 'all' });
  const created = await call('CreateSchedule', { dag: 'shop', scheduleJson, idempotencyKey: 'one' });
  expect(created).toMatchObject({ dag: 'shop', name: 'extra', origin: 'api', zone: 'Europe/Berlin', paused: false });
  expect(created.warnings).toEqual([expect.stringContaining('catchup')]);
  expect(JSON.parse(created.scheduleJson)).toMatchObject({ missed: 'catchup', cron: '30 2 * * *' });
  const { schedules } = await call('ListSchedules', { dag: 'shop', origin: 'api' });
  expect(schedules).toMatchObject([{ name: 'extra', revision: 1 }]);
  const ref = { dag: 'shop', schedule: 'extra' };
  const edited = await call('EditSchedule', { ...ref, scheduleJson: '{"cron":"0 3 * * *"}' });
  expect(edited).toMatchObject({ revision: 2, zone: 'UTC', warnings: [] });
  expect(await call('PauseSchedule', ref)).toMatchObject({ paused: true, nextAt: '' });
  expect((await call('ListSchedules', { paused: 'true' })).schedules).toHaveLength(1);
  expect(await call('ResumeSchedule', ref)).toMatchObject({ paused: false });
  expect(await call('GetSchedule', ref)).toMatchObject({ revision: 4 });
  expect(await call('DeleteSchedule', ref)).toEqual({ dag: 'shop', name: 'extra' });
  expect(await codeOf(call('GetSchedule', ref))).toBe(status.NOT_FOUND);
  const preview = { scheduleJson: '{"cron":"30 2 * * *","zone":"America/New_York"}', from: '2027-03-13T12:00:00Z' };
  const { firings } = await call('PreviewSchedule', { ...preview, count: 1 });
  expect(firings).toMatchObject([{ at: '2027-03-14T07:00:00Z', note: expect.stringContaining('does not exist') }]);
});

test('backfills are previewed, started, paused, resumed, listed and cancelled; windows are listed', async () => {
  const backfillJson = JSON.stringify({ from: '2024-01-01T00:00:00Z', to: '2024-03-15T00:00:00Z', maxActive: 1 });
  expect(await call('PreviewBackfill', { dag: 'shop', backfillJson })).toMatchObject({ windows: 3, toCreate: 3 });
  const started = await call('StartBackfill', { dag: 'shop', backfillJson, idempotencyKey: 'b' });
  expect(started).toMatchObject({ dag: 'shop', state: 'running', windows: 3, share: 0.05, maxActive: 1 });
  const ref = { backfillId: started.id };
  expect(await call('PauseBackfill', ref)).toMatchObject({ state: 'paused' });
  expect(await call('ResumeBackfill', ref)).toMatchObject({ state: 'running' });
  await eventually(async () => (await call('GetBackfill', ref)).runs.active === 1);
  expect(await call('CancelBackfill', { ...ref, runs: true })).toMatchObject({ state: 'cancelled' });
  expect((await call('ListBackfills', { dag: 'shop' })).backfills).toMatchObject([{ id: started.id }]);
  expect((await call('ListWindows', { dag: 'shop' })).windows).toEqual([]);
});

test('events are sent and read, and say what became of them; expectations are listed', async () => {
  const eventJson = (total: number) =>
    JSON.stringify({ specversion: '1.0', id: `e${total}`, source: '/x', type: 'order.paid', data: { total } });
  const sent = await call('SendEvent', { eventJson: eventJson(120) });
  expect(sent).toMatchObject({ source: '/x', id: 'e120', matched: true, runs: [{ dag: 'shop' }] });
  expect(await call('SendEvent', { eventJson: eventJson(120) })).toMatchObject({ runs: sent.runs });
  const small = await call('SendEvent', { eventJson: eventJson(5) });
  expect(small).toMatchObject({ matched: false, runs: [], unmatched: [{ dag: 'shop', trigger: 'order.paid' }] });
  expect(await codeOf(call('SendEvent', { eventJson: '{}' }))).toBe(status.INVALID_ARGUMENT);
  const ask = { kind: 'run.created', from: 'start', runId: sent.runs[0].runId };
  const page = await call('ListEvents', ask);
  expect(page.events).toMatchObject([{ kind: 'run.created', dag: 'shop', runId: sent.runs[0].runId }]);
  expect(JSON.parse(page.events[0].detailsJson)).toMatchObject({ cause: 'event' });
  expect(await call('ListEvents', { ...ask, after: page.cursor })).toMatchObject({ events: [] });
  const { expectations } = await call('ListExpectations', { dag: 'shop' });
  expect(expectations).toMatchObject([{ name: 'beat', withinMs: 86_400_000, lastAt: '' }]);
});

test('webhooks are created, listed, rotated and deleted', async () => {
  const created = await call('CreateWebhook', { dag: 'shop', scheme: 'github', idempotencyKey: 'w' });
  expect(created).toMatchObject({ dag: 'shop', scheme: 'github', path: `/v1/webhooks/${created.id}` });
  expect(created.secret).not.toBe('');
  expect((await call('ListWebhooks')).webhooks).toMatchObject([{ id: created.id, secret: '' }]);
  const rotated = await call('RotateWebhook', { webhookId: created.id, keepOld: '1h' });
  expect(rotated.secret).not.toBe(created.secret);
  expect(await call('DeleteWebhook', { webhookId: created.id })).toEqual({ id: created.id });
});

test('assets are declared fresh, shown and listed', async () => {
  const made = await call('MaterializeAsset', { asset: 's3://lake/x' });
  expect(made).toMatchObject({ name: 's3://lake/x', count: 1, runId: '' });
  expect(await call('GetAsset', { asset: 's3://lake/x' })).toEqual(made);
  expect((await call('ListAssets')).assets).toEqual([made]);
});
