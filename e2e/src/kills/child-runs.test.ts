import type { Client } from '@signalbox/sdk';
import { expect, test } from 'vitest';
import { Cluster, type ServerProcess } from '../cluster.ts';
import { until } from '../processes.ts';

const CALLERS = 4;
const RUNS_EACH = 15;
const STOPPED = 10;

/** Dags that call others, and those others, on shards of both servers. */
async function deploy(client: Client): Promise<string[]> {
  const callers = Array.from({ length: CALLERS }, (_, i) => `caller-${i}`);
  for (let i = 0; i < CALLERS; i++) {
    const work = {
      name: 'work',
      handler: 'takeTime',
      retries: { maxAttempts: 3, baseMs: 100, maxMs: 500, maxLost: 10 },
    };
    await client.deployDag({ name: `called-${i}`, tasks: [work] });
    // Each calls the others' as well as its own.
    const calls = [i, (i + 1) % CALLERS].map((other) => {
      const inputs = { minMs: '${{ params.minMs }}', maxMs: '${{ params.maxMs }}' };
      return { name: `call-${other}`, dag: `called-${other}`, inputs };
    });
    await client.deployDag({ name: `caller-${i}`, tasks: calls });
  }
  return callers;
}

test('a server is killed while runs wait for others: one run for each call, every end is heard of, a cancel reaches all (I11, I42, I72)', {
  timeout: 180_000,
}, async () => {
  const cluster = await Cluster.start({ servers: 2, workers: 2, slots: 200 });
  try {
    const callers = await deploy(cluster.client());
    const ids: string[] = [];
    // The first ones would take so long that only a cancel can end them in time.
    const long = Array.from({ length: STOPPED }, () => ({ params: { minMs: 300_000, maxMs: 300_000 } }));
    ids.push(...(await cluster.client().submitMany(callers[0] as string, long)).ids);
    for (const name of callers) {
      const runs = Array.from({ length: RUNS_EACH }, () => ({ params: { minMs: 2_000, maxMs: 6_000 } }));
      ids.push(...(await cluster.client().submitMany(name, runs)).ids);
    }
    const count = async (text: string) => Number((await cluster.sql.query<{ n: string }>(text)).rows[0]?.n);
    const children = () => count('select count(*) as n from run where parent is not null');
    await until('the first calls have arrived', 30_000, async () => (await children()) >= 2 * STOPPED);
    const victim = cluster.runningServers()[0] as ServerProcess;
    victim.signal('SIGKILL');
    const survivor = cluster.client(cluster.runningServers().at(-1));
    for (const id of ids.slice(0, STOPPED)) {
      await until('it is cancelled', 30_000, () =>
        survivor.cancelRun(id).then(
          () => true,
          () => false,
        ),
      );
    }
    await cluster.addServer();
    await until('all runs have ended', 120_000, async () => (await count('select count(*) as n from live_run')) === 0);
    const outcomes = await Promise.all(ids.map(async (id) => (await survivor.getRun(id)).outcome));
    expect(new Set(outcomes.slice(0, STOPPED))).toEqual(new Set(['cancelled']));
    expect(new Set(outcomes.slice(STOPPED))).toEqual(new Set(['succeeded']));
    // Two for each, and no name twice.
    expect(await children()).toBe(2 * ids.length);
    expect(await count('select count(distinct uid) as n from run where parent is not null')).toBe(2 * ids.length);
  } catch (error) {
    console.error(cluster.logs());
    throw error;
  } finally {
    await cluster.stop();
  }
});
