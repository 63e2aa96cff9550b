import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { ask, Fixtures } from './fixture.testing.ts';
import { type Migration, migrate, readMigrations, SchemaError } from './migrate.ts';
import { openPostgresStore } from './postgres-store.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const migration = (no: number, text: string): Migration => ({
  no,
  name: `000${no}_test.sql`,
  text,
  checksum: createHash('sha256').update(text).digest('hex'),
});

test('several processes may migrate at once, and again later', async () => {
  const url = await fixtures.emptyDatabase();
  const ran = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  const known = await readMigrations();
  // Each migration was run by one of them, and each of them knows which.
  expect(ran.flat().sort()).toEqual(known.map(({ name }) => name));
  expect(await migrate(url)).toEqual([]);
  expect(await ask(url, 'select count(*)::integer as count from schema_migration')).toEqual([{ count: known.length }]);
  expect(await ask(url, 'select count(*)::integer as count from shard')).toEqual([{ count: 64 }]);
});

test('a migration cut off in the middle leaves nothing behind, and can be run again (I63)', async () => {
  const url = await fixtures.emptyDatabase();
  const first = migration(1, 'create table one ()');
  await expect(migrate(url, [first, migration(2, 'create table two (); select 1 / 0')])).rejects.toThrow('division');
  expect(await ask(url, `select to_regclass('one') is not null as one, to_regclass('two') is not null as two`)).toEqual(
    [{ one: true, two: false }],
  );
  await migrate(url, [first, migration(2, 'create table two ()')]);
  expect(await ask(url, `select to_regclass('two') is not null as two`)).toEqual([{ two: true }]);
});

test('a node refuses a schema that is newer, changed, older or not there (I63)', async () => {
  const url = await fixtures.emptyDatabase();
  await expect(openPostgresStore({ url })).rejects.toThrow('no Signalbox schema');
  await migrate(url, []);
  await expect(openPostgresStore({ url })).rejects.toThrow('lacks migration 0001');
  await migrate(url);
  await ask(url, `insert into schema_migration (no, name, checksum) values (999, 'x', 'y')`);
  await expect(openPostgresStore({ url })).rejects.toThrow(SchemaError);
  await expect(openPostgresStore({ url })).rejects.toThrow('newer version');
  await expect(migrate(url)).rejects.toThrow('newer version');
  await ask(url, `delete from schema_migration where no = 999`);
  await ask(url, `update schema_migration set checksum = 'other'`);
  await expect(openPostgresStore({ url })).rejects.toThrow('was changed after it was run');
});
