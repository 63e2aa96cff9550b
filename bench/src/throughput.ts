/** No-op tasks from submit to done: single tasks, chains of three, and one wide dag. */
import { createHash } from 'node:crypto';
import { type Cluster, until } from '@signalbox/e2e';
import type { DagDefinition } from '@signalbox/sdk';
import { atLeast, atMost } from './bar.ts';
import { type CpuSplit, cpuSince, readCpu } from './cpu.ts';
import type { Figure } from './figure.ts';
import { profiled } from './profiled.ts';

const BATCH = 1_000;
const SUBMITTERS = 4;
const WIDE_ROUNDS = 11;
/** Code that the runtime has not optimised yet costs twice as much, and a server runs for longer than a bench. */
const WARM = 6_000;

export async function noopTasks(cluster: Cluster, runs: number): Promise<Figure[]> {
  await cluster.client().deployDag({ name: 'noop', tasks: [{ name: 'only', handler: 'noop' }] });
  await flow(cluster, 'noop', WARM);
  const { ms, submitMs, cpu, counts } = await profiled(() => flow(cluster, 'noop', runs));
  return [
    {
      what: 'no-op tasks, submit to done, in-process handlers',
      value: (runs / ms) * 1_000,
      unit: 'tasks/s',
      bar: atLeast({ must: 8_000, goal: 20_000 }),
      details: { ...cpuDetails(cpu, runs, 'task'), ...countDetails(counts, runs, 'task') },
    },
    {
      what: 'bulk submit during that',
      value: (runs / submitMs) * 1_000,
      unit: 'runs/s',
      bar: atLeast({ goal: 40_000 }),
    },
  ];
}

/** The default executor: functions of a bundle, in child processes that are kept warm. */
export async function noopChildren(cluster: Cluster, runs: number): Promise<Figure[]> {
  const code = Buffer.from('export const functions={"bundled/only":()=>{}};');
  const bundle = createHash('sha256').update(code).digest('hex');
  const client = cluster.client();
  await client.putBundle(bundle, code);
  await client.deployDag({ name: 'bundled', bundle, tasks: [{ name: 'only', function: 'bundled/only' }] });
  await flow(cluster, 'bundled', WARM); // children too
  const { ms, cpu, counts } = await profiled(() => flow(cluster, 'bundled', runs));
  return [
    {
      what: 'the same in warm child processes (default executor)',
      value: (runs / ms) * 1_000,
      unit: 'tasks/s',
      bar: atLeast({ goal: 15_000 }),
      details: { ...cpuDetails(cpu, runs, 'task'), ...countDetails(counts, runs, 'task') },
    },
  ];
}

export async function chains(cluster: Cluster, runs: number): Promise<Figure[]> {
  await cluster.client().deployDag({
    name: 'chain',
    tasks: [
      { name: 'a', handler: 'noop' },
      { name: 'b', handler: 'noop', needs: ['a'] },
      { name: 'c', handler: 'noop', needs: ['b'] },
    ],
  });
  await flow(cluster, 'chain', WARM / 3);
  const { ms, cpu, counts } = await profiled(() => flow(cluster, 'chain', runs));
  return [
    {
      what: 'chains of three tasks',
      value: (runs / ms) * 1_000,
      unit: 'chains/s',
      bar: atLeast({ goal: 6_000 }),
      details: { ...cpuDetails(cpu, runs, 'chain'), ...countDetails(counts, runs, 'chain') },
    },
  ];
}

/** One root, n − 2 tasks beside each other, one that waits for all. */
export function wideDefinition(tasks: number): DagDefinition {
  const middle = Array.from({ length: tasks - 2 }, (_, i) => `m${i}`);
  return {
    name: `wide-${tasks}`,
    tasks: [
      { name: 'root', handler: 'noop' },
      ...middle.map((name) => ({ name, handler: 'noop', needs: ['root'] })),
      { name: 'last', handler: 'noop', needs: middle },
    ],
  };
}

export async function wideDag(cluster: Cluster, tasks: number): Promise<Figure[]> {
  const definition = wideDefinition(tasks);
  const client = cluster.client();
  await client.deployDag(definition);
  const times: number[] = [];
  const before = readCpu(cluster);
  for (let i = 0; i < WIDE_ROUNDS; i++) {
    const began = performance.now();
    const { id } = await client.submit(definition.name);
    await ended(cluster, id, 60_000);
    times.push(performance.now() - began);
  }
  const cpu = cpuSince(cluster, before);
  times.sort((a, b) => a - b);
  return [
    {
      what: `DAG of ${tasks.toLocaleString('en')} tasks, fan-out and fan-in`,
      value: (times[WIDE_ROUNDS >> 1] ?? 0) / 1_000,
      unit: 's',
      ...(tasks === 10_000 ? { bar: atMost({ must: 2, goal: 0.9 }) } : {}),
      details: cpuDetails(cpu, WIDE_ROUNDS * tasks, 'task'),
    },
  ];
}

/** What does not depend on how busy the machine is. */
interface Counts {
  readonly commits: number;
  readonly walBytes: number;
}

async function readCounts(cluster: Cluster): Promise<Counts> {
  const { rows } = await cluster.sql.query<{ commits: string; wal: number }>(
    `select (select count(*) from journal) as commits, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`,
  );
  return { commits: Number(rows[0]?.commits), walBytes: Number(rows[0]?.wal) };
}

export function countDetails({ commits, walBytes }: Counts, count: number, each: string): Record<string, number> {
  return { [`${each}s/commit`]: count / commits, [`WAL bytes/${each}`]: walBytes / count };
}

/** Who spent how much processor time on each, and all of them together. */
export function cpuDetails(cpu: CpuSplit, count: number, each: string): Record<string, number> {
  const per = (cpuMs: number) => (cpuMs * 1_000) / count;
  const all = Object.values(cpu as unknown as Record<string, number>).reduce((sum, cpuMs) => sum + cpuMs, 0);
  return {
    [`all µs/${each}`]: per(all),
    [`server µs/${each}`]: per(cpu.serversMs),
    [`worker µs/${each}`]: per(cpu.workersMs),
    ...(cpu.childrenMs > 0 ? { [`children µs/${each}`]: per(cpu.childrenMs) } : {}),
    [`PostgreSQL µs/${each}`]: per(cpu.postgresMs),
    [`client µs/${each}`]: per(cpu.benchMs),
  };
}

/** Submits as fast as it goes, and waits until the last one has ended. */
export async function flow(cluster: Cluster, dag: string, runs: number) {
  const client = cluster.client();
  const countsBefore = await readCounts(cluster);
  const before = readCpu(cluster);
  const began = performance.now();
  let [left, last] = [runs, ''];
  const submitter = async () => {
    while (left > 0) {
      const count = Math.min(BATCH, left);
      left -= count;
      const { ids } = await client.submitMany(
        dag,
        Array.from({ length: count }, () => ({})),
      );
      last = ids.at(-1) ?? last;
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  const submitMs = performance.now() - began;
  await ended(cluster, last, 120_000);
  await until('all runs have ended', 60_000, async () => (await liveRuns(cluster)) === 0);
  const [ms, cpu] = [performance.now() - began, cpuSince(cluster, before)];
  const after = await readCounts(cluster);
  const counts = {
    commits: after.commits - countsBefore.commits,
    walBytes: after.walBytes - countsBefore.walBytes,
  };
  return { ms, submitMs, cpu, counts };
}

async function ended(cluster: Cluster, id: string, timeoutMs: number): Promise<void> {
  await until(`run ${id} has ended`, timeoutMs, () => runEnded(cluster, id));
}

/**
 * Asked over and over while something is measured, so by name: the server plans it a few times and not each time. Planning it
 * for all partitions took 1.6 ms, which counted as PostgreSQL's share of the tasks.
 */
export async function runEnded(cluster: Cluster, id: string): Promise<boolean> {
  const { rows } = await cluster.sql.query({
    name: 'bench_run_ended',
    text: 'select 1 from run where uid = $1 and shard = $2 and ended_at is not null',
    values: [id, Number.parseInt(id.slice(34), 16)],
  });
  return rows.length > 0;
}

export async function liveRuns(cluster: Cluster): Promise<number> {
  const { rows } = await cluster.sql.query<{ count: string }>({
    name: 'bench_live_runs',
    text: 'select count(*) from live_run',
  });
  return Number(rows[0]?.count);
}
