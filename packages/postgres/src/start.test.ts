import { statSync } from 'node:fs';
import { chown, mkdir, readdir, rmdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPostmasterFile } from './postmaster-file.ts';
import { childrenOf, isAlive } from './processes.ts';
import { type StartOptions, startPostgres } from './start.ts';
import { ask } from './testing/ask.ts';
import { type TestFolder, testFolder } from './testing/folder.ts';
import { waitFor } from './wait.ts';

let place: TestFolder;
beforeEach(async () => {
  place = await testFolder();
});
afterEach(() => place.remove());

const start = (options: StartOptions = {}) => startPostgres({ dataDir: place.dataDir, durable: false, ...options });

test('the first start makes a folder that only its owner can enter, with the database signalbox in it', async () => {
  const lines: string[] = [];
  const server = await start({ log: (line) => lines.push(line) });
  expect(await ask(server.url, 'select current_database() as name')).toEqual([{ name: 'signalbox' }]);
  expect(server).toMatchObject({ adopted: false, dataDir: place.dataDir, socketDir: place.dataDir });
  const { mode, uid } = statSync(place.dataDir);
  expect([mode & 0o777, uid]).toEqual([0o700, place.account.uid]);
  expect(await readdir(place.folder)).toEqual(['data']); // nothing left of the making
  expect(lines).toEqual([expect.stringContaining('being set up in'), expect.stringContaining('started on')]);
});

test('a stopped server leaves no process, and the next start finds its data', async () => {
  const first = await start();
  await ask(first.url, 'create table kept as select 42 as answer');
  const processes = [first.pid, ...childrenOf(first.pid)];
  expect(processes.length).toBeGreaterThan(3);
  await first.stop();
  expect(processes.filter(isAlive)).toEqual([]);
  expect(await readdir(place.dataDir)).not.toContain('postmaster.pid');

  const second = await start();
  expect(second.adopted).toBe(false);
  expect(await ask(second.url, 'table kept')).toEqual([{ answer: 42 }]);
});

test('stopping twice is stopping once', async () => {
  const server = await start();
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
});

test('a running server is adopted, and can be stopped by who adopted it', async () => {
  const first = await start();
  const second = await start();
  expect(second).toMatchObject({ adopted: true, pid: first.pid, url: first.url });
  expect(await ask(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await second.stop();
  expect(isAlive(first.pid)).toBe(false);
});

test('a database that went missing is made again on adoption', async () => {
  const { url } = await start();
  await ask(url.replace('/signalbox?', '/postgres?'), 'drop database signalbox');
  await start();
  expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('starts at the same moment on a new folder end with one server, started by one of them', async () => {
  const servers = await Promise.all([start(), start(), start()]);
  expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1);
  expect(servers.filter(({ adopted }) => !adopted)).toHaveLength(1);
  expect(await readdir(place.folder)).toEqual(['data']);
});

test('a start while the server is stopping gets a new one', async () => {
  const first = await start();
  const stopped = first.stop();
  await waitFor(10_000, async () => ((await readPostmasterFile(place.dataDir))?.status === 'ready' ? undefined : true));
  const second = await start();
  await stopped;
  expect(second).toMatchObject({ adopted: false });
  expect(await ask(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a path too long for a socket gets its socket elsewhere, and is adopted there', async () => {
  const dataDir = join(place.folder, 'a-long-name-'.repeat(10), 'pg18');
  const first = await start({ dataDir });
  try {
    expect(first.socketDir.length).toBeLessThan(40);
    expect(statSync(first.socketDir).mode & 0o777).toBe(0o700);
    expect(await start({ dataDir })).toMatchObject({ adopted: true, socketDir: first.socketDir });
  } finally {
    await first.stop();
    await rmdir(first.socketDir);
  }
});

test('a path with blanks, commas and quotes works', async () => {
  const dataDir = join(place.folder, `it's, "a" path`);
  const server = await start({ dataDir });
  await ask(server.url, 'select 1').finally(() => server.stop());
});

test('an empty folder behind a symbolic link is used', async () => {
  await mkdir(place.dataDir);
  await symlink(place.dataDir, join(place.folder, 'link'));
  expect((await start({ dataDir: join(place.folder, 'link') })).dataDir).toBe(place.dataDir);
});

test('settings of the caller win', async () => {
  const server = await start({ settings: { work_mem: '5MB', listen_addresses: '' } });
  expect(await ask(server.url, 'show work_mem')).toEqual([{ work_mem: '5MB' }]);
});

test.each([
  ['data of another major version', 'PG_VERSION', '17\n', /PostgreSQL 17.*DATABASE_URL/],
  ['something else', 'thesis.doc', 'words', /not empty.*another folder/],
] as const)('a folder with %s is refused and left alone', async (_, name, content, message) => {
  await mkdir(place.dataDir);
  await writeFile(join(place.dataDir, name), content);
  await chown(join(place.dataDir, name), place.account.uid, -1);
  await expect(start()).rejects.toThrow(message);
  expect(await readdir(place.dataDir)).toEqual([name]);
});

test('a server that cannot start says why', async () => {
  await expect(start({ settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
    /invalid value.*shared_buffers.*"plenty"/s,
  );
});
