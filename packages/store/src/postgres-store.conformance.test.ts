import { createDatabase, startTestPostgres } from '@signalbox/postgres/testing';
import pg from 'pg';
import { afterAll } from 'vitest';
import { type Held, type HoldPoint, type StoreSubject, storeConformance } from './conformance/index.ts';
import { PostgresProxy } from './conformance/proxy.ts';
import { migrate } from './migrate.ts';
import type { Store } from './port.ts';
import { openPostgresStore, type PostgresStore } from './postgres-store.ts';

const server = await startTestPostgres();
afterAll(() => server.stop());

/** Each store has a proxy of its own between itself and the one database of the subject. */
class PostgresSubject implements StoreSubject {
  readonly #url: string;
  readonly #opened = new Map<Store, { store: PostgresStore; proxy: PostgresProxy }>();

  constructor(url: string) {
    this.#url = url;
  }

  async open(): Promise<Store> {
    const proxy = await PostgresProxy.start({ path: `${server.socketDir}/.s.PGSQL.${server.port}` });
    const url = new URL(this.#url.replace('@/', '@127.0.0.1/'));
    url.search = '';
    url.port = String(proxy.port);
    const store = await openPostgresStore({ url: url.href });
    this.#opened.set(store, { store, proxy });
    return store;
  }

  async hold(store: Store, point: HoldPoint): Promise<Held> {
    const opened = this.#opened.get(store);
    if (opened === undefined) throw new Error('this store is not of this subject');
    return opened.proxy.hold(point);
  }

  async waitingForLock(): Promise<number> {
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::integer as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    await client.end();
    return rows[0]?.count ?? 0;
  }

  async restartDatabase(): Promise<void> {
    await server.restart();
  }

  async close(): Promise<void> {
    for (const { store, proxy } of this.#opened.values()) {
      await proxy.stop();
      await store.close();
    }
  }
}

storeConformance('postgres', async () => {
  const url = await createDatabase(server);
  await migrate(url);
  return new PostgresSubject(url);
});
