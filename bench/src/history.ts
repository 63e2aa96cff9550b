/** Questions that people ask, over millions of finished tasks, while new ones flow by. */
import { type Cluster, until } from '@signalbox/e2e';
import { firstRunIdAt, type Instant } from '@signalbox/engine';
import { atMost } from './bar.ts';
import { type Figure, quantile } from './figure.ts';
import { liveRuns } from './throughput.ts';

const DAY_MS = 86_400_000;
const DAYS = 5;
const SHARD_SPAN = 65_536;
const SECOND_SPAN = 4_194_304;

/** Ten dags share the history; the eleventh has three runs of long ago in it. */
const DAGS = 10;

export async function historyQueries(cluster: Cluster, tasks: number): Promise<Figure[]> {
  const client = cluster.client();
  for (let i = 0; i < DAGS; i++)
    await client.deployDag({ name: `old-${i}`, tasks: [{ name: 'only', handler: 'noop' }] });
  const began = performance.now();
  await fill(cluster, tasks);
  console.error(`filled in ${Math.round((performance.now() - began) / 1_000)} s`);
  const some = await someUids(cluster);
  let isFlowing = true;
  const flow = keepFlowing(cluster, () => isFlowing);
  const label = `with ${(tasks / 1e6).toFixed(1)} million finished tasks, work flowing`;
  const figures = [
    await ask(`status of a run, ${label}, p50`, 300, (i) => client.getRun(some[i % some.length] ?? '')),
    await ask(`runs of a dag, ${label}, p50`, 100, (i) => client.listRuns({ dag: `old-${i % DAGS}`, limit: 50 })),
    await ask(`runs of all dags, ${label}, p50`, 100, () => client.listRuns({ limit: 50 })),
  ];
  isFlowing = false;
  await flow;
  await until('all runs have ended', 60_000, async () => (await liveRuns(cluster)) === 0);
  return figures;
}

async function ask(what: string, times: number, once: (i: number) => Promise<unknown>): Promise<Figure> {
  const ms: number[] = [];
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    await once(i);
    ms.push(performance.now() - began);
  }
  return {
    what,
    value: quantile(ms, 0.5),
    unit: 'ms',
    bar: atMost({ goal: 25, of: { name: 'p99', value: quantile(ms, 0.99) } }),
    details: { 'p99 ms': quantile(ms, 0.99) },
  };
}

/** A thousand runs a second. */
async function keepFlowing(cluster: Cluster, isOn: () => boolean): Promise<void> {
  const client = cluster.client();
  while (isOn()) {
    const next = performance.now() + 100;
    await client.submitMany(
      'old-0',
      Array.from({ length: 100 }, () => ({})),
    );
    await until('it is time', 1_000, () => performance.now() >= next);
  }
}

async function someUids(cluster: Cluster): Promise<string[]> {
  const { rows } = await cluster.sql.query<{ uid: string }>('select uid from run tablesample system (0.01) limit 200');
  return rows.map((row) => row.uid);
}

/** Straight into the tables, as commits would have left them: a day at a time, each dag in its own shard. */
async function fill(cluster: Cluster, tasks: number): Promise<void> {
  const { rows: dags } = await cluster.sql.query<{ shard: number; dag_id: string }>(
    "select shard, dag_id from dag where name like 'old-%' order by name",
  );
  const today = Math.floor(Date.now() / DAY_MS);
  const perDagAndDay = Math.floor(tasks / DAYS / DAGS);
  for (let day = today - DAYS; day < today; day++) {
    const [from, to] = [firstRunIdAt((day * DAY_MS) as Instant), firstRunIdAt(((day + 1) * DAY_MS) as Instant)];
    for (const table of ['run', 'task', 'attempt', 'payload']) {
      await cluster.sql.query('select ensure_partition($1, $2, $3, $4)', [table, day, from, to]);
    }
    for (const [place, { shard, dag_id }] of dags.entries()) {
      // Ten runs a second or more, as many as the day must hold.
      const perSecond = Math.ceil(perDagAndDay / 80_000);
      const id = `${from} + (i / ${perSecond})::bigint * ${SECOND_SPAN} + ${shard * SHARD_SPAN + place * 5_000} + i % ${perSecond}`;
      const at = `${day * DAY_MS} + (i / ${perSecond})::bigint * 1000`;
      await cluster.sql.query(`
        insert into run (run_id, dag_id, created_at, uid, tenant_id, version_no, shard, priority, cause, phase, strikes,
                         admitted, set_aside, has_params, outcome, closing_at, ended_at, actor)
        select ${id}, ${dag_id}, ${at},
               (lpad(to_hex(${at}), 12, '0') || '7' || substr(md5(i::text || '${day}/${dag_id}'), 1, 3) || '8' ||
                substr(md5(i::text || '${dag_id}'), 4, 9) || '0000' || lpad(to_hex(${shard}), 2, '0'))::uuid,
               1, 1, ${shard}, 2, 0, 2, 0, true, false, false, 0, ${at} + 50, ${at} + 50, 'bench'
          from generate_series(0, ${perDagAndDay - 1}) i`);
      await cluster.sql.query(`
        insert into task (run_id, fence, claimed_at, worker_id, task_no, attempt_no, lost_count, shard, state, outcome, started_at, ended_at)
        select ${id}, 1, ${at}, '00000000-0000-7000-8000-000000000000', 0, 1, 0, ${shard}, 3, 0, ${at} + 10, ${at} + 50
          from generate_series(0, ${perDagAndDay - 1}) i`);
    }
  }
  await cluster.sql.query('analyze run, task');
}
