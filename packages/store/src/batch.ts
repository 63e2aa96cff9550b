/**
 * Sends several statements in one message with one Sync at the end. After an error the server skips everything up to the
 * Sync, so no statement of a transaction can run outside of it, even if its `begin` fails. With a Sync after each statement,
 * as the driver sends them, the statements after a failed `begin` would commit one by one.
 *
 * Rows are returned as the texts that the server sent: readers know their columns, and parsing by type costs twice as much.
 */
import pg from 'pg';
import type { Call } from './statement.ts';

export type Row = readonly (string | null)[];

export interface CallResult {
  readonly rows: Row[];
  /** The command tag: `COMMIT`, `UPDATE 3`. */
  tag: string;
}

/** Statements that a connection has parsed, by name. A batch that fails drops its connection, so none is ever in doubt. */
const parsedOn = new WeakMap<pg.Connection, Set<string>>();

interface BatchOptions {
  readonly named: boolean;
  readonly done: (error: Error | null, results: readonly CallResult[]) => void;
}

class BatchQuery extends pg.Query {
  readonly #calls: readonly Call[];
  readonly #options: BatchOptions;
  readonly #results: CallResult[] = [];
  #current: CallResult = { rows: [], tag: '' };
  /** The driver calls it itself when a query times out or is cancelled, which is never done here. */
  readonly callback: () => void = () => {};

  constructor(calls: readonly Call[], options: BatchOptions) {
    super({ text: '' });
    this.#calls = calls;
    this.#options = options;
  }

  override submit = (connection: pg.Connection): null => {
    connection.stream.cork();
    try {
      for (const { statement, values } of this.#calls) {
        const name = this.#options.named ? statement.name : '';
        if (name === '' || firstUse(connection, name))
          connection.parse({ name, text: statement.text, types: [] }, true);
        connection.bind({ statement: name, values: values.map(toWire) }, true);
        connection.execute(null, true);
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  };

  handleRowDescription(): void {}

  handleDataRow(message: { fields: Row }): void {
    this.#current.rows.push(message.fields);
  }

  handleCommandComplete(message: { text: string }): void {
    this.#current.tag = message.text;
    this.#results.push(this.#current);
    this.#current = { rows: [], tag: '' };
  }

  handleEmptyQuery(): void {}

  handleError(error: Error): void {
    this.#options.done(error, []);
  }

  handleReadyForQuery(): void {
    this.#options.done(null, this.#results);
  }
}

function firstUse(connection: pg.Connection, name: string): boolean {
  let parsed = parsedOn.get(connection);
  if (parsed === undefined) {
    parsed = new Set();
    parsedOn.set(connection, parsed);
  }
  if (parsed.has(name)) return false;
  parsed.add(name);
  return true;
}

function toWire(value: Call['values'][number]): Buffer | string | null {
  return value === null || Buffer.isBuffer(value) ? value : String(value);
}

/** Sends the calls. Resolves with one result for each; a failed batch leaves the connection unusable: drop it. */
export function runBatch(client: pg.Client, calls: readonly Call[], named: boolean): Promise<readonly CallResult[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new BatchQuery(calls, { named, done: (error, results) => (error === null ? resolve(results) : reject(error)) }),
    );
  });
}
