/** What an idle worker costs a server: memory, and processor time for its heartbeats and pings. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Cluster, pause, until } from '@signalbox/e2e';
import { cpuSince, readCpu } from '../cpu.ts';
import type { Figure } from '../figure.ts';
import { rssMiB } from '../rss.ts';

const SCRIPT = fileURLToPath(new URL('simulated-workers.js', import.meta.url));
const SETTLE_MS = 15_000;
/** What the design has in mind for one deployment. */
const EXTRAPOLATED = 50_000;

export async function idleWorkers(cluster: Cluster, count: number, watchMs: number): Promise<Figure[]> {
  await pause(SETTLE_MS);
  const rssBefore = rssMiB(cluster);
  const idle = await cpuOver(cluster, watchMs);
  const fleet = await cluster.addWorker(0, SCRIPT, undefined, { WORKERS: String(count) });
  await until(`${count} workers are welcomed`, 300_000, () =>
    readFileSync(fleet.logFile, 'utf8').includes('workers are welcomed'),
  );
  await pause(SETTLE_MS);
  const rssAfter = rssMiB(cluster);
  const busy = await cpuOver(cluster, watchMs);
  const perSecond = (busy - idle) / (watchMs / 1_000) / count;
  const kib = ((rssAfter - rssBefore) * 1_024) / count;
  const name = `${count.toLocaleString('en')} idle workers`;
  return [
    {
      what: `${name}: processor time of the server per worker and second`,
      value: perSecond * 1_000,
      unit: 'µs',
      details: { [`cores for ${EXTRAPOLATED.toLocaleString('en')}`]: (perSecond * EXTRAPOLATED) / 1_000 },
    },
    {
      what: `${name}: memory of the server per worker`,
      value: kib,
      unit: 'KiB',
      details: { [`MiB for ${EXTRAPOLATED.toLocaleString('en')}`]: (kib * EXTRAPOLATED) / 1_024, 'MiB now': rssAfter },
    },
  ];
}

/** Of the servers, in milliseconds. */
async function cpuOver(cluster: Cluster, watchMs: number): Promise<number> {
  const before = readCpu(cluster);
  await pause(watchMs);
  return cpuSince(cluster, before).serversMs;
}
