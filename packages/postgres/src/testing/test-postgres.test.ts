import { existsSync } from 'node:fs';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createDatabase, startTestPostgres } from './index.ts';

const server = await startTestPostgres({ tcp: true });
afterAll(() => server.stop());

async function ask<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return (await client.query<T>(sql).finally(() => client.end())).rows;
}

test('answers by socket and by TCP, in the database signalbox', async () => {
  for (const url of [server.url, server.tcpUrl ?? '']) {
    expect(await ask(url, 'select current_database() as name')).toEqual([{ name: 'signalbox' }]);
  }
});

test('databases of one server know nothing of each other', async () => {
  const [one, other] = [await createDatabase(server), await createDatabase(server, 'other "quoted" ü')];
  await ask(one, 'create table only_here ()');
  expect(await ask(other, "select to_regclass('only_here') as found")).toEqual([{ found: null }]);
  expect(existsSync(server.dataDir)).toBe(true);
});
