/**
 * Hours of work in one go, at 70 % of what the machine can do: does memory grow, do tables bloat, does a task write more and wait longer
 * with time? First the peak is measured; then tasks are submitted at 70 % of it. Every few seconds the state of processes and database is
 * written down; charts of it go to a folder.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, pause, until } from '@signalbox/e2e';
import { atMost } from './bar.ts';
import { type Chart, chartOf } from './chart.ts';
import { type Figure, quantile } from './figure.ts';
import { flow, liveRuns } from './throughput.ts';

const SHARE_OF_PEAK = 0.7;
const TICK_MS = 50;
const PROBE_MS = 200;
/** Beyond it the machine does not keep up: the bench holds back, and says how often. */
const MOST_LIVE = 50_000;
const SAMPLES = 120;

interface Sample {
  readonly minute: number;
  readonly serverMib: number;
  readonly workerMib: number;
  readonly live: number;
  readonly liveTableMib: number;
  readonly deadRows: number;
  readonly walBytes: number;
  readonly ended: number;
}

interface Probe {
  readonly minute: number;
  readonly ms: number;
}

export interface SoakOptions {
  readonly minutes: number;
  readonly peakTasks: number;
  readonly folder: string;
}

export async function soak(cluster: Cluster, { minutes, peakTasks, folder }: SoakOptions): Promise<Figure[]> {
  const client = cluster.client();
  await client.deployDag({ name: 'noop', tasks: [{ name: 'only', handler: 'noop' }] });
  await client.deployDag({ name: 'stamp', tasks: [{ name: 'only', handler: 'stamp' }] });
  await flow(cluster, 'noop', 6_000);
  const { ms } = await flow(cluster, 'noop', peakTasks);
  const peak = (peakTasks / ms) * 1_000;
  const rate = peak * SHARE_OF_PEAK;
  console.error(`peak ${Math.round(peak)} tasks/s; ${minutes} minutes at ${Math.round(rate)}`);
  const began = performance.now();
  const untilMs = began + minutes * 60_000;
  const minuteAt = (at: number) => (at - began) / 60_000;
  const samples: Sample[] = [];
  const sentUs = new Map<string, number>();
  const state = { submitted: 0, heldBack: 0, live: 0 };
  const submitting = submitAt(cluster, rate, untilMs, state);
  const probing = probe(cluster, untilMs, sentUs);
  while (performance.now() < untilMs) {
    const { live, ...stored } = await readDatabase(cluster);
    state.live = live;
    const [serverMib, workerMib] = [rssMib(cluster.servers), rssMib(cluster.workers)];
    samples.push({
      minute: minuteAt(performance.now()),
      serverMib,
      workerMib,
      live,
      ...stored,
      ended: state.submitted - live,
    });
    await pause(Math.max(500, (minutes * 60_000) / SAMPLES));
  }
  await Promise.all([submitting, probing]);
  const seconds = (performance.now() - began) / 1_000;
  await until('all runs have ended', 120_000, async () => (await liveRuns(cluster)) === 0);
  const probes = readProbes(cluster, sentUs, began);
  mkdirSync(folder, { recursive: true });
  for (const [name, chart] of Object.entries(chartsOf(samples, probes))) {
    writeFileSync(join(folder, `soak-${name}.svg`), chartOf(chart));
  }
  return figuresOf({ samples, probes, minutes, peak, perSecond: state.submitted / seconds, heldBack: state.heldBack });
}

async function submitAt(
  cluster: Cluster,
  perSecond: number,
  untilMs: number,
  state: { submitted: number; heldBack: number; live: number },
): Promise<void> {
  const client = cluster.client();
  const began = performance.now();
  let due = 0;
  while (performance.now() < untilMs) {
    due = ((performance.now() - began) / 1_000) * perSecond - state.submitted;
    if (state.live > MOST_LIVE) {
      state.heldBack += 1;
      state.live = await liveRuns(cluster);
    } else if (due >= 1) {
      const count = Math.min(1_000, Math.floor(due));
      await client.submitMany(
        'noop',
        Array.from({ length: count }, () => ({})),
      );
      state.submitted += count;
    }
    await pause(TICK_MS);
  }
}

/** One run at a time among the others: from its submission to the first line of its handler. */
async function probe(cluster: Cluster, untilMs: number, sentUs: Map<string, number>): Promise<void> {
  const client = cluster.client();
  while (performance.now() < untilMs) {
    const at = Number(process.hrtime.bigint() / 1000n);
    const { id } = await client.submit('stamp');
    sentUs.set(id, at);
    await pause(PROBE_MS);
  }
}

function readProbes(cluster: Cluster, sentUs: ReadonlyMap<string, number>, began: number): Probe[] {
  const [nowUs, nowMs] = [Number(process.hrtime.bigint() / 1000n), performance.now()];
  return (cluster.witnessLines() as { kind: string; run?: string; atUs?: number }[]).flatMap(({ kind, run, atUs }) => {
    const sent = sentUs.get(run ?? '');
    if (kind !== 'start' || sent === undefined || atUs === undefined) return [];
    const sentMs = nowMs - (nowUs - sent) / 1_000;
    return [{ minute: (sentMs - began) / 60_000, ms: (atUs - sent) / 1_000 }];
  });
}

async function readDatabase(cluster: Cluster): Promise<Omit<Sample, 'minute' | 'serverMib' | 'workerMib' | 'ended'>> {
  const { rows } = await cluster.sql.query<Record<'live' | 'size' | 'dead' | 'wal', number>>(`
    select (select count(*) from live_run)::float8 as live, pg_total_relation_size('live_run')::float8 as size,
        (select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables)::float8 as dead,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`);
  const { live = 0, size = 0, dead = 0, wal = 0 } = rows[0] ?? {};
  return { live, liveTableMib: size / 2 ** 20, deadRows: dead, walBytes: wal };
}

function rssMib(processes: readonly { readonly pid: number }[]): number {
  return processes.reduce((sum, { pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return sum + Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
  }, 0);
}

function chartsOf(samples: readonly Sample[], probes: readonly Probe[]): Record<string, Chart> {
  const of = (name: string, value: (sample: Sample) => number) => ({
    name,
    points: samples.map((sample): [number, number] => [sample.minute, value(sample)]),
  });
  const between = samples.slice(1).map((sample, i) => ({ sample, before: samples[i] as Sample }));
  const rates = between.map(({ sample, before }): [number, number] => [
    sample.minute,
    (sample.ended - before.ended) / ((sample.minute - before.minute) * 60),
  ]);
  const wal = between.map(({ sample, before }): [number, number] => [
    sample.minute,
    (sample.walBytes - before.walBytes) / Math.max(1, sample.ended - before.ended),
  ]);
  const waits = between.flatMap(({ sample, before }) => {
    const ms = probes.filter(({ minute }) => minute > before.minute && minute <= sample.minute).map((one) => one.ms);
    return ms.length === 0 ? [] : [{ minute: sample.minute, ms }];
  });
  const latency = (q: number) => waits.map(({ minute, ms }): [number, number] => [minute, quantile(ms, q)]);
  const xUnit = 'minutes';
  return {
    memory: {
      title: 'Resident memory',
      yUnit: 'MiB',
      xUnit,
      series: [of('server', ({ serverMib }) => serverMib), of('worker', ({ workerMib }) => workerMib)],
    },
    bloat: {
      title: 'Dead rows of all tables',
      yUnit: 'rows',
      xUnit,
      series: [of('dead rows', ({ deadRows }) => deadRows)],
    },
    'live-table': {
      title: 'Size of live_run with its indexes',
      yUnit: 'MiB',
      xUnit,
      series: [of('live_run', ({ liveTableMib }) => liveTableMib)],
    },
    wal: { title: 'WAL', yUnit: 'bytes per task', xUnit, series: [{ name: 'WAL', points: wal }] },
    latency: {
      title: 'Submit to handler start, beside the load',
      yUnit: 'ms',
      xUnit,
      series: [
        { name: 'p50', points: latency(0.5) },
        { name: 'p95', points: latency(0.95) },
      ],
    },
    throughput: { title: 'Tasks ended', yUnit: 'per second', xUnit, series: [{ name: 'tasks', points: rates }] },
  };
}

interface Soaked {
  readonly samples: readonly Sample[];
  readonly probes: readonly Probe[];
  readonly minutes: number;
  readonly peak: number;
  readonly perSecond: number;
  readonly heldBack: number;
}

/** How the last quarter compares with the second: the first one warms up. */
function figuresOf({ samples, probes, minutes, peak, perSecond, heldBack }: Soaked): Figure[] {
  const label = `soak of ${minutes} min`;
  const quarter = (no: number) =>
    samples.filter(({ minute }) => minute >= (minutes / 4) * no && minute < (minutes / 4) * (no + 1));
  const median = (no: number, value: (sample: Sample) => number) => quantile(quarter(no).map(value), 0.5);
  const growth = (value: (sample: Sample) => number) => median(3, value) / median(1, value);
  const ms = probes.map((one) => one.ms);
  return [
    {
      what: `${label}, tasks submitted and ended`,
      value: perSecond,
      unit: 'tasks/s',
      details: { 'peak tasks/s': peak, 'held back': heldBack },
    },
    {
      what: `${label}, memory of the server, last quarter to second`,
      value: growth(({ serverMib }) => serverMib),
      unit: 'times',
      bar: atMost({ goal: 1.1 }),
      details: { MiB: median(3, ({ serverMib }) => serverMib) },
    },
    {
      what: `${label}, size of live_run, last quarter to second`,
      value: growth(({ liveTableMib }) => liveTableMib),
      unit: 'times',
      bar: atMost({ goal: 1.5 }),
      details: { MiB: median(3, ({ liveTableMib }) => liveTableMib) },
    },
    {
      what: `${label}, submit to handler start, p50`,
      value: quantile(ms, 0.5),
      unit: 'ms',
      details: { 'p99 ms': quantile(ms, 0.99), samples: ms.length },
    },
  ];
}
