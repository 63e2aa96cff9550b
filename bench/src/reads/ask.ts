/** Asks one question over and over, one at a time, and tells how long the answers took. */
import { ADMIN_TOKEN, type Cluster } from '@signalbox/e2e';
import { atMost } from '../bar.ts';
import { type CpuSplit, cpuSince, readCpu } from '../cpu.ts';
import { type Figure, quantile } from '../figure.ts';

/** The first of each kind compile code and fill caches. */
const WARM = 10;

/** The bar is for the 99th percentile. */
export async function ask(
  what: string,
  times: number,
  goalMs: number,
  once: (i: number) => Promise<unknown>,
): Promise<Figure> {
  const ms: number[] = [];
  for (let i = 0; i < times + WARM; i++) {
    const began = performance.now();
    await once(i);
    if (i >= WARM) ms.push(performance.now() - began);
  }
  const p99 = quantile(ms, 0.99);
  return {
    what: `${what}, p50`,
    value: quantile(ms, 0.5),
    unit: 'ms',
    bar: atMost({ goal: goalMs, of: { name: 'p99', value: p99 } }),
    details: { 'p99 ms': p99 },
  };
}

/** With the processor time of server and database for each, which others on the machine change less. Only if nothing else goes on. */
export async function askAlone(
  cluster: Cluster,
  ...[what, times, goalMs, once]: Parameters<typeof ask>
): Promise<Figure> {
  for (let i = 0; i < WARM; i++) await once(i);
  const before = readCpu(cluster);
  const figure = await ask(what, times, goalMs, once);
  const spent: CpuSplit = cpuSince(cluster, before);
  const each = (cpuMs: number) => cpuMs / (times + WARM);
  const split = { 'server CPU ms': each(spent.serversMs), 'PostgreSQL CPU ms': each(spent.postgresMs) };
  return { ...figure, details: { ...figure.details, ...split } };
}

/** Reads a path of the REST API as text: what the client makes of it is not measured. */
export function readFrom(cluster: Cluster): (path: string) => Promise<string> {
  const [server] = cluster.runningServers();
  return async (path) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await fetch(`http://127.0.0.1:${server?.httpPort}${path}`, { headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text;
  };
}
