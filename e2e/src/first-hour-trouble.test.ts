/** What may go wrong around `signalbox start`, and what is left of it. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pause, until } from './processes.ts';
import { killAll, Sandbox } from './sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make({ name: 'whoever runs this', ids: null });
});
afterEach(() => box.remove());

test('a PostgreSQL that ends by itself is started again, and all goes on', { timeout: 120_000 }, async () => {
  await box.start();
  const pidOf = async () => Number((await readFile(join(box.data, 'pg18', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const before = await pidOf();
  killAll([before]);
  await until('another one runs', 60_000, async () => (await pidOf().catch(() => before)) !== before);
  await until('the server is ready', 60_000, async () => (await fetch(`${box.url}/readyz`)).status === 200);
  expect((await box.run('runs', 'trigger', 'hello', '--wait', '--timeout', '60s')).exitCode).toBe(0);
});

test('a second Ctrl-C ends everything at once, tasks that run included', { timeout: 120_000 }, async () => {
  const script = `touch ${box.folder}/begun; trap '' TERM; while true; do sleep 0.05; done`;
  await writeFile(
    join(box.folder, 'dags', 'stubborn.yaml'),
    `name: stubborn\ntasks:\n  - name: a\n    run: "${script}"\n`,
  );
  const began = await box.start('--no-examples');
  expect((await box.run('runs', 'trigger', 'stubborn')).exitCode).toBe(0);
  await until('the task has begun', 30_000, () => existsSync(join(box.folder, 'begun')));
  process.kill(-began.pid, 'SIGINT');
  await until('it is stopping', 10_000, () => began.said.all.includes('Stopping.'));
  await pause(400); // sooner, it would be taken for the same one
  process.kill(-began.pid, 'SIGINT');
  expect((await began.ended).exitCode).toBe(130);
  await until('nothing is left', 20_000, () => box.processes().length === 0);
});
