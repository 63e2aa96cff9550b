import type { Instant } from '@signalbox/engine';
import type { Clock } from '@signalbox/host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from './config.ts';
import { systemClock } from './ports/clock.ts';
import { type RunningServer, startServer } from './start.ts';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
let aheadMs = 3_600_000;
const wrongClock: Clock = { ...systemClock, wall: () => (systemClock.wall() + aheadMs) as Instant };
let wrong: RunningServer;

beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await wrong?.stop();
  await rig.stop();
});

async function startWrong(): Promise<RunningServer> {
  const any = '127.0.0.1:0';
  const config = parseConfig({
    ...{ DATABASE_URL: rig.databaseUrl, SIGNALBOX_DATA: `${rig.dataDir}/wrong`, SIGNALBOX_LOG: 'silent' },
    ...{ SIGNALBOX_HTTP: any, SIGNALBOX_GRPC: any, SIGNALBOX_SERVICES: any },
    ...{ SIGNALBOX_ADMIN_TOKEN: rig.token },
  });
  return startServer(config, () => undefined, wrongClock);
}

interface Node {
  readonly id: string;
  readonly shards: number;
  readonly unfit: string | null;
  readonly clockAheadMs: number;
}
const nodes = async () => (await rig.ask('GET', '/v1/nodes')).body.items as unknown as readonly Node[];
const metric = async (name: string) => {
  const answer = await fetch(`${wrong.url}/metrics`, { headers: { authorization: `Bearer ${rig.token}` } });
  return Number(new RegExp(`^signalbox_${name} (\\S+)$`, 'm').exec(await answer.text())?.[1]);
};

test('a server whose clock is an hour ahead owns nothing, says why, and fires no window early (I4)', async () => {
  await rig.ask('PUT', '/v1/dags/tick', {
    name: 'tick',
    schedule: { cron: '* * * * * *' },
    tasks: [{ name: 'a', handler: 'echo' }],
  });
  wrong = await startWrong();
  await eventually(async () => (await nodes()).some(({ unfit }) => unfit !== null));
  const [bad] = (await nodes()).filter(({ id }) => id === wrong.nodeId);
  expect(bad).toMatchObject({ shards: 0, unfit: expect.stringContaining('3600.0 s ahead') });
  expect(bad!.clockAheadMs).toBeGreaterThan(3_599_000);
  expect([await metric('shards_owned'), await metric('unfit')]).toEqual([0, 1]);
  expect(await metric('clock_ahead_seconds')).toBeGreaterThan(3_599);

  // The other one stops: rather nobody than a wrong clock.
  await rig.servers[0]!.stop();
  const unowned = async () => Number((await rig.sql('select count(*) as n from shard where owner is null'))[0]?.n);
  await eventually(async () => (await unowned()) === 64);

  // Its clock is corrected: it takes the shards, and goes on with the windows of now.
  aheadMs = 0;
  await eventually(async () => (await metric('shards_owned')) === 64, 20_000);
  const [{ n: before }] = (await rig.sql('select max(fires_at) as n from window_decision')) as [{ n: string }];
  await eventually(
    async () => (await rig.sql(`select 1 from window_decision where fires_at > ${before}`)).length > 0,
    20_000,
  );
  const early = await rig.sql('select * from window_decision where fires_at > at');
  expect(early).toEqual([]);
  const [{ n: latest }] = (await rig.sql('select max(fires_at) as n from window_decision')) as [{ n: string }];
  expect(Number(latest)).toBeLessThanOrEqual(Date.now() + 1_000);

  // Wrong again while it owns everything.
  aheadMs = -3_600_000;
  await eventually(async () => (await metric('shards_owned')) === 0, 20_000);
  expect(await unowned()).toBe(64);
}, 120_000);

test('a clock within the bound is used with the correction: windows fire by the time of the database (I4)', async () => {
  aheadMs = 30_000;
  await eventually(async () => (await metric('shards_owned')) === 64, 20_000);
  const count = async () => (await rig.sql('select 1 from window_decision')).length;
  const before = await count();
  await eventually(async () => (await count()) > before + 2, 20_000);
  const [{ n: latest }] = (await rig.sql('select max(fires_at) as n from window_decision')) as [{ n: string }];
  expect(Number(latest)).toBeLessThanOrEqual(Date.now() + 1_000);
}, 60_000);
