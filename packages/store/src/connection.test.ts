import { createDatabase, startTestPostgres } from '@signalbox/postgres/testing';
import { afterAll, expect, test } from 'vitest';
import { created, deployed } from './conformance/changes.ts';
import { ask, Fixtures } from './fixture.testing.ts';
import { migrate } from './migrate.ts';
import { openPostgresStore } from './postgres-store.ts';
import { openQueries } from './queries.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

test('a read-only server is refused (I60)', async () => {
  const url = await fixtures.emptyDatabase();
  await migrate(url);
  const [{ name } = {}] = await ask(url, 'select current_database() as name');
  await ask(url, `alter database ${String(name)} set default_transaction_read_only = on`);
  await expect(openPostgresStore({ url })).rejects.toThrow('standby or read-only');
  await expect(openQueries({ url })).rejects.toThrow('standby or read-only');
});

test('without named statements, as behind a pooler, all works and none is left on the server', async () => {
  const box = await fixtures.open({ preparedStatements: false });
  const node = await box.node([5]);
  const dag = deployed(5, 1);
  await node.commit([dag]);
  await node.commit([created(dag, node.newRunId(5))]);
  expect((await node.load([5])).runs).toHaveLength(1);
});

test('a commit that ends with a warning counts as unknown', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  await box.sql(`create function warn() returns trigger language plpgsql as
    $$ begin raise warning 'canceling wait for synchronous replication'; return null; end $$`);
  await box.sql('create trigger warn after insert on dag execute function warn()');
  expect(await node.tryCommit([deployed(5, 1)])).toBe('unknown');
  expect(await node.tryCommit([deployed(5, 2)])).toBe('fenced');
});

test('a commit cancelled by hand is refused as a whole, and the chain is over', async () => {
  const box = await fixtures.open();
  const node = await box.node([5]);
  await box.sql(`create function cancel() returns trigger language plpgsql as
    $$ begin perform pg_cancel_backend(pg_backend_pid()); perform pg_sleep(5); return null; end $$`);
  await box.sql('create trigger cancel after insert on dag execute function cancel()');
  expect(await node.tryCommit([deployed(5, 1)])).toBe('refused');
  expect(await node.load([5])).toMatchObject({ shards: [{ commitNo: 0 }], dags: [] });
});

test('with the database frozen reads fail in bounded time, and work again afterwards (I60)', async () => {
  const server = await startTestPostgres();
  const url = await createDatabase(server);
  await migrate(url);
  const store = await openPostgresStore({ url, connectTimeoutMs: 300 });
  const queries = await openQueries({ url, connectTimeoutMs: 300, statementTimeoutMs: 100 });
  await server.freeze();
  await expect(store.observe()).rejects.toThrow();
  await expect(queries.cluster()).rejects.toThrow();
  server.thaw();
  expect((await store.observe()).shards).toHaveLength(64);
  expect(await queries.cluster()).toMatchObject({ shardCount: 64 });
  await store.close();
  await queries.close();
  await server.stop();
});
