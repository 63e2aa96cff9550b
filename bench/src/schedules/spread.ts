/**
 * Hourly schedules spread over the hour, half of them by cron and half by interval. The hour is compressed by looking at a minute or
 * two of it: all of the hour are registered, and fire at the rate of the whole hour.
 */
import { type Cluster, pause } from '@signalbox/e2e';
import { atMost } from '../bar.ts';
import type { Figure } from '../figure.ts';
import { rssMiB } from '../rss.ts';
import { fireDelay } from './fire-delay.ts';
import { deployDags, type NewSchedule, register } from './register.ts';

const DAGS = 100;
const HOUR_MS = 3_600_000;

export async function spreadOverAnHour(cluster: Cluster, count: number, watchMs: number): Promise<Figure[]> {
  const dags = await deployDags(cluster, 'spread', DAGS, { handler: 'noop' });
  await register(
    cluster,
    Array.from({ length: count }, (_, no) => hourly(dags, no, count)),
  );
  const from = Date.now() + 1_000;
  await pause(watchMs + 1_000);
  const until = from + watchMs;
  await pause(2_000);
  const { count: fired, p50, p99, max } = await fireDelay(cluster, from, until);
  const of = { name: 'p99', value: p99 };
  return [
    {
      what: `fire delay, ${count.toLocaleString('en')} schedules spread over an hour, p50`,
      ...{ value: p50, unit: 'ms', bar: atMost({ goal: 250, of }) },
      details: { 'p99 ms': p99, 'max ms': max, fired, 'watched s': watchMs / 1_000, 'server MiB': rssMiB(cluster) },
    },
  ];
}

function hourly(dags: readonly string[], no: number, count: number): NewSchedule {
  const offsetMs = Math.floor((no * HOUR_MS) / count);
  const dag = dags[Math.floor(no / 1_000) % dags.length]!;
  const second = Math.floor(offsetMs / 1_000);
  const timing =
    no % 2 === 0
      ? { cron: `${second % 60} ${Math.floor(second / 60)} * * * *` }
      : { every: '1h', phase: `${offsetMs}ms` };
  return { dag, name: `s${no}`, ...timing };
}
