/**
 * Connections. They keep no session state, so a transaction pooler can sit in between. A batch that fails closes its
 * connection, whatever the error was. A server that is a standby or read-only is refused when a connection is made (I60).
 */
import pg from 'pg';
import { type CallResult, runBatch } from './batch.ts';
import { type Call, call, statement } from './statement.ts';

export type Log = (level: 'info' | 'warn', message: string, details?: Record<string, unknown>) => void;

interface DatabaseOptions {
  readonly url: string;
  /** False behind a pooler that does not carry named statements. */
  readonly preparedStatements: boolean;
  readonly log: Log;
  /** For a connection, and again for its turn in the pool. */
  readonly connectTimeoutMs: number;
  /** A read that is not answered within it fails, and its connection is dropped. Commits have no such limit. */
  readonly answerTimeoutMs: number;
  readonly maxConnections: number;
  /** For each statement of a snapshot, on the server's side; the edge sets it, loads do not. */
  readonly statementTimeoutMs?: number;
}

class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError';
}

const begin = statement('begin_write', 'begin isolation level read committed read write');
const beginSnapshot = statement('begin_snapshot', 'begin isolation level repeatable read read only');
const commit = statement('commit', 'commit');
const setStatementTimeout = statement(
  'set_statement_timeout',
  `select set_config('statement_timeout', $1::text, true)`,
);
const askWritable = statement(
  'ask_writable',
  `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean`,
);

/**
 * Sent before statements that join arrays of unknown length to large tables: without it the planner may read the whole
 * partition, above all while a table is fresh and nothing is known of it.
 */
export const holdToIndexes = call(
  statement(
    'hold_to_indexes',
    `
  select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`,
  ),
);

/** Sent before a statement that reads a page in the order of an index: else the planner may read all of it and sort, for a fresh table. */
export const holdToOrder = call(
  statement(
    'hold_to_order',
    `select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
  ),
);

interface SnapshotOptions {
  readonly timeoutMs?: number;
  /** False for a read that begins with a pass over a whole table, and sends `holdToIndexes` itself. */
  readonly held?: boolean;
}

/** Reads within one snapshot. With `last` the snapshot ends with this batch, in the same round trip. */
export type Ask = (calls: readonly Call[], options?: { last: boolean }) => Promise<readonly CallResult[]>;

export class Database {
  readonly options: DatabaseOptions;
  readonly #pool: pg.Pool;
  #isClosed = false;

  constructor(options: DatabaseOptions) {
    this.options = options;
    this.#pool = new pg.Pool({
      ...clientConfig(options),
      max: options.maxConnections,
      idleTimeoutMillis: 30_000,
      verify: (client, done) => {
        this.#refuseReadOnly(client).then(() => done(), done);
      },
    });
    this.#pool.on('error', (error) => {
      if (!this.#isClosed) options.log('warn', 'an idle connection was lost', { error: error.message });
    });
  }

  /** Statements without an explicit transaction: PostgreSQL runs everything before the Sync in one. */
  run(calls: readonly Call[]): Promise<readonly CallResult[]> {
    return this.#withClient((client) => this.#answer(client, calls));
  }

  async one(statementCall: Call): Promise<CallResult> {
    const [result] = await this.run([statementCall]);
    if (result === undefined) throw new Error(`${statementCall.statement.name} gave no result.`);
    return result;
  }

  /** A transaction that writes, in one round trip. Rejects unless it really was committed. */
  async write(calls: readonly Call[], timeoutMs?: number): Promise<readonly CallResult[]> {
    const results = await this.#withClient((client) =>
      this.#answer(client, [call(begin), ...calls, call(commit)], timeoutMs),
    );
    assertCommitted(results);
    return results.slice(1, -1);
  }

  /** Several reads of the same instant. */
  async snapshot<T>(read: (ask: Ask) => Promise<T>, options: SnapshotOptions = {}): Promise<T> {
    return this.#withClient(async (client) => {
      let state: 'before' | 'open' | 'ended' = 'before';
      const ask: Ask = async (calls, { last } = { last: false }) => {
        const opening = state === 'before' ? this.#opening(options.held ?? true) : [];
        state = last ? 'ended' : 'open';
        const all = [...opening, ...calls, ...(last ? [call(commit)] : [])];
        const results = await this.#answer(client, all, options.timeoutMs);
        return results.slice(opening.length, last ? -1 : undefined);
      };
      const answer = await read(ask);
      // A function sets `state`, which the checker does not follow.
      if ((state as string) === 'open') await this.#answer(client, [call(commit)]);
      return answer;
    });
  }

  /** A connection outside the pool, for a chain. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client(clientConfig(this.options));
    client.on('error', (error) => this.options.log('warn', 'a connection was lost', { error: error.message }));
    await client.connect();
    try {
      await this.#refuseReadOnly(client);
    } catch (error) {
      dropClient(client);
      throw error;
    }
    return client;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.end();
  }

  #opening(held: boolean): Call[] {
    const { statementTimeoutMs } = this.options;
    const calls = [call(beginSnapshot)];
    if (statementTimeoutMs !== undefined) calls.push(call(setStatementTimeout, `${statementTimeoutMs}ms`));
    if (held) calls.push(holdToIndexes);
    return calls;
  }

  async #withClient<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    client.on('error', ignore);
    try {
      const answer = await use(client);
      client.off('error', ignore);
      client.release();
      return answer;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async #answer(client: pg.Client, calls: readonly Call[], timeoutMs = this.options.answerTimeoutMs) {
    const timer = setTimeout(() => {
      client.connection.stream.destroy(new Error(`The database gave no answer within ${timeoutMs} ms.`));
    }, timeoutMs);
    try {
      return await runBatch(client, calls, this.options.preparedStatements);
    } finally {
      clearTimeout(timer);
    }
  }

  async #refuseReadOnly(client: pg.Client): Promise<void> {
    client.on('error', ignore);
    const [result] = await this.#answer(client, [call(askWritable)]);
    client.off('error', ignore);
    if (result?.rows[0]?.[0] !== 'f') {
      throw new ReadOnlyServerError('This PostgreSQL server is a standby or read-only: point the URL at the primary.');
    }
  }
}

export function assertCommitted(results: readonly CallResult[]): void {
  const tag = results.at(-1)?.tag;
  if (tag !== 'COMMIT') throw new Error(`A transaction ended with ${tag ?? 'nothing'} instead of COMMIT.`);
}

/** At once, whatever it is doing. */
export function dropClient(client: pg.Client): void {
  // It is we who end it: nobody need be told that the connection was lost.
  client.removeAllListeners('error');
  client.on('error', ignore);
  client.connection.stream.destroy();
}

export const transaction = { begin: call(begin), commit: call(commit) };

function ignore(): void {}

function clientConfig(options: DatabaseOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    pipeline: true,
    fallback_application_name: 'signalbox',
  };
}
