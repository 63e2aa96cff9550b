import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { childrenOf, isAlive, processState } from './processes.ts';
import { type RunningPostgres, startPostgres } from './start.ts';
import { ask } from './testing/ask.ts';
import { filledTestFolder, type TestFolder } from './testing/folder.ts';
import { killAll } from './testing/signals.ts';
import { waitFor } from './wait.ts';

let place: TestFolder;
let others: ChildProcess[] = [];
beforeEach(async () => {
  place = await filledTestFolder();
});
afterEach(async () => {
  for (const other of others) other.kill('SIGKILL');
  others = [];
  await place.remove();
});

// Memory as files of the data folder, so that a server which is killed and not started again leaves none behind.
const settings = { dynamic_shared_memory_type: 'mmap' };
const start = () => startPostgres({ dataDir: place.dataDir, durable: false, settings });
const lockFile = () => join(place.dataDir, 'postmaster.pid');
const socketLock = () => join(place.dataDir, '.s.PGSQL.5432.lock');

/** Runs as the server's account: PostgreSQL takes no notice of processes of others. Returns what it prints first. */
async function otherProgram(script: string): Promise<{ pid: number; printed: string }> {
  const other = spawn('sh', ['-c', script], { ...place.account.drop, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
  others.push(other);
  const [printed] = (await once(other.stdout, 'data')) as [Buffer];
  return { pid: other.pid as number, printed: printed.toString().trim() };
}

/** A server that was killed, and whose `postmaster.pid` and socket lock name another process. */
async function crashedWithPidOf(pid: number): Promise<void> {
  const server = await serverWithRow();
  await killAll(server);
  for (const path of [lockFile(), socketLock()]) {
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/^\d+/, String(pid)));
  }
}

async function serverWithRow(): Promise<RunningPostgres> {
  const server = await start();
  await ask(server.url, 'create table kept as select 42 as answer');
  return server;
}

async function expectRow({ url, adopted }: RunningPostgres): Promise<void> {
  expect(adopted).toBe(false);
  expect(await ask(url, 'table kept')).toEqual([{ answer: 42 }]);
}

test('after a kill of all its processes the server comes back with what was committed', async () => {
  const server = await serverWithRow();
  await killAll(server);
  await expectRow(await start());
});

test('after a kill of the postmaster alone the start waits for its children', async () => {
  const server = await serverWithRow();
  const children = childrenOf(server.pid);
  const frozen = children[0] as number;
  process.kill(frozen, 'SIGSTOP'); // it cannot see that its postmaster is gone, and stays attached to the shared memory
  process.kill(server.pid, 'SIGKILL');
  const log = () => readFile(join(place.dataDir, 'server.log'), 'utf8');
  const next = start();
  await waitFor(10_000, async () => ((await log()).includes('pre-existing shared memory block') ? true : undefined));
  expect(isAlive(frozen)).toBe(true);
  process.kill(frozen, 'SIGCONT');
  await expectRow(await next);
  expect(children.filter(isAlive)).toEqual([]);
});

test('a postmaster.pid whose number was given to another program does not keep the server down', async () => {
  const other = await otherProgram('echo up; exec sleep 1000');
  await crashedWithPidOf(other.pid);
  await expectRow(await start());
  expect(isAlive(other.pid)).toBe(true);
});

test('a postmaster.pid that names a zombie does not keep the server down', async () => {
  // `sleep` never asks for its child's exit code, as the shell before it might: the child ends once its parent has become one.
  const child = `sh -c 'until grep -q sleep /proc/$PPID/comm; do :; done'`;
  const { printed } = await otherProgram(`${child} & echo $!; exec sleep 1000`);
  const zombie = Number(printed);
  expect(await waitFor(10_000, () => (processState(zombie) === 'zombie' ? true : undefined))).toBe(true);
  await crashedWithPidOf(zombie);
  await expectRow(await start());
});

test('a postmaster.pid that names this very process does not keep the server down', async () => {
  await crashedWithPidOf(process.pid);
  await expectRow(await start());
});

test('a lock file of the socket that names another program does not keep the server down', async () => {
  const server = await serverWithRow();
  await server.stop();
  const { pid } = await otherProgram('echo up; exec sleep 1000');
  await writeFile(socketLock(), `${pid}\n${place.dataDir}\n0\n5432\n${place.dataDir}\n`);
  await expectRow(await start());
});

test('a postmaster.pid that a power cut left empty does not keep the server down', async () => {
  const server = await serverWithRow();
  await server.stop();
  await writeFile(lockFile(), '');
  await utimes(lockFile(), new Date(0), new Date(0));
  await expectRow(await start());
});

test('a server on another folder is not adopted, though postmaster.pid names it', async () => {
  const elsewhere = await filledTestFolder();
  try {
    const other = await startPostgres({ dataDir: elsewhere.dataDir, durable: false });
    await crashedWithPidOf(other.pid);
    const server = await start();
    expect(server.pid).not.toBe(other.pid);
    await expectRow(server);
    expect(isAlive(other.pid)).toBe(true);
  } finally {
    await elsewhere.remove();
  }
  expect(existsSync(elsewhere.folder)).toBe(false);
});
