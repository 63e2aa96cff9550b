/**
 * Migrations: numbered files, forward only, one transaction each, under a lock that one process holds at a time. A migration
 * that is interrupted leaves nothing behind and runs again. A file that was applied never changes: its checksum is stored
 * (I63).
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

const FOLDER = new URL('../migrations/', import.meta.url);
const MIGRATION_LOCK = 7_331_001;
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

export interface Migration {
  readonly no: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

export class SchemaError extends Error {
  override name = 'SchemaError';
}

export async function readMigrations(folder: URL = FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      return { no: Number(name.slice(0, 4)), name, text, checksum };
    }),
  );
}

/** Brings the database to the schema of this version. Several processes may do so at once. Returns the names of those that this call ran. */
export async function migrate(url: string, migrations?: readonly Migration[]): Promise<string[]> {
  const known = migrations ?? (await readMigrations());
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // whatever was under way rejects by itself
  await client.connect();
  const ran: string[] = [];
  try {
    await inMigration(client, async () => {
      await client.query(`create table if not exists schema_migration (
        no integer primary key, name text not null, checksum text not null, at timestamptz not null default clock_timestamp())`);
    });
    for (const migration of known) {
      await inMigration(client, async () => {
        const applied = await readApplied(client);
        assertKnown(applied, known);
        if (applied.has(migration.no)) return;
        await apply(client, migration);
        ran.push(migration.name);
      });
    }
    return ran;
  } finally {
    await client.end();
  }
}

/** Refuses a database that was not migrated to this version's schema, or is beyond it. */
export function assertSchema(applied: ReadonlyMap<number, string>, known: readonly Migration[]): void {
  assertKnown(applied, known);
  const missing = known.find(({ no }) => !applied.has(no));
  if (missing !== undefined) {
    throw new SchemaError(
      `The database lacks migration ${missing.name}: run the migrations before starting the server.`,
    );
  }
}

function assertKnown(applied: ReadonlyMap<number, string>, known: readonly Migration[]): void {
  const byNo = new Map(known.map((migration) => [migration.no, migration]));
  for (const [no, checksum] of applied) {
    const migration = byNo.get(no);
    if (migration === undefined) {
      throw new SchemaError(
        `The database has migration ${no}, this version knows ${known.length}: it was migrated by a newer version. Upgrade this node.`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new SchemaError(`Migration ${migration.name} was changed after it was run on this database.`);
    }
  }
}

async function readApplied(client: pg.Client): Promise<Map<number, string>> {
  const { rows } = await client.query<{ no: number; checksum: string }>('select no, checksum from schema_migration');
  return new Map(rows.map(({ no, checksum }) => [no, checksum]));
}

async function apply(client: pg.Client, { no, name, text, checksum }: Migration): Promise<void> {
  await client.query(text);
  await client.query('insert into schema_migration (no, name, checksum) values ($1, $2, $3)', [no, name, checksum]);
}

async function inMigration(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await work();
    const { command } = await client.query('commit');
    if (command !== 'COMMIT') throw new Error(`A migration ended with ${command}.`);
  } catch (error) {
    await client.query('rollback').catch(() => {}); // the connection may be what failed
    throw error;
  }
}
