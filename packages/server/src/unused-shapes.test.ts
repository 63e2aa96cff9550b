import { createClient } from '@signalbox/sdk';
import { openPostgresStore, type PostgresStore } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from './testing/rig.ts';
import { Upkeep } from './upkeep.ts';

let rig: Rig;
let store: PostgresStore;
beforeAll(async () => {
  rig = await startRig();
  store = await openPostgresStore({ url: rig.databaseUrl, preparedStatements: true });
});
afterAll(async () => {
  await store.close();
  await rig.stop();
});

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const shapes = () =>
  rig.sql(`select name, retired_at is not null as retired from dag where name like '.job-%' order by dag_id`);
const olderBy = (days: number) => rig.sql(`update dag_version set at = at - ${days} * 86400000::bigint`);
const upkeep = () => {
  const ask = (...asked: Parameters<(typeof rig.servers)[0]['host']['ask']>) => rig.servers[0]!.host.ask(...asked);
  return new Upkeep(store, 30, { days: 7, ask }, () => undefined).dropUnusedShapes();
};

test('a dag of jobs goes when none of them is left, and comes back with the next job of its shape (I62)', async () => {
  const morning = { run: 'true', cron: '0 7 * * *' };
  const [used, unused] = [await client().createJob({ ...morning, queue: 'other' }), await client().createJob(morning)];
  await client().deleteJob(unused.id);
  await upkeep();
  expect(await shapes()).toEqual([
    { name: used.dag, retired: false },
    { name: unused.dag, retired: false },
  ]);
  await olderBy(31);
  await upkeep();
  expect(await shapes()).toEqual([
    { name: used.dag, retired: false },
    { name: unused.dag, retired: true },
  ]);
  // The server still knows where it was.
  const again = await client().createJob(morning);
  expect(await shapes()).toMatchObject([{ retired: false }, { name: unused.dag, retired: false }]);
  await client().deleteJob(again.id);
  await upkeep();
  await rig.sql('update dag set retired_at = retired_at - 90000000');
  await upkeep();
  expect(await shapes()).toEqual([{ name: used.dag, retired: false }]);
  expect(await rig.sql('select count(*)::integer as count from dag_version')).toEqual([{ count: 1 }]);
  const third = await client().createJob(morning);
  expect(third.dag).toBe(unused.dag);
  expect(await client().getJob(third.id)).toMatchObject({ state: 'scheduled', fires: '0 7 * * *' });
}, 60_000);
