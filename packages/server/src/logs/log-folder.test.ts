import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeLogFolder } from './log-folder.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'signalbox-log-folder-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('servers on one data folder have a folder each, and one that was left is taken again', async () => {
  const first = await takeLogFolder(dataDir);
  const second = await takeLogFolder(dataDir);
  expect([first.path, second.path]).toEqual([join(dataDir, 'logs', '0'), join(dataDir, 'logs', '1')]);
  await first.release();
  const third = await takeLogFolder(dataDir);
  expect(third.path).toBe(first.path);
  await second.release();
  await third.release();
});

test('a folder of another living process is left alone, one of a dead process or of an earlier life of ours is taken', async () => {
  const folder = join(dataDir, 'logs', '0');
  await mkdir(folder, { recursive: true });
  const stat = await readFile(`/proc/${process.ppid}/stat`, 'utf8').catch(() => '');
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  for (const [owner, expected] of [
    [`${process.ppid} ${startedAt}`.trim(), '1'],
    [`${process.ppid} 1`, '0'],
    [`${process.pid} 1`, '0'],
    ['999999999 5', '0'],
    ['', '0'],
    ['nonsense', '0'],
  ] as const) {
    await writeFile(join(folder, 'owner'), owner);
    const taken = await takeLogFolder(dataDir);
    expect([owner, taken.path]).toEqual([owner, join(dataDir, 'logs', expected)]);
    await taken.release();
  }
});

test('segments of a server that is gone come home to the one that starts', async () => {
  const first = await takeLogFolder(dataDir);
  const second = await takeLogFolder(dataDir);
  await writeFile(join(second.path, '00001-a.log'), 'x');
  await writeFile(join(second.path, '00001-a.idx'), 'y');
  await second.release();
  const third = await takeLogFolder(dataDir);
  expect((await readdir(third.path)).sort()).toEqual(['00001-a.idx', '00001-a.log', 'owner']);
  await first.release();
  await third.release();
  const only = await takeLogFolder(dataDir);
  expect((await readdir(only.path)).sort()).toEqual(['00001-a.idx', '00001-a.log', 'owner']);
  await only.release();
});
