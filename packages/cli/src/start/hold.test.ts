import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findHolder, holdFolder } from './hold.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-hold-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (holder: object) => writeFile(join(folder, 'start.pid'), JSON.stringify(holder));

test('a folder is held by one at a time, and free again afterwards', async () => {
  const hold = await holdFolder(folder);
  expect(await findHolder(folder)).toMatchObject({ pid: process.pid });
  await expect(holdFolder(folder)).rejects.toMatchObject({
    message: expect.stringContaining(`process ${process.pid}`),
    remedy: expect.stringContaining('--data'),
  });
  await hold.release();
  expect(await findHolder(folder)).toBeNull();
  await (await holdFolder(folder)).release();
  expect(await readdir(folder)).toEqual(['start.2.pid']);
});

test('of many who come at once one gets it, each time', async () => {
  for (let time = 0; time < 100; time++) {
    await write({ pid: 999_999_999, began: '1', since: 'long ago' });
    const came = await Promise.allSettled(Array.from({ length: 8 }, () => holdFolder(folder)));
    const got = came.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(got).toHaveLength(1);
    await got[0]?.release();
  }
});

test('a process that was killed holds nothing', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  await write({ pid: child.pid, began: '', since: 'now' });
  await expect(holdFolder(folder)).rejects.toThrow(`process ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await holdFolder(folder)).release();
});

test.runIf(process.platform === 'linux')('a number that was given to another process since holds nothing', async () => {
  await write({ pid: process.pid, began: '1', since: 'before the restart' });
  await (await holdFolder(folder)).release();
});

test('a file that was cut off holds nothing', async () => {
  await writeFile(join(folder, 'start.pid'), '{"pi');
  await (await holdFolder(folder)).release();
});
