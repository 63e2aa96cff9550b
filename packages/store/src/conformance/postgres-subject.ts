/**
 * The PostgreSQL store as the suite needs it: one real server per test file, a fresh database per test, copied from one that
 * was migrated once, and a proxy between each store and its database.
 */
import { createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import pg from 'pg';
import { migrate } from '../migrate.ts';
import type { Store } from '../port.ts';
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from '../postgres-store.ts';
import { PostgresProxy } from './proxy.ts';
import type { Held, HoldPoint, StoreSubject } from './subject.ts';

type OpenOptions = Pick<PostgresStoreOptions, 'now' | 'preparedStatements'>;

const TEMPLATE = 'conformance_template';

export class PostgresSubjects {
  readonly #server: TestPostgres;
  readonly #templateUrl: string;
  #count = 0;

  private constructor(server: TestPostgres, templateUrl: string) {
    this.#server = server;
    this.#templateUrl = templateUrl;
  }

  static async start(): Promise<PostgresSubjects> {
    const server = await startTestPostgres();
    const templateUrl = await createDatabase(server, TEMPLATE);
    await migrate(templateUrl);
    // Makes the partitions of these days, so that no copy has to.
    await (await openPostgresStore({ url: templateUrl })).close();
    return new PostgresSubjects(server, templateUrl);
  }

  /** `sql` is run in the new database before any store is opened: for databases that are broken on purpose. */
  async subject(sql = '', options: OpenOptions = {}): Promise<PostgresSubject> {
    const name = `conformance_${++this.#count}`;
    await query(this.#server.url, `create database ${name} template ${TEMPLATE}`);
    const url = this.#templateUrl.replace(`/${TEMPLATE}?`, `/${name}?`);
    if (sql !== '') await query(url, sql);
    return new PostgresSubject({ server: this.#server, name, url, options });
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

class PostgresSubject implements StoreSubject {
  /** Past the proxy, for a look from outside. */
  readonly url: string;
  readonly #server: TestPostgres;
  readonly #name: string;
  readonly #options: OpenOptions;
  readonly #opened = new Map<Store, { store: PostgresStore; proxy: PostgresProxy }>();

  constructor({
    server,
    name,
    url,
    options,
  }: { server: TestPostgres; name: string; url: string; options: OpenOptions }) {
    this.#server = server;
    this.#name = name;
    this.#options = options;
    this.url = url;
  }

  async open(options: OpenOptions = {}): Promise<Store> {
    const proxy = await PostgresProxy.start({ path: `${this.#server.socketDir}/.s.PGSQL.${this.#server.port}` });
    const { username } = new URL(this.url.replace('@/', '@localhost/'));
    const url = `postgresql://${username}@127.0.0.1:${proxy.port}/${this.#name}`;
    const store = await openPostgresStore({ url, ...this.#options, ...options });
    this.#opened.set(store, { store, proxy });
    return store;
  }

  async hold(store: Store, point: HoldPoint): Promise<Held> {
    const opened = this.#opened.get(store);
    if (opened === undefined) throw new Error('this store is not of this subject');
    return opened.proxy.hold(point);
  }

  async waitingForLock(): Promise<number> {
    const rows = await query(
      this.url,
      `select count(*)::integer as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return Number(rows[0]?.count);
  }

  restartDatabase(): Promise<void> {
    return this.#server.restart();
  }

  async close(): Promise<void> {
    for (const { store, proxy } of this.#opened.values()) {
      await proxy.stop();
      await store.close();
    }
    await query(this.#server.url, `drop database ${this.#name} with (force)`);
  }
}

async function query(url: string, sql: string): Promise<{ [column: string]: unknown }[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // what is under way rejects by itself
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
