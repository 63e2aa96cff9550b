/**
 * Daily schedules that are all due at one instant, while another dag goes on. Their tasks take a second each on a few slots: what
 * is measured is the deciding, not how fast workers get through it.
 */
import { type Cluster, pause, until } from '@signalbox/e2e';
import { atMost } from '../bar.ts';
import { cpuSince, readCpu } from '../cpu.ts';
import { type Figure, quantile } from '../figure.ts';
import { profiled } from '../profiled.ts';
import { rssMiB } from '../rss.ts';
import { decidedWindows, fireDelay } from './fire-delay.ts';
import { liveRunsWhile } from './live-dag.ts';
import { deployDags, type NewSchedule, register } from './register.ts';

const DAGS = 100;
const MINUTE_MS = 60_000;
/** The live dag goes on alone for this long before. */
const ALONE_MS = 8_000;

/** How many can be registered a second, at least. */
const REGISTERED_PER_SECOND = 4_000;

export async function dueAtOnce(cluster: Cluster, count: number, worker: string): Promise<Figure[]> {
  const dags = await deployDags(cluster, 'due', DAGS, { handler: 'sleep' });
  await cluster.client().deployDag({ name: 'live', tasks: [{ name: 'only', handler: 'stamp', queue: 'live' }] });
  await cluster.addWorker(20, worker, undefined, { QUEUES: 'live' });
  const soonest = Date.now() + (count / REGISTERED_PER_SECOND) * 1_000 + ALONE_MS + 5_000;
  const at = Math.ceil(soonest / MINUTE_MS) * MINUTE_MS;
  const due = new Date(at);
  const cron = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  const schedules = Array.from(
    { length: count },
    (_, no): NewSchedule => ({ dag: dags[Math.floor(no / 1_000) % DAGS]!, name: `s${no}`, cron }),
  );
  await register(cluster, schedules);
  if (Date.now() > at - ALONE_MS) throw new Error('Registration was too slow: the schedules are due already.');
  await pause(at - ALONE_MS - Date.now());
  let isOver = false;
  const live = liveRunsWhile(cluster, () => isOver);
  await pause(at - Date.now() - 500);
  const before = readCpu(cluster);
  await profiled(() =>
    until('all are decided', 120_000, async () => {
      // Each look counts all windows so far, beside the server that decides them.
      await pause(1_000);
      return (await decidedWindows(cluster, at, at + 1)) >= count;
    }),
  );
  const { serversMs, postgresMs } = cpuSince(cluster, before);
  isOver = true;
  const delay = await fireDelay(cluster, at, at + 1);
  const runs = await live;
  const delays = (from: number, to: number) =>
    runs.filter(({ sentAt }) => sentAt >= from && sentAt < to).map(({ delayMs }) => delayMs);
  const alone = delays(at - ALONE_MS + 1_000, at - 1_000);
  const during = delays(at - 50, at + delay.max);
  const more = quantile(during, 1) - quantile(alone, 0.5);
  const name = `${count.toLocaleString('en')} schedules due at one instant`;
  const share = count / 100_000;
  const perWindow = (ms: number) => (ms * 1_000) / count;
  return [
    {
      what: `${name}: the first decided after`,
      ...{ value: delay.min, unit: 'ms', bar: atMost({ goal: 250 }) },
    },
    {
      what: `${name}: all decided after`,
      ...{ value: delay.max / 1_000, unit: 's', bar: atMost({ goal: 4 * share }) },
      details: {
        'server µs each': perWindow(serversMs),
        'PostgreSQL µs': perWindow(postgresMs),
        'server MiB': rssMiB(cluster),
      },
    },
    {
      what: `${name}: others start later by, at most`,
      ...{ value: more, unit: 'ms', bar: atMost({ goal: 100 }) },
      details: {
        'alone p50 ms': quantile(alone, 0.5),
        'alone p99 ms': quantile(alone, 0.99),
        'meanwhile p50 ms': quantile(during, 0.5),
        'meanwhile p99 ms': quantile(during, 0.99),
        samples: during.length,
      },
    },
  ];
}
