/** Graphs of growing size: wide, deep and random ones, and maps. How the cost grows, what it takes of memory, and what others notice of it. */
import { readFileSync } from 'node:fs';
import { type Cluster, until } from '@signalbox/e2e';
import type { DagDefinition } from '@signalbox/sdk';
import { cpuSince, readCpu } from './cpu.ts';
import { type Figure, quantile } from './figure.ts';
import { cpuDetails, runEnded, wideDefinition } from './throughput.ts';

type Tasks = DagDefinition['tasks'];
const TIMES = 3;

export async function graphShapes(cluster: Cluster): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [shape, make] of Object.entries({ wide, deep, random })) {
    for (const count of [1_000, 3_000, 10_000])
      figures.push(await measure(cluster, `${shape}-${count}`, make(count), count));
  }
  return figures;
}

/** Each runs beside a small dag that is submitted over and over: what that one waits is what the map costs others. */
export async function maps(cluster: Cluster, most: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  await cluster.client().deployDag({ name: 'beside', tasks: [{ name: 'only', handler: 'noop' }], priority: 'high' });
  for (const count of [1_000, 10_000, 100_000].filter((each) => each <= most)) {
    const tasks: Tasks = [
      { name: 'list', handler: 'list' },
      { name: 'each', handler: 'noop', map: '${{ tasks.list.output }}' },
      { name: 'last', handler: 'noop', needs: ['each'] },
    ];
    figures.push(await measure(cluster, `map-${count}`, tasks, count, { maxMapSize: 1_000_000 }, { count }));
  }
  return figures;
}

async function measure(
  cluster: Cluster,
  name: string,
  tasks: Tasks,
  count: number,
  more: Partial<DagDefinition> = {},
  params: unknown = null,
): Promise<Figure> {
  const client = cluster.client();
  await client.deployDag({ name, tasks, ...more });
  const isMap = name.startsWith('map');
  const times: number[] = [];
  const waits: number[] = [];
  let peak = 0;
  const before = readCpu(cluster);
  // A chain takes its length in round trips: once is enough.
  for (let i = 0; i < (name.startsWith('deep') ? 1 : TIMES); i++) {
    const began = performance.now();
    let isOver = false;
    const beside = isMap ? submitBeside(cluster, () => isOver, waits) : Promise.resolve();
    const { id } = await client.submit(name, params === null ? {} : { params });
    await until(`${name} has ended`, 600_000, async () => {
      peak = Math.max(peak, serverBytes(cluster));
      return runEnded(cluster, id);
    });
    times.push(performance.now() - began);
    isOver = true;
    await beside;
  }
  const ms = quantile(times, 0.5);
  return {
    what: `${name.replace('-', ' of ')} tasks`,
    value: ms / 1_000,
    unit: 's',
    details: {
      'µs/task': (ms * 1_000) / count,
      ...cpuDetails(cpuSince(cluster, before), count * times.length, 'task'),
      'server MiB': peak / 2 ** 20,
      ...(isMap ? { 'another run p50 ms': quantile(waits, 0.5), 'p99 ms': quantile(waits, 0.99) } : {}),
    },
  };
}

async function submitBeside(cluster: Cluster, isOver: () => boolean, waits: number[]): Promise<void> {
  const client = cluster.client();
  while (!isOver()) {
    const began = performance.now();
    const { id } = await client.submit('beside');
    await until('the run beside has ended', 60_000, () => runEnded(cluster, id));
    waits.push(performance.now() - began);
  }
}

const wide = (count: number): Tasks => wideDefinition(count).tasks;

const deep = (count: number): Tasks =>
  Array.from({ length: count }, (_, no) => ({
    name: `t${no}`,
    handler: 'noop',
    needs: no === 0 ? [] : [`t${no - 1}`],
  }));

/** Up to three needs each among the hundred before it, by a rule that gives the same graph each time. */
function random(count: number): Tasks {
  let seed = 7;
  const draw = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  return Array.from({ length: count }, (_, no) => {
    const needs = no === 0 ? [] : Array.from({ length: 1 + draw(3) }, () => `t${no - 1 - draw(Math.min(no, 100))}`);
    return { name: `t${no}`, handler: 'noop', needs: [...new Set(needs)] };
  });
}

function serverBytes(cluster: Cluster): number {
  const status = cluster.servers.map(({ pid }) => readFileSync(`/proc/${pid}/status`, 'utf8'));
  return status.reduce((sum, text) => sum + Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024, 0);
}
