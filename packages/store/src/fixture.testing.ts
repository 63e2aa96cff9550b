/** For tests: a separate database with the schema, stores on it, and a node that owns shards. */
import { randomUUID } from 'node:crypto';
import { copyDatabase, createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import pg from 'pg';
import { TestNode } from './conformance/test-node.ts';
import { migrate } from './migrate.ts';
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
import { openQueries, type Queries } from './queries.ts';

export interface Fixture {
  readonly url: string;
  readonly store: PostgresStore;
  readonly queries: Queries;
  /** A node that has taken and loaded these shards. */
  node(shards: readonly number[]): Promise<TestNode>;
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const TEMPLATE = 'fixture_template';

export class Fixtures {
  readonly #server: Promise<TestPostgres> = startTestPostgres();
  readonly #opened: Fixture[] = [];
  readonly #options: Partial<PostgresStoreOptions>;
  readonly #prepare: (store: PostgresStore) => Promise<void>;
  #template: Promise<void> | null = null;

  /** `options` are those of every store. `prepare` runs once, in the database that all tests get a copy of. */
  constructor(
    options: Partial<PostgresStoreOptions> = {},
    prepare: (store: PostgresStore) => Promise<void> = async () => {},
  ) {
    this.#options = options;
    this.#prepare = prepare;
  }

  async open(more: Partial<PostgresStoreOptions> = {}): Promise<Fixture> {
    this.#template ??= this.#makeTemplate();
    await this.#template;
    const options = { ...this.#options, ...more };
    const url = await copyDatabase(await this.#server, TEMPLATE);
    const store = await openPostgresStore({ url, ...options });
    const queries = await openQueries({ url });
    const fixture: Fixture = {
      url,
      store,
      queries,
      node: async (shards) => {
        const node = new TestNode(store);
        await store.registerNode({
          nodeId: node.nodeId,
          peerAddress: randomUUID(),
          gatewayAddress: randomUUID(),
          dataAddress: '',
          version: '1.2.3',
        });
        await node.takeOver(shards);
        return node;
      },
      sql: (text, values = []) => ask(url, text, values),
      close: async () => {
        await store.close();
        await queries.close();
      },
    };
    this.#opened.push(fixture);
    return fixture;
  }

  /** A migrated database with its partitions: a copy takes a third of the time that making them again does. */
  async #makeTemplate(): Promise<void> {
    const url = await createDatabase(await this.#server, TEMPLATE);
    await migrate(url);
    const store = await openPostgresStore({ url, ...this.#options });
    await this.#prepare(store);
    await store.close();
  }

  async emptyDatabase(): Promise<string> {
    return createDatabase(await this.#server);
  }

  async stop(): Promise<void> {
    for (const fixture of this.#opened) await fixture.close();
    await (await this.#server).stop();
  }
}

export async function ask(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
