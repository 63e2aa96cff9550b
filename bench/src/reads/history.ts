/** Questions that people ask, over millions of finished tasks, while new ones flow by. */
import { type Cluster, until } from '@signalbox/e2e';
import { firstRunIdAt, type Instant } from '@signalbox/engine';
import type { Figure } from '../figure.ts';
import { liveRuns } from '../throughput.ts';
import { ask, readFrom } from './ask.ts';
import { DAGS, dagName, fillHistory } from './fill.ts';
import { keepFlowing } from './flowing.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

export async function historyQueries(cluster: Cluster, tasks: number): Promise<Figure[]> {
  const began = performance.now();
  await fillHistory(cluster, { tasks, days: DAYS });
  console.error(`filled in ${Math.round((performance.now() - began) / 1_000)} s`);
  const label = `with ${(tasks / 1e6).toFixed(1)} million finished tasks`;
  const figures = [...(await lists(cluster, label)), ...(await aMonth(cluster, label))];
  await until('all runs have ended', 60_000, async () => (await liveRuns(cluster)) === 0);
  return figures;
}

/** What is on the screen when somebody looks. */
async function lists(cluster: Cluster, label: string): Promise<Figure[]> {
  const client = cluster.client();
  const some = await someUids(cluster);
  const flowing = keepFlowing(cluster, dagName(0), 1_000);
  const beside = `${label}, 1,000 tasks/s flowing`;
  const figures = [
    await ask(`status of a run, ${beside}`, 300, 25, (i) => client.getRun(some[i % some.length] ?? '')),
    await ask(`runs of a dag, ${beside}`, 200, 25, (i) => client.listRuns({ dag: dagName(i), limit: 50 })),
    await ask(`runs of all dags, ${beside}`, 200, 25, () => client.listRuns({ limit: 50 })),
    await ask(`ended runs of all dags, ${beside}`, 100, 25, () => client.listRuns({ limit: 50, state: 'ended' })),
  ];
  await flowing.stop();
  return figures;
}

/** What is asked of the last thirty days: sums by day and by dag, failures, and a page of some day. */
async function aMonth(cluster: Cluster, label: string): Promise<Figure[]> {
  const read = readFrom(cluster);
  const flowing = keepFlowing(cluster, dagName(0), 3_000);
  const beside = `${label}, 3,000 tasks/s flowing`;
  // The place below which a page of the list begins: an instant, and above all ids of it.
  const cursor = (daysAgo: number) => {
    const at = (Date.now() - daysAgo * DAY_MS) as Instant;
    return `${at}.${firstRunIdAt(at)}`;
  };
  const figures = [
    await ask(`30 days of all dags by day, ${beside}`, 100, 1_000, () => read(`/v1/stats?by=day&steps=${DAYS}`)),
    await ask(`30 days by dag, ${beside}`, 100, 1_000, () => read(`/v1/stats/dags?days=${DAYS}`)),
    await ask(`failed runs of a dag, 1 of 1,000, ${beside}`, 50, 1_000, (i) =>
      read(`/v1/runs?dag=${dagName(i)}&outcome=failed&limit=50`),
    ),
    await ask(`runs of a day of the last 30, ${beside}`, 100, 1_000, (i) =>
      read(`/v1/runs?limit=100&cursor=${cursor(1 + (i % (DAYS - 1)))}`),
    ),
    await ask(`the last 1,000 runs of a dag, ${beside}`, 50, 1_000, (i) =>
      read(`/v1/dags/${dagName(1 + (i % (DAGS - 1)))}/history?runs=1000`),
    ),
  ];
  const perSecond = await flowing.stop();
  return [...figures, { what: 'tasks beside the reads of 30 days', value: perSecond, unit: 'tasks/s' }];
}

async function someUids(cluster: Cluster): Promise<string[]> {
  const { rows } = await cluster.sql.query<{ uid: string }>('select uid from run tablesample system (0.01) limit 200');
  return rows.map((row) => row.uid);
}
