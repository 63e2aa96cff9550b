/**
 * Many tenants on one worker of the fleet, one of them with a backlog that would keep the worker busy for minutes: when the first task of
 * each other tenant starts, how exactly saturated tenants share by weight, and what many tenants with caps cost beside one without.
 */
import { type Cluster, pause, until } from '@signalbox/e2e';
import { type Client, createClient } from '@signalbox/sdk';
import { atLeast, atMost } from '../bar.ts';
import { cpuSince, readCpu } from '../cpu.ts';
import { type Figure, quantile } from '../figure.ts';
import { rssMiB } from '../rss.ts';
import { cpuDetails, liveRuns } from '../throughput.ts';

export interface Sizes {
  readonly tenants: number;
  /** Tasks of one tenant that wait. */
  readonly backlog: number;
  /** Tasks in all whose throughput is measured. */
  readonly flow: number;
}

interface Tenant {
  readonly name: string;
  readonly client: Client;
}

interface Start {
  readonly kind: string;
  readonly run: string;
  readonly atUs: number;
}

/** Tasks of 50 ms: these slots end 1,000 a second. */
const SLOTS = 50;
const BATCH = 1_000;
const SUBMITTERS = 4;
/** Tasks before those that are measured: code that is not compiled yet costs twice as much. */
const WARM = 6_000;
const WEIGHTS = [1, 2, 4, 8];
/** The time in which shares are promised to be right within 10 % (I48). */
const SHARE_MS = 10_000;
const nowUs = () => Number(process.hrtime.bigint() / 1000n);

/** A worker of the fleet for tasks of 50 ms: a tenant with a backlog, and what others notice of it. */
export async function tenantsBesideBacklog(cluster: Cluster, sizes: Sizes, worker: string): Promise<Figure[]> {
  const all = await createTenants(cluster, sizes.tenants);
  await addFleetWorker(cluster, SLOTS, worker);
  return [...(await firstStarts(cluster, all, sizes.backlog)), ...(await shares(cluster, all))];
}

/** One tenant without caps, then all of them, then all with a cap each, with the same number of tasks. */
export async function tenantsThroughput(cluster: Cluster, sizes: Sizes, worker: string): Promise<Figure[]> {
  const all = await createTenants(cluster, sizes.tenants);
  const [first] = all;
  if (first === undefined) return [];
  await addFleetWorker(cluster, 2_000, worker);
  await flow(cluster, [first], WARM);
  const one = await flow(cluster, [first], sizes.flow);
  await flow(cluster, all, WARM);
  const open = await flow(cluster, all, sizes.flow);
  const operator = cluster.client();
  for (const { name } of all) await operator.setLimit(`tenant:${name}`, 1_000);
  await flow(cluster, all, WARM);
  const many = await flow(cluster, all, sizes.flow);
  return [
    { what: 'no-op tasks of one tenant without caps', value: one.perSecond, unit: 'tasks/s', details: one.cpu },
    {
      what: `no-op tasks of ${all.length} tenants without caps`,
      value: open.perSecond,
      unit: 'tasks/s',
      details: open.cpu,
    },
    {
      what: `no-op tasks of ${all.length} tenants, a cap for each`,
      value: many.perSecond,
      unit: 'tasks/s',
      bar: atLeast({ goal: 0.9, of: { name: 'part of that of one tenant', value: many.perSecond / one.perSecond } }),
      details: many.cpu,
    },
  ];
}

async function addFleetWorker(cluster: Cluster, slots: number, worker: string): Promise<void> {
  const { token } = await cluster.client().createToken({ name: 'fleet', role: 'worker', serves: ['*'] });
  await cluster.addWorker(slots, worker, undefined, { SIGNALBOX_TOKEN: token });
}

async function createTenants(cluster: Cluster, count: number): Promise<Tenant[]> {
  const operator = cluster.client();
  const url = `http://127.0.0.1:${cluster.runningServers()[0]?.httpPort}`;
  const all: Tenant[] = [];
  for (let no = 0; no < count; no++) {
    const name = `team-${no}`;
    await operator.createTenant({ name, weight: WEIGHTS[no % WEIGHTS.length] ?? 1 });
    const { token } = await operator.createToken({ name: 'admin', role: 'admin', tenant: name });
    const client = createClient({ url, token });
    for (const handler of ['nap', 'stamp', 'noop']) {
      await client.deployDag({ name: handler, tasks: [{ name: 'only', handler }] });
    }
    all.push({ name, client });
  }
  return all;
}

/** The first tenant has the backlog; each other one submits a single task, one after the other. */
async function firstStarts(cluster: Cluster, [large, ...others]: readonly Tenant[], backlog: number) {
  if (large === undefined) return [];
  await submitMany(large.client, 'nap', backlog);
  const sent = new Map<string, number>();
  for (const { client } of others) {
    const us = nowUs();
    const { id } = await client.submit('stamp');
    sent.set(id, us);
    await pause(20);
  }
  const starts = () => (cluster.witnessLines() as Start[]).filter(({ kind, run }) => kind === 'start' && sent.has(run));
  await until('all others have started', 120_000, () => starts().length >= sent.size);
  const ms = starts().map(({ run, atUs }) => (atUs - (sent.get(run) ?? 0)) / 1_000);
  const p99 = { name: 'p99', value: quantile(ms, 0.99) };
  return [
    {
      what: `first start of ${others.length} tenants beside one with ${backlog.toLocaleString('en')} tasks waiting, p50`,
      value: quantile(ms, 0.5),
      unit: 'ms',
      bar: atMost({ goal: 500, of: p99 }),
      details: { 'p99 ms': p99.value, 'max ms': Math.max(...ms), 'server MiB': rssMiB(cluster) },
    },
  ];
}

/** The first tenants, one of each weight, have more work than there is time for. */
async function shares(cluster: Cluster, all: readonly Tenant[]): Promise<Figure[]> {
  const chosen = all.slice(0, WEIGHTS.length);
  // The slots end 1,000 tasks a second, so twice the time that is watched is always waited for.
  for (const { client } of chosen) await submitMany(client, 'nap', SHARE_MS * 2);
  await pause(1_000);
  const before = await endedBy(cluster);
  await pause(SHARE_MS);
  const after = await endedBy(cluster);
  const ended = chosen.map(({ name }) => (after.get(name) ?? 0) - (before.get(name) ?? 0));
  const sum = ended.reduce((total, each) => total + each, 0);
  const weights = WEIGHTS.reduce((total, each) => total + each, 0);
  const off = ended.map((each, i) => Math.abs(each / sum / ((WEIGHTS[i] ?? 1) / weights) - 1) * 100);
  return [
    {
      what: `shares of ${WEIGHTS.length} saturated tenants, the largest difference from their weights`,
      value: Math.max(...off),
      unit: '%',
      bar: atMost({ goal: 10 }),
      details: { ended: ended.join(' : '), weights: WEIGHTS.join(' : ') },
    },
  ];
}

async function flow(cluster: Cluster, chosen: readonly Tenant[], tasks: number) {
  const [before, began] = [readCpu(cluster), performance.now()];
  const each = Math.ceil(tasks / chosen.length);
  const left = [...chosen];
  const submitter = async () => {
    for (let tenant = left.pop(); tenant !== undefined; tenant = left.pop()) {
      await submitMany(tenant.client, 'noop', each);
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  await until('all runs have ended', 300_000, async () => (await liveRuns(cluster)) === 0);
  const ms = performance.now() - began;
  const cpu = cpuDetails(cpuSince(cluster, before), each * chosen.length, 'task');
  return { perSecond: ((each * chosen.length) / ms) * 1_000, cpu };
}

async function submitMany(client: Client, dag: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    const items = Array.from({ length: Math.min(BATCH, left) }, () => ({}));
    await client.submitMany(dag, items);
  }
}

/** How many runs of each tenant have ended. */
async function endedBy(cluster: Cluster): Promise<Map<string, number>> {
  const { rows } = await cluster.sql.query<{ name: string; ended: string }>(
    `select t.name, count(*) as ended from run r join dag d using (shard, dag_id) join tenant t on t.tenant_id = r.tenant_id
      where r.ended_at is not null and d.name = 'nap' group by t.name`,
  );
  return new Map(rows.map(({ name, ended }) => [name, Number(ended)]));
}
