/** `npm run bench`: the figures of this machine, as a table and as JSON. `-- --only latency` runs a part of it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Cluster } from '@signalbox/e2e';
import { backfillBeside } from './backfill.ts';
import { atMost } from './bar.ts';
import { chooseParts } from './choose.ts';
import { edgeUnderPressure } from './edge.ts';
import { type Figure, jsonOf, missedIn, tableOf } from './figure.ts';
import { idleWorkers } from './fleet/fleet.ts';
import { flood } from './flood.ts';
import { graphShapes, maps } from './graphs.ts';
import { submitToStart, taskToTask } from './latency.ts';
import { loadTime } from './loading.ts';
import { airflow, peers, temporal } from './peers/index.ts';
import { placement } from './placement/placement.ts';
import { PROCESS_SLOTS, processes } from './processes.ts';
import { profileInto } from './profiled.ts';
import { rawCommits } from './raw.ts';
import { historyQueries, statusReads, viewOfLargeRun } from './reads/index.ts';
import { comparedWith, readRecorded, record } from './recorded.ts';
import { release } from './release.ts';
import { againstRaw, medianOf } from './repeat.ts';
import { bulkRegistration, dueAtOnce, nextTimes, registered, spreadOverAnHour } from './schedules/index.ts';
import { slowDisk } from './slow-disk.ts';
import { soak } from './soak.ts';
import { storm } from './storm.ts';
import { tenantsBesideBacklog, tenantsThroughput } from './tenants/tenants.ts';
import { chains, noopChildren, noopTasks, wideDag } from './throughput.ts';
import { webUi } from './ui.ts';

const HELP = `npm run bench -- [options]

  --only PART     one part: see bench/README.md
  --quick         a tenth of the size, the main parts only; nothing fails for it
  --times N       measures each part N times: medians, with the least and the most
  --record        keeps the result, for later ones to be compared with (bench/recorded.json)
  --json FILE     writes the figures there
  --minutes N     how long the soak takes (30)
  --plots DIR     where the soak writes its charts (docs/images)
  --orchestrators measures Temporal and Airflow too; the first use installs them
  --profile DIR   takes CPU profiles of all processes
`;

function options() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string' },
        json: { type: 'string' },
        profile: { type: 'string' },
        times: { type: 'string', default: '1' },
        minutes: { type: 'string', default: '30' },
        plots: { type: 'string', default: fileURLToPath(new URL('../../docs/images', import.meta.url)) },
        quick: { type: 'boolean', default: false },
        orchestrators: { type: 'boolean', default: false },
        record: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const times = Number(values.times);
    if (!Number.isInteger(times) || times < 1) throw new Error(`--times is "${values.times}": give a whole number.`);
    const minutes = Number(values.minutes);
    if (!(minutes > 0)) throw new Error(`--minutes is "${values.minutes}": give a number above 0.`);
    return { ...values, times, minutes };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

const values = options();
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
/** Beside both `src` and `dist`. */
const RECORDED = fileURLToPath(new URL('../recorded.json', import.meta.url));
if (values.profile !== undefined) profileInto(values.profile);
const scale = values.quick ? 0.1 : 1;
const WORKER = fileURLToPath(new URL('bench-worker.js', import.meta.url));
const SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB' };
/** One token reads all; by default it may ask 2,000 times a second. */
const UNLIMITED = { SIGNALBOX_RATE: '0' };
/** Half of the bound is for one tenant, and 80 % of that for normal runs: a million must fit. */
const DEEP = { ...UNLIMITED, SIGNALBOX_LIVE_RUNS: '4000000' };
const TENANTS = { tenants: 200 * Math.max(0.1, scale), backlog: 1_000_000 * scale, flow: 60_000 * scale };
/** By when a run was created: the time of its commit. */
const TIMED = { ...SETTINGS, track_commit_timestamp: 'on' };

/** With one worker, which has the handlers of the bench. */
function withCluster(
  servers: number,
  slots: number,
  run: (cluster: Cluster) => Promise<Figure[]>,
  settings: Record<string, string> = SETTINGS,
  serverEnv: Record<string, string> = {},
): Promise<Figure[]> {
  const withWorker = async (cluster: Cluster) => {
    await cluster.addWorker(slots, WORKER);
    return run(cluster);
  };
  return withServers(servers, withWorker, settings, serverEnv);
}

async function withServers(
  servers: number,
  run: (cluster: Cluster) => Promise<Figure[]>,
  settings: Record<string, string> = SETTINGS,
  serverEnv: Record<string, string> = UNLIMITED,
): Promise<Figure[]> {
  const cluster = await Cluster.start({ servers, workers: 0, slots: 0, settings, serverEnv });
  try {
    return await run(cluster);
  } catch (error) {
    console.error(cluster.logs());
    throw error;
  } finally {
    await cluster.stop();
  }
}

const parts: Record<string, () => Promise<Figure[]>> = {
  throughput: () =>
    withCluster(1, 2_000, async (cluster) => [
      ...(await noopTasks(cluster, 60_000 * scale)),
      ...(await chains(cluster, 15_000 * scale)),
      ...(await wideDag(cluster, 1_000)),
      ...(await wideDag(cluster, 10_000)),
    ]),
  graphs: () =>
    withCluster(1, 2_000, async (cluster) => [
      ...(await graphShapes(cluster)),
      ...(await maps(cluster, 100_000 * scale)),
    ]),
  children: () => withCluster(1, 8, (cluster) => noopChildren(cluster, 40_000 * scale)),
  raw: () => rawCommits(60_000 * scale, 500),
  latency: () =>
    withCluster(1, 10, async (cluster) => [
      ...(await submitToStart(cluster, '1 server', 300, atMost({ must: 5, goal: 3 }))),
      ...(await taskToTask(cluster, 300)),
    ]),
  five: () =>
    withCluster(5, 1, (cluster) => submitToStart(cluster, '5 servers and one slot', 200, atMost({ goal: 8 }))),
  edge: () => withCluster(1, 100, edgeUnderPressure),
  history: () => withCluster(1, 100, (cluster) => historyQueries(cluster, 10_000_000 * scale)),
  peers: () => peers(scale),
  temporal: () => temporal(scale),
  airflow: () => airflow(scale),
  processes: () => withCluster(1, PROCESS_SLOTS, (cluster) => processes(cluster, 4_000 * scale)),
  'slow-disk': () => withCluster(1, 2_000, (cluster) => slowDisk(cluster, 60_000 * scale, 5)),
  soak: () =>
    withCluster(1, 2_000, (cluster) =>
      soak(cluster, { minutes: values.minutes, peakTasks: 60_000 * scale, folder: values.plots }),
    ),
  'run-view': () => withCluster(1, 2_000, viewOfLargeRun),
  status: () => withCluster(1, 100, (cluster) => statusReads(cluster, 15_000 * scale), SETTINGS, UNLIMITED),
  storm: () => withCluster(1, 500, (cluster) => storm(cluster, 10_000 * scale)),
  flood: () => withCluster(1, 2_000, (cluster) => flood(cluster, 500_000 * scale)),
  release: () => withCluster(1, 100, (cluster) => release(cluster, 10_000 * scale)),
  backfill: () => withCluster(1, 20, (cluster) => backfillBeside(cluster, 365)),
  'schedules-next': async () => nextTimes(scale),
  'schedules-bulk': () => withCluster(1, 100, (cluster) => bulkRegistration(cluster, 200_000 * scale)),
  'schedules-spread': () =>
    withCluster(1, 100, (cluster) => spreadOverAnHour(cluster, 100_000, 120_000 * scale), TIMED),
  'schedules-at-once': () => withCluster(1, 100, (cluster) => dueAtOnce(cluster, 100_000 * scale, WORKER), TIMED),
  'schedules-registered': () =>
    withCluster(1, 100, (cluster) => registered(cluster, 10_000_000 * scale, 120_000 * scale), TIMED),
  tenants: () => withServers(1, (cluster) => tenantsBesideBacklog(cluster, TENANTS, WORKER), SETTINGS, DEEP),
  'tenants-throughput': () => withServers(1, (cluster) => tenantsThroughput(cluster, TENANTS, WORKER)),
  placement: async () => placement(6_000 * scale),
  fleet: () => withServers(1, (cluster) => idleWorkers(cluster, 5_000 * scale, 30_000)),
  ui: () => webUi(scale),
  load: async () => [...(await loadTime(10_000)), ...(await loadTime(500_000 * scale))],
};

/** Within two minutes. */
const QUICK_PARTS = ['throughput', 'children', 'raw', 'latency'];
/** The soak takes half an hour, and the others are large to install: only if they are asked for. */
const ASKED_FOR = ['soak', ...(values.orchestrators ? [] : ['temporal', 'airflow'])];
const USUAL_PARTS = Object.keys(parts).filter((name) => !ASKED_FOR.includes(name));
const figures: Figure[] = [];
for (const name of chosen()) {
  const runs: Figure[][] = [];
  for (let time = 1; time <= values.times; time++) {
    console.error(`measuring ${name}${values.times === 1 ? '' : ` (${time} of ${values.times})`} …`);
    runs.push((await parts[name]?.()) ?? []);
  }
  figures.push(...medianOf(runs));
}
figures.push(...againstRaw(figures));
const size = values.quick ? 'quick' : 'full';
const recorded = readRecorded(RECORDED, size);
console.log(tableOf(figures, (figure) => comparedWith(recorded, figure)));
if (values.record) record(RECORDED, size, figures);
const json = jsonOf(figures);
if (values.json !== undefined) writeFileSync(values.json, `${json}\n`);
else console.log(`\n${json}`);
const missed = missedIn(figures);
if (missed.length > 0) {
  console.error(`\nBelow the bar: ${missed.map(({ what }) => what).join('; ')}.`);
  // A quick run measures too little to fail for it.
  if (!values.quick) process.exitCode = 1;
}

function chosen(): readonly string[] {
  try {
    return chooseParts(Object.keys(parts), values.only, values.quick ? QUICK_PARTS : USUAL_PARTS);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(2);
  }
}
