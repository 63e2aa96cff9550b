/** Bulk registration: daily schedules of many times, for some dags, each with its params. */
import type { Cluster } from '@signalbox/e2e';
import { atLeast } from '../bar.ts';
import { type CpuSplit, cpuSince, readCpu } from '../cpu.ts';
import type { Figure } from '../figure.ts';
import { profiled } from '../profiled.ts';
import { deployDags, type NewSchedule, register } from './register.ts';

const DAGS = 100;

export async function bulkRegistration(cluster: Cluster, count: number): Promise<Figure[]> {
  const dags = await deployDags(cluster, 'bulk', DAGS, { handler: 'noop' });
  const all = Array.from({ length: count + WARM }, (_, no) => daily(dags, no));
  await register(cluster, all.slice(0, WARM));
  const before = readCpu(cluster);
  const ms = await profiled(() => register(cluster, all.slice(WARM)));
  const what = `bulk registration of ${count.toLocaleString('en')} schedules`;
  const bar = atLeast({ goal: 20_000 });
  const details = cpuOf(cpuSince(cluster, before), count);
  return [{ what, value: (count / ms) * 1_000, unit: 'schedules/s', bar, details }];
}

const WARM = 10_000;

/** Each at its own second of the day, half of them in a zone with clock changes. */
function daily(dags: readonly string[], no: number): NewSchedule {
  const second = (no * 7) % 86_400;
  const cron = `${second % 60} ${Math.floor(second / 60) % 60} ${Math.floor(second / 3_600)} * * *`;
  // A thousand in a row are of one dag.
  const dag = dags[Math.floor(no / 1_000) % dags.length]!;
  return { dag, name: `s${no}`, cron, ...(no % 2 === 0 ? {} : { zone: 'Europe/Berlin' }), params: { no } };
}

function cpuOf(cpu: CpuSplit, count: number): Record<string, number> {
  const per = (ms: number) => (ms * 1_000) / count;
  return { 'server µs each': per(cpu.serversMs), 'PostgreSQL µs': per(cpu.postgresMs), 'client µs': per(cpu.benchMs) };
}
