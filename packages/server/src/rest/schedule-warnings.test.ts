import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const tasks = [{ name: 't', handler: 'none' }];
const yearly = (missed: string) => ({ cron: '0 0 1 1 *', missed });

test('answers to deploys and to schedules that are created or edited warn of old words, and of no new ones', async () => {
  const put = (missed: string) => rig.ask('PUT', '/v1/dags/old', { name: 'old', schedule: yearly(missed), tasks });
  const old = 'schedule.missed: latest is an old word. Write most_recent, which means the same.';
  expect((await put('latest')).body).toMatchObject({ changed: true, warnings: [old] });
  expect((await put('latest')).body).toMatchObject({ changed: false, warnings: [old] });
  expect((await put('most_recent')).body).toEqual({
    name: 'old',
    version: 1,
    hash: expect.any(String),
    changed: false,
  });

  const all = 'missed: all is an old word. Write catchup, which means the same.';
  const created = await rig.ask('POST', '/v1/dags/old/schedules', { name: 'more', ...yearly('all') });
  expect(created).toMatchObject({ status: 201, body: { missed: 'catchup', warnings: [all] } });
  const several = await rig.ask('POST', '/v1/schedules', { items: [{ dag: 'old', name: 'third', ...yearly('all') }] });
  expect(several.body).toMatchObject({ created: 1, warnings: [`items[0].${all}`] });
  const edited = await rig.ask('PUT', '/v1/dags/old/schedules/more', { ...yearly('latest'), cron: '0 0 2 1 *' });
  expect(edited.body).toMatchObject({ missed: 'most_recent', warnings: [expect.stringContaining('latest')] });
  expect((await rig.ask('GET', '/v1/dags/old/schedules/more')).body).not.toHaveProperty('warnings');
});
