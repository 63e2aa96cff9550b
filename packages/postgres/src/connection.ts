import pg from 'pg';
import { ROLE } from './cluster.ts';

/** Where a server listens. */
export type Address = { socketDir: string; port: number };

/** The database that Signalbox lives in. */
export const DATABASE = 'signalbox';

const DEFAULT_PORT = 5432;
/** A server that is frozen takes connections and never answers. */
const ANSWER_WITHIN_MS = 5_000;
const CREATE_WITHIN_MS = 120_000;
const DUPLICATE_DATABASE = new Set(['42P04', '23505']); // the second: two who create it at the same moment

/** A connection string as `pg` and libpq understand it. */
export function connectionUrl({ socketDir, port }: Address, database: string = DATABASE): string {
  const portPart = port === DEFAULT_PORT ? '' : `&port=${port}`;
  return `postgresql://${ROLE}@/${encodeURIComponent(database)}?host=${encodeURIComponent(socketDir)}${portPart}`;
}

/** Asks the server which folder it works on; a server that is not up yet rejects. */
export async function askDataDir(address: Address): Promise<string> {
  return withClient(address, ANSWER_WITHIN_MS, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory ?? '';
  });
}

/** Creates the database unless it exists, with the contents of `template`: PostgreSQL's own, empty one unless another is named. */
export async function ensureDatabase(
  address: Address,
  database: string = DATABASE,
  template: string = 'template1',
): Promise<void> {
  await withClient(address, CREATE_WITHIN_MS, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    if (rowCount === 0) await createDatabaseWith(client, database, template);
  });
}

async function createDatabaseWith(client: pg.Client, database: string, template: string): Promise<void> {
  const [name, source] = [database, template].map((one) => pg.escapeIdentifier(one));
  await client.query(`create database ${name} template ${source}`).catch((error: { code?: string }) => {
    if (!DUPLICATE_DATABASE.has(error.code ?? '')) throw error;
  });
}

async function withClient<T>(
  { socketDir, port }: Address,
  answerWithinMs: number,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    host: socketDir,
    port,
    user: ROLE,
    database: 'postgres',
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: answerWithinMs,
  });
  client.on('error', () => {}); // the statement that is under way rejects; without a listener the process would end
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
