import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { childrenOf, isAlive, processState } from '../processes.ts';
import { ask } from './ask.ts';
import { createDatabase, startTestPostgres } from './index.ts';

const server = await startTestPostgres({ tcp: true });
afterAll(() => server.stop());

const processesOf = (pid: number) => [pid, ...childrenOf(pid)];

test('answers by socket and by TCP, in the database signalbox', async () => {
  for (const url of [server.url, server.tcpUrl ?? '']) {
    expect(await ask(url, 'select current_database() as name')).toEqual([{ name: 'signalbox' }]);
  }
});

test('databases of one server know nothing of each other', async () => {
  const [one, other] = [await createDatabase(server), await createDatabase(server, 'other "quoted" ü')];
  await ask(one, 'create table only_here ()');
  expect(await ask(other, "select to_regclass('only_here') as found")).toEqual([{ found: null }]);
});

test('a hard kill ends every process, and a restart brings back what was committed, at the same address', async () => {
  await ask(server.url, 'create table kept as select 42 as answer');
  const processes = processesOf(server.pid);
  await server.killHard();
  expect(processes.filter(isAlive)).toEqual([]);
  await expect(ask(server.url, 'table kept')).rejects.toThrow();
  await server.restart();
  expect(processes).not.toContain(server.pid);
  for (const url of [server.url, server.tcpUrl ?? '']) expect(await ask(url, 'table kept')).toEqual([{ answer: 42 }]);
});

test('a restart of a running server ends its sessions', async () => {
  const client = new pg.Client({ connectionString: server.url });
  const ended = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  await server.restart();
  await ended;
  expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a frozen server keeps connections and answers once it is thawed', async () => {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await server.freeze();
  let answered = false;
  const answer = client.query('select 1 as one').then(({ rows }) => {
    answered = true;
    return rows;
  });
  expect(processesOf(server.pid).map(processState)).toEqual(processesOf(server.pid).map(() => 'stopped'));
  expect(answered).toBe(false);
  server.thaw();
  expect(await answer).toEqual([{ one: 1 }]);
  await client.end();
});

test.each([
  ['running', async () => {}],
  ['frozen', (one: typeof server) => one.freeze()],
  ['killed', (one: typeof server) => one.killHard()],
] as const)('a server that is %s stops, and leaves neither process nor folder', async (_, bring) => {
  const one = await startTestPostgres();
  const processes = processesOf(one.pid);
  await bring(one);
  await one.stop();
  expect(processes.filter(isAlive)).toEqual([]);
  expect(existsSync(dirname(one.dataDir))).toBe(false);
});

test('servers start beside each other', async () => {
  const servers = await Promise.all([startTestPostgres(), startTestPostgres(), startTestPostgres()]);
  expect(new Set(servers.map(({ url }) => url)).size).toBe(3);
  await Promise.all(servers.map((one) => one.stop()));
});
