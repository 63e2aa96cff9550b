import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from './testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

/** Asks the server that was started last. */
const ask = (method: string, path: string, body?: unknown) =>
  rig.ask(method, path, body, { server: rig.servers.at(-1)! });
const deploy = (name: string, cron: string, missed: string) =>
  ask('PUT', `/v1/dags/${name}`, { name, schedule: { cron, missed }, tasks: [{ name: 'a', handler: 'echo' }] });

interface Window {
  readonly firesAt: string;
  readonly untilAt: string;
  readonly skipped: string | null;
  readonly count: number;
}
const windows = async (name: string) =>
  (await ask('GET', `/v1/dags/${name}/windows?limit=100`)).body.items as unknown as readonly Window[];

/** As if the server had stopped so long ago: schedules of these dags were last looked at then. */
async function backdate(ms: number, dags: readonly string[]): Promise<void> {
  await rig.sql(`update dag_schedule s set decided_until = s.decided_until - ${ms}, due_at = s.due_at - ${ms}
    from dag d where d.shard = s.shard and d.dag_id = s.dag_id and d.name in ('${dags.join("', '")}')`);
  await rig.sql(`update shard set served_until = served_until - ${ms} * interval '1 ms', break_ended_at = null`);
  await rig.sql(`update node set beat_at = beat_at - ${ms} * interval '1 ms', break_ended_at = null`);
}

test('windows that were due while no server ran are missed, also those of the last minute (I2, I8)', async () => {
  // Two windows a minute, the next of them in twenty seconds: none is decided before the stop.
  const second = new Date().getUTCSeconds();
  const cron = `${(second + 20) % 60},${(second + 40) % 60} * * * * *`;
  for (const missed of ['skip', 'latest']) expect((await deploy(missed, cron, missed)).status).toBe(200);
  await rig.servers.at(-1)!.stop();
  await backdate(5_430_000, ['skip', 'latest']);
  await rig.addServer();
  for (const missed of ['skip', 'latest']) {
    await eventually(async () => (await windows(missed)).length > 0);
    // Oldest first. Windows that came due since the start follow.
    const [skipped, first] = (await windows(missed)).toReversed();
    expect(skipped).toMatchObject({ skipped: 'missed' });
    expect(skipped!.count).toBeGreaterThan(178);
    if (missed === 'skip') expect(first).toBeUndefined();
    else expect(Date.parse(first!.firesAt) - Date.parse(skipped!.untilAt)).toBeLessThanOrEqual(40_000);
    const ran = (await windows(missed)).filter((window) => window.skipped === null);
    expect(ran).toHaveLength(missed === 'latest' ? 1 : 0);
  }
}, 60_000);

test('a restart within the grace misses no window, with skip too (I2)', async () => {
  await deploy('quick', '* * * * * *', 'skip');
  await eventually(async () => (await windows('quick')).length > 0);
  await rig.servers.at(-1)!.stop();
  const decided = (await rig.sql('select fires_at from window_decision')).length;
  await rig.addServer();
  await eventually(async () => (await windows('quick')).length >= decided + 3);
  const fired = (await windows('quick')).map(({ firesAt, skipped }) => (skipped === null ? Date.parse(firesAt) : null));
  expect(fired).toEqual(fired.map((_, i) => fired[0]! - i * 1_000));
}, 60_000);

test('a server that was stopped for three hours goes by the policy of each schedule, and lists the windows with reasons (I2, I8)', async () => {
  // Every half hour, the next one in a quarter: six windows in three hours, and none while the test runs.
  const next = new Date(Date.now() + 900_000).getUTCMinutes();
  const cron = [next % 30, (next % 30) + 30].join(',');
  const policies = {
    'three-skip': { missed: 'skip' },
    'three-recent': { missed: 'most_recent' },
    'three-catchup': { missed: 'catchup' },
    'three-limit': { missed: 'catchup', missedLimit: 4 },
    'three-age': { missed: 'catchup', missedMaxAge: '1h' },
  };
  for (const [name, policy] of Object.entries(policies)) {
    const schedule = { cron: `${cron} * * * *`, ...policy };
    const deployed = await ask('PUT', `/v1/dags/${name}`, { name, schedule, tasks: [{ name: 'a', handler: 'echo' }] });
    expect(deployed.status).toBe(200);
  }
  await rig.servers.at(-1)!.stop();
  await backdate(3 * 3_600_000, Object.keys(policies));
  await rig.addServer();
  const told = async (name: string) =>
    (await windows(name)).toReversed().map(({ skipped, count }) => (skipped === null ? 'run' : `${skipped} ${count}`));
  const six = (list: readonly string[]) =>
    list.reduce((sum, one) => sum + (one === 'run' ? 1 : Number(one.split(' ')[1])), 0);
  for (const name of Object.keys(policies)) await eventually(async () => six(await told(name)) === 6);
  expect(await told('three-skip')).toEqual(['missed 6']);
  expect(await told('three-recent')).toEqual(['missed 5', 'run']);
  expect(await told('three-catchup')).toEqual(Array(6).fill('run'));
  expect(await told('three-limit')).toEqual(['missed 2', 'run', 'run', 'run', 'run']);
  expect(await told('three-age')).toEqual(['missed 4', 'run', 'run']);
}, 60_000);
