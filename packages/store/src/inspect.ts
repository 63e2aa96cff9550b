/** Describes a database from outside, for people who look for the cause of a problem. Changes nothing. */
import pg from 'pg';
import { readMigrations } from './migrate.ts';

export interface DatabaseInspection {
  /** Such as `18.4`. */
  readonly version: string;
  readonly versionNumber: number;
  readonly fsync: boolean;
  readonly synchronousCommit: string;
  readonly isReadOnly: boolean;
  readonly maxConnections: number;
  readonly connections: number;
  /** How far the database's clock is ahead of this machine's; half the way there and back is taken off. */
  readonly clockAheadMs: number;
  /** Names of migrations: run here, and known to this version. */
  readonly applied: readonly string[];
  readonly known: readonly string[];
  /** Whether the account may make tables where its own go. */
  readonly mayCreate: boolean;
}

const ANSWER_WITHIN_MS = 5_000;

export async function inspectDatabase(url: string): Promise<DatabaseInspection> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
  });
  client.on('error', () => {}); // what was under way rejects by itself
  await client.connect();
  try {
    return { ...(await askSettings(client)), ...(await askMigrations(client)), clockAheadMs: await askClock(client) };
  } finally {
    await client.end();
  }
}

async function askSettings(client: pg.Client) {
  const { rows } = await client.query<{
    version: string;
    number: number;
    fsync: string;
    synchronous_commit: string;
    is_read_only: boolean;
    max_connections: number;
    connections: number;
    may_create: boolean;
  }>(`select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
             current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
             pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_read_only,
             current_setting('max_connections')::integer as max_connections,
             (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as connections,
             coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create`);
  const [row] = rows;
  if (row === undefined) throw new Error('The database gave no answer.');
  return {
    version: row.version.split(' ')[0] ?? row.version,
    versionNumber: row.number,
    fsync: row.fsync === 'on',
    synchronousCommit: row.synchronous_commit,
    isReadOnly: row.is_read_only,
    maxConnections: row.max_connections,
    connections: row.connections,
    mayCreate: row.may_create,
  };
}

async function askMigrations(client: pg.Client) {
  const known = (await readMigrations()).map(({ name }) => name);
  const { rows } = await client.query<{ found: string | null }>(`select to_regclass('schema_migration') as found`);
  if (rows[0]?.found == null) return { applied: [], known };
  const { rows: applied } = await client.query<{ name: string }>('select name from schema_migration order by no');
  return { applied: applied.map(({ name }) => name), known };
}

async function askClock(client: pg.Client): Promise<number> {
  const sentAt = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  );
  const answeredAt = Date.now();
  return Math.round((rows[0]?.ms ?? answeredAt) - (sentAt + answeredAt) / 2);
}
