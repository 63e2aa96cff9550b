/** The database of a server: the one it was given, or its own, which it starts and, as the last one out, stops. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startPostgres } from '@signalbox/postgres';
import { migrate, type PostgresStore } from '@signalbox/store';
import type { ServerConfig } from './config.ts';
import type { Tell } from './log.ts';

export interface ServerDatabase {
  readonly url: string;
  /** `store` is null when the server did not come so far as to open one. */
  leave(store: PostgresStore | null): Promise<boolean>;
  stop(): Promise<void>;
}

const WAIT_MS = 30_000;
const RETRY_MS = 500;
/** Not there yet, or starting; anything else would be the same in half a minute. */
const MAY_COME = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  '57P03',
  '53300',
]);

export async function openDatabase(config: ServerConfig, tell: Tell): Promise<ServerDatabase> {
  const { databaseUrl } = config;
  if (databaseUrl !== null) {
    return { url: databaseUrl, leave: async () => false, stop: async () => undefined };
  }
  const postgres = await startPostgres({ dataDir: join(config.dataDir, 'pg18'), log: (line) => tell('info', line) });
  return {
    url: postgres.url,
    leave: async (store) => {
      if (store === null) return !postgres.adopted;
      // Who can't see whether others are there leaves it running: it may outlive us, which is fine.
      return store.observe().then(
        ({ nodes }) => nodes.length === 0,
        () => false,
      );
    },
    stop: () => postgres.stop(),
  };
}

/** Migrates, and waits for a while if the database is not there yet: after a power cut all start at the same time. */
export async function migrateWhenThere(url: string, tell: Tell): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (let isTold = false; ; isTold = true) {
    try {
      return await migrate(url);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (typeof code !== 'string' || !MAY_COME.has(code) || performance.now() > until) throw error;
      if (!isTold) tell('warn', 'The database is not there yet; waiting for it.', { error: String(error) });
      await pause(RETRY_MS);
    }
  }
}
