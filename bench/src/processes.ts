/** Tasks that are command lines, beside the bare start of the same processes by `posix_spawn`, on the same machine in the same run. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Cluster } from '@signalbox/e2e';
import { atLeast } from './bar.ts';
import type { Figure } from './figure.ts';
import { cpuDetails, flow } from './throughput.ts';

/** How many at a time, as the worker has slots. */
export const PROCESS_SLOTS = 8;
const WARM = 200;

/** Python calls posix_spawn itself; Node.js has no way to it. */
const BARE_LOOP = `
import os, sys, time
left, slots, running = int(sys.argv[1]), int(sys.argv[2]), 0
began = time.monotonic()
while left > 0 or running > 0:
    while left > 0 and running < slots:
        os.posix_spawn('/bin/sh', ['sh', '-c', 'true'], {})
        left -= 1; running += 1
    os.wait(); running -= 1
print(int(sys.argv[1]) / (time.monotonic() - began))
`;

export async function processes(cluster: Cluster, runs: number): Promise<Figure[]> {
  await cluster.client().deployDag({ name: 'command', tasks: [{ name: 'only', run: 'true' }] });
  await flow(cluster, 'command', WARM);
  const { ms, cpu } = await flow(cluster, 'command', runs);
  const ours = (runs / ms) * 1_000;
  const bare = posixSpawns(runs);
  const node = await nodeSpawns(runs);
  const of = `processes of "sh -c true", ${PROCESS_SLOTS} at a time`;
  return [
    {
      what: `${of}, as tasks`,
      value: ours,
      unit: 'starts/s',
      ...(bare === null
        ? {}
        : { bar: atLeast({ goal: 0.5, of: { name: 'part of posix_spawn', value: ours / bare } }) }),
      details: cpuDetails(cpu, runs, 'task'),
    },
    ...(bare === null ? [] : [{ what: `${of}, posix_spawn in a bare loop`, value: bare, unit: 'starts/s' }]),
    { what: `${of}, spawn of Node.js in a bare loop`, value: node, unit: 'starts/s' },
  ];
}

/** Null without Python on this machine. */
function posixSpawns(count: number): number | null {
  const { status, stdout } = spawnSync('python3', ['-c', BARE_LOOP, String(count), String(PROCESS_SLOTS)], {
    encoding: 'utf8',
  });
  if (status === 0) return Number(stdout);
  console.error('python3 is not here: posix_spawn is not measured.');
  return null;
}

/** As the worker starts them: in a group of their own, with output that is read. */
async function nodeSpawns(count: number): Promise<number> {
  const began = performance.now();
  let left = count;
  const loop = async () => {
    while (left-- > 0) {
      const one = spawn('sh', ['-c', 'true'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
      one.stdout.resume();
      one.stderr.resume();
      await once(one, 'exit');
    }
  };
  await Promise.all(Array.from({ length: PROCESS_SLOTS }, loop));
  return (count / (performance.now() - began)) * 1_000;
}
