/**
 * Writes to the user's own PostgreSQL that happen once, however often the task is retried: a row keyed by the effect key is
 * part of the same transaction as the writes. A second attempt finds the row, writes nothing, and gets the result of the
 * first.
 */
import type { HandlerContext } from '../handler.ts';
import { keyOf } from './effect-fetch.ts';

/** What is needed of a client: that of `pg` fits, and one of its pool after `pool.connect()`. */
export interface OutboxClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

export interface OutboxOptions {
  /** Names this effect among several of the same task. */
  readonly step?: string;
  /** Where the rows are: `signalbox_effect` unless told; a schema may come before it. */
  readonly table?: string;
  /** Asks the server first whether this attempt still holds the task. */
  readonly assertOwned?: boolean;
}

type Caller = Pick<HandlerContext, 'effectKey' | 'fence' | 'assertOwned'>;

const TABLE = 'signalbox_effect';
const TABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$/;

/** The statement that makes the table, for your own migrations. */
export const outboxTable = (table: string = TABLE): string => `create table if not exists ${named(table)} (
  key text primary key,
  -- Of the attempt that did it.
  fence bigint not null,
  result json,
  at timestamptz not null default clock_timestamp()
)`;

/** Makes the table unless it is there. */
export async function createOutbox(client: OutboxClient, { table }: Pick<OutboxOptions, 'table'> = {}): Promise<void> {
  await client.query(outboxTable(table));
}

/**
 * Runs `effect` in a transaction of its own, once for the task. What it returns, which must be JSON or nothing, is stored, and is what
 * each later attempt gets. What it throws undoes all of it.
 *
 * @example
 * const { id } = await withOutbox(ctx, client, async (tx) => {
 *   const { rows } = await tx.query('insert into payment (cents) values ($1) returning id', [500]);
 *   return rows[0];
 * });
 */
export async function withOutbox<T, Client extends OutboxClient>(
  context: Caller,
  client: Client,
  effect: (client: Client) => Promise<T>,
  options: OutboxOptions = {},
): Promise<T> {
  refusePool(client);
  await client.query('begin');
  try {
    const result = await once(context, client, effect, options);
    await client.query('commit');
    return result;
  } catch (error) {
    // Whatever is wrong with the connection, the first error says more.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** The same within a transaction that you have begun, and end yourself. */
export async function once<T, Client extends OutboxClient>(
  context: Caller,
  client: Client,
  effect: (client: Client) => Promise<T>,
  { step, table = TABLE, assertOwned = false }: OutboxOptions = {},
): Promise<T> {
  const key = keyOf(context, step);
  if (assertOwned) await context.assertOwned();
  // Of two at once the second waits here until the first one's transaction is over.
  const made = await client.query(
    `insert into ${named(table)} (key, fence) values ($1, $2) on conflict (key) do nothing returning key`,
    [key, context.fence],
  );
  if (made.rows.length === 0) return stored<T>(client, table, key);
  const result = await effect(client);
  const text = result === undefined ? null : JSON.stringify(result);
  await client.query(`update ${named(table)} set result = $2 where key = $1`, [key, text]);
  return (text === null ? undefined : JSON.parse(text)) as T;
}

async function stored<T>(client: OutboxClient, table: string, key: string): Promise<T> {
  const { rows } = await client.query(`select result::text as result from ${named(table)} where key = $1`, [key]);
  const [row] = rows as { readonly result: string | null }[];
  if (row === undefined)
    throw new Error(`The effect ${key} was done by another attempt and is not visible yet. Try again.`);
  return (row.result === null ? undefined : JSON.parse(row.result)) as T;
}

function named(table: string): string {
  if (TABLE_NAME.test(table)) return table;
  throw new TypeError(`"${table}" is not a valid table name; use one such as ${TABLE}, or myschema.${TABLE}.`);
}

/** Each statement of a pool may go to another connection: nothing of it would be in the transaction. */
function refusePool(client: OutboxClient): void {
  if ('totalCount' in client && 'idleCount' in client) {
    throw new TypeError('withOutbox needs a client, not a pool. Pass the result of pool.connect().');
  }
}
