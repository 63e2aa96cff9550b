import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudEvent } from '@signalbox/protocol';
import type { LastFile, WatchedFile } from '@signalbox/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FolderWatch } from './folder-watch.ts';

let folder: string;
let sent: CloudEvent[];
let stored: Map<string, WatchedFile>;
let last: LastFile | null;
let complaints: object[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-watch-'));
  [sent, stored, last, complaints] = [[], new Map(), null, []];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Each is a server with its own memory, on the same database. */
function watch(
  more: { readonly mostFiles?: number; readonly fails?: () => boolean; readonly now?: () => number } = {},
): FolderWatch {
  return new FolderWatch({
    folder: { name: 'in', path: folder },
    queries: {
      listWatchedFiles: async () => [...stored.values()],
      keepWatchedFiles: async (_, files) => {
        if (more.fails?.() === true) throw new Error('the database is away');
        for (const file of files) stored.set(file.path, file);
      },
      dropWatchedFiles: async (_, paths) => {
        for (const path of paths) stored.delete(path);
      },
      findLastFile: async () => last,
      keepLastFile: async (_, kept) => {
        last = kept;
      },
    },
    send: async (event) => sent.push(event),
    complain: (_, details) => complaints.push(details),
    ...more,
  });
}
const paths = () => sent.map(({ subject }) => subject);
const put = (name: string, text = 'x') => writeFile(join(folder, name), text);

test('a new file becomes an event once it has not changed between two looks; what lay there before does not', async () => {
  await put('old.csv');
  const one = watch();
  await one.runOnce();
  await mkdir(join(folder, 'eu'));
  await put('eu/new.csv', '12345');
  await one.runOnce();
  expect(sent).toEqual([]);
  await put('eu/new.csv', '123456');
  await one.runOnce();
  expect(sent).toEqual([]);
  await one.runOnce();
  await one.runOnce();
  expect(sent).toMatchObject([
    {
      type: 'signalbox.file.created',
      source: '/signalbox/files/in',
      subject: 'eu/new.csv',
      data: { folder: 'in', path: 'eu/new.csv', file: `${folder}/eu/new.csv`, size: 6 },
    },
  ]);
});

test('the next server knows what was sent, and sends again what may not have been', async () => {
  const one = watch();
  await one.runOnce();
  await put('a.csv');
  await one.runOnce();
  await one.runOnce();
  let isAway = true;
  const two = watch({ fails: () => isAway });
  await two.runOnce();
  await put('b.csv');
  await two.runOnce();
  await expect(two.runOnce()).rejects.toThrow('away');
  isAway = false;
  const three = watch();
  await three.runOnce();
  await three.runOnce();
  expect(paths()).toEqual(['a.csv', 'b.csv', 'b.csv']);
  expect(sent[1]?.id).toBe(sent[2]?.id);
});

test('a file that was written again, and one that comes back, are new', async () => {
  const one = watch();
  const look = async () => {
    await one.runOnce();
    await one.runOnce();
  };
  await look();
  await put('a.csv');
  await look();
  await utimes(join(folder, 'a.csv'), 1_000, 1_000);
  await look();
  await rm(join(folder, 'a.csv'));
  await look();
  await put('a.csv');
  await utimes(join(folder, 'a.csv'), 1_000, 1_000);
  await look();
  expect(paths()).toEqual(['a.csv', 'a.csv', 'a.csv']);
});

test('hidden files and links are left out; a file that is renamed into place is seen', async () => {
  const one = watch();
  await one.runOnce();
  await put('.part');
  await symlink('/etc/hostname', join(folder, 'link.csv'));
  await one.runOnce();
  await one.runOnce();
  expect(sent).toEqual([]);
  await rename(join(folder, '.part'), join(folder, 'done.csv'));
  await one.runOnce();
  await one.runOnce();
  expect(paths()).toEqual(['done.csv']);
});

test('a folder with too many files is complained of once, and those within the limit are sent (I68)', async () => {
  const one = watch({ mostFiles: 2 });
  await one.runOnce();
  for (const name of ['a', 'b', 'c']) await put(name);
  for (let i = 0; i < 3; i++) await one.runOnce();
  expect(paths()).toEqual(['a', 'b']);
  expect(complaints).toHaveLength(1);
});

test('a watch tells what it saw, what it sent last, and what is wrong until a look goes well', async () => {
  let now = 1_000;
  const one = watch({ mostFiles: 2, now: () => now });
  expect(one.view).toEqual({ lookedAt: null, files: 0, lastFile: null, lastFileAt: null, problem: null });
  await one.runOnce();
  await put('a.csv');
  await one.runOnce();
  now = 2_000;
  await one.runOnce();
  expect(one.view).toEqual({ lookedAt: 2_000, files: 1, lastFile: 'a.csv', lastFileAt: 2_000, problem: null });
  const next = watch();
  await next.runOnce();
  expect(next.view).toMatchObject({ lastFile: 'a.csv', lastFileAt: 2_000 });
  await put('b.csv');
  await put('c.csv');
  now = 3_000;
  await one.runOnce();
  expect(one.view).toMatchObject({ lookedAt: 3_000, files: 2, problem: expect.stringMatching(/more than 2 files/) });
  await rm(join(folder, 'b.csv'));
  await one.runOnce();
  expect(one.view.problem).toBeNull();
  await rename(folder, `${folder}-away`);
  await one.look();
  expect(one.view.problem).toMatch(/ENOENT/);
  await rename(`${folder}-away`, folder);
  await one.look();
  expect(one.view.problem).toBeNull();
});
