import { openQueries, type Queries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SettingsBook } from '../settings/settings-book.ts';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let queries: Queries;
beforeAll(async () => {
  rig = await startRig();
  queries = await openQueries({ url: rig.databaseUrl });
});
afterAll(async () => {
  await queries.close();
  await rig.stop();
});

test('the jitter of the cluster is changed by a recorded action, and servers show and use it', async () => {
  const changes: string[] = [];
  const book = new SettingsBook({ store: queries, onChanged: (reason) => changes.push(reason) });
  await book.start();
  book.stop();
  expect((await rig.ask('GET', '/v1/settings')).body).toEqual({ jitterMs: 0 });
  expect(await rig.ask('PUT', '/v1/settings', { jitter: '20h' })).toMatchObject({
    status: 200,
    body: { jitterMs: 72_000_000 },
  });
  expect(await rig.ask('PUT', '/v1/settings', { jitter: '20h' })).toMatchObject({ status: 200 });
  expect(await rig.ask('PUT', '/v1/settings', { jitter: '25h' })).toMatchObject({ status: 400 });
  const audit = await rig.ask('GET', '/v1/audit?action=settings.change');
  expect(audit.body.items).toMatchObject([{ target: 'jitter', details: { fromMs: 0, toMs: 72_000_000 } }]);
  await book.runOnce();
  await book.runOnce();
  expect([book.defaultJitterMs(), changes.length]).toEqual([72_000_000, 1]);

  const preview = '/v1/schedules/preview?cron=0+0+*+*+*&from=2027-01-01T00:00:00Z&count=1';
  await eventually(async () => {
    const { firings } = (await rig.ask('GET', preview)).body as { firings?: { firesAt?: string }[] };
    return firings?.[0]?.firesAt !== undefined;
  }, 15_000);
  const tasks = [{ name: 't', handler: 'none' }];
  for (const [name, jitter] of [
    ['late', undefined],
    ['exact', 0],
  ] as const) {
    await rig.ask('PUT', `/v1/dags/${name}`, { name, schedule: { cron: '0 0 * * *', jitter }, tasks });
  }
  const nextOf = async (name: string) => {
    const { items } = (await rig.ask('GET', `/v1/dags/${name}/schedules`)).body as unknown as {
      items: { nextAt: string }[];
    };
    return items[0]?.nextAt.slice(10);
  };
  expect(await nextOf('exact')).toBe('T00:00:00.000Z');
  expect(await nextOf('late')).not.toBe('T00:00:00.000Z');
});
