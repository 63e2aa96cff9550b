/**
 * Millions of daily schedules, registered and spread over the day: what a server needs of memory, how long it takes to start, how late
 * they fire. One is created through the API; the others are rows that the product would have written, made from that one by SQL,
 * because ten million requests' worth of bodies would take most of the time.
 */
import { type Cluster, pause } from '@signalbox/e2e';
import { atMost } from '../bar.ts';
import { cpuSince, readCpu } from '../cpu.ts';
import { type Figure, quantile } from '../figure.ts';
import { rssMiB } from '../rss.ts';
import { fireDelay } from './fire-delay.ts';
import { deployDags } from './register.ts';

const DAGS = 1_000;
const DAY_MS = 86_400_000;
const STARTS = 5;
const MARGIN_MS = 60_000;

export async function registered(cluster: Cluster, count: number, watchMs: number): Promise<Figure[]> {
  const dags = await deployDags(cluster, 'many', DAGS, { handler: 'noop' });
  const client = cluster.client();
  for (const dag of dags) await client.createSchedule(dag, { name: 'first', cron: '0 0 0 * * *' });
  const withFew = await startTime(cluster);
  await stopServer(cluster);
  const began = performance.now();
  await fill(cluster, count);
  console.error(`filled in ${Math.round((performance.now() - began) / 1_000)} s`);
  await cluster.addServer();
  const withMany = await startTime(cluster);
  // What is due within minutes is read in the first seconds.
  await pause(20_000);
  const from = Date.now();
  await pause(watchMs);
  const until = Date.now() - 2_000;
  const { count: fired, p50, p99, max } = await fireDelay(cluster, from, until);
  const name = `${(count / 1e6).toLocaleString('en')} million schedules registered`;
  return [
    {
      what: `${name}: memory of the server`,
      ...{ value: rssMiB(cluster), unit: 'MiB', bar: atMost({ goal: 1_024 }) },
    },
    {
      what: `${name}: from process start to ready`,
      ...{
        value: withMany.ms,
        unit: 'ms',
        bar: atMost({
          goal: 1.5,
          of: { name: 'times the CPU time of one with few', value: withMany.cpuMs / withFew.cpuMs },
        }),
      },
      details: { 'with few ms': withFew.ms, 'CPU ms': withMany.cpuMs, 'with few CPU ms': withFew.cpuMs },
    },
    {
      what: `${name}: fire delay, p50`,
      ...{ value: p50, unit: 'ms', bar: atMost({ goal: 250, of: { name: 'p99', value: p99 } }) },
      details: { 'p99 ms': p99, 'max ms': max, fired, 'watched s': watchMs / 1_000 },
    },
  ];
}

async function stopServer(cluster: Cluster): Promise<void> {
  const [server] = cluster.runningServers();
  server?.signal('SIGTERM');
  await server?.exited;
}

/** How long a server takes to be ready, and how much CPU time of server and database: medians of some. A busy machine stretches the first. */
async function startTime(cluster: Cluster): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const times: number[] = [];
  const cpu: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    await stopServer(cluster);
    const [began, before] = [performance.now(), readCpu(cluster)];
    await cluster.addServer();
    times.push(performance.now() - began);
    const { serversMs, postgresMs } = cpuSince(cluster, before);
    cpu.push(serversMs + postgresMs);
  }
  return { ms: quantile(times, 0.5), cpuMs: quantile(cpu, 0.5) };
}

async function fill(cluster: Cluster, count: number): Promise<void> {
  const perDag = Math.ceil(count / DAGS);
  const day = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const now = Date.now();
  // Number 1 is the one of the API. The second of the day follows from the number, so that all dags fire all day.
  await cluster.sql.query(
    `insert into dag_schedule (shard, dag_id, schedule_no, revision, spec, paused, decided_until, actor, at, fault, name, origin, fired, due_at, zoned, due_revision)
     select s.shard, s.dag_id, i + 1, 1,
            replace(s.spec::text, '0 0 0 * * *', format('%s %s %s * * *', t.second % 60, t.second / 60 % 60, t.second / 3600))::json,
            false, $1::bigint, s.actor, $1::bigint, null, 's' || i, s.origin, 0,
            $2::bigint + t.second * 1000 + case when $2::bigint + t.second * 1000 <= $1::bigint then 86400000 else 0 end, false, 1
       from dag_schedule s, generate_series(1, $3::integer) i,
            lateral (select ((i::bigint * 86400 / $3::integer + s.dag_id) % 86400)::integer as second) t
      where s.name = 'first'`,
    [now, day, perDag],
  );
  // Those that came due while the table was filled have their next time tomorrow: nobody has missed them.
  const soon = Date.now() + MARGIN_MS;
  await cluster.sql.query(
    'update dag_schedule set due_at = due_at + $2::bigint, decided_until = $1::bigint where due_at <= $1::bigint',
    [soon, DAY_MS],
  );
  await cluster.sql.query('update dag set last_schedule_no = $1 + 1 where last_schedule_no = 1', [perDag]);
  await cluster.sql.query('vacuum analyze dag_schedule');
  // Else gigabytes of the fill are written out while the servers start, and each of their commits waits for that.
  await cluster.sql.query('checkpoint');
}
