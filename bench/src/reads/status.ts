/** As many reads of the status of runs as the server answers, over many connections. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ADMIN_TOKEN, type Cluster, until } from '@signalbox/e2e';
import { atLeast, atMost } from '../bar.ts';
import { cpuSince, readCpu } from '../cpu.ts';
import { type Figure, quantile } from '../figure.ts';
import { profiled } from '../profiled.ts';
import { liveRuns } from '../throughput.ts';

const READER = fileURLToPath(new URL('status-reader.js', import.meta.url));
const RUNS = 1_000;
const CONNECTIONS = 64;
const GOAL_PER_S = 10_000;

/** What a reader process is asked for, and what it answers. */
export interface Reading {
  readonly port: number;
  readonly token: string;
  readonly paths: readonly string[];
  readonly connections: number;
  readonly ms: number;
}
export interface Read {
  readonly ms: readonly number[];
  /** By status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly cpuMs: number;
}

export async function statusReads(cluster: Cluster, ms: number): Promise<Figure[]> {
  const client = cluster.client();
  await client.deployDag({ name: 'noop', tasks: [{ name: 'only', handler: 'noop' }] });
  const { ids } = await client.submitMany(
    'noop',
    Array.from({ length: RUNS }, () => ({})),
  );
  await until('all runs have ended', 60_000, async () => (await liveRuns(cluster)) === 0);
  const [server] = cluster.runningServers();
  const paths = ids.map((id) => `/v1/runs/${id}`);
  const asked = { port: server?.httpPort ?? 0, token: ADMIN_TOKEN, paths, connections: CONNECTIONS };
  await readFor({ ...asked, ms: 2_000 });
  const before = readCpu(cluster);
  const began = performance.now();
  const read = await profiled(() => readFor({ ...asked, ms }));
  const seconds = (performance.now() - began) / 1_000;
  if (Object.keys(read.refused).length > 0)
    throw new Error(`Reads were refused, by status: ${JSON.stringify(read.refused)}.`);
  const cpu = cpuSince(cluster, before);
  const us = (cpuMs: number) => (cpuMs * 1_000) / read.ms.length;
  const of = `status reads over ${CONNECTIONS} connections`;
  return [
    {
      what: of,
      value: read.ms.length / seconds,
      unit: 'reads/s',
      bar: atLeast({ goal: GOAL_PER_S }),
      details: {
        'server µs/read': us(cpu.serversMs),
        'PostgreSQL µs/read': us(cpu.postgresMs),
        'client µs/read': us(read.cpuMs),
      },
    },
    { what: `${of}, p99`, value: quantile(read.ms, 0.99), unit: 'ms', bar: atMost({ goal: 50 }) },
  ];
}

function readFor(reading: Reading): Promise<Read> {
  const child = fork(READER);
  return new Promise((resolve, reject) => {
    child.on('message', (read) => resolve(read as Read));
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`The reader ended with ${code}.`)));
    child.send(reading);
  });
}
