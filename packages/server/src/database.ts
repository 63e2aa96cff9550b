/** The database of a server: the one that it was given, or its own, which it starts. The last server that uses it stops it. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type RunningPostgres, startPostgres } from '@signalbox/postgres';
import { migrate, type PostgresStore } from '@signalbox/store';
import type { ServerConfig } from './config.ts';
import type { Tell } from './log.ts';
import { systemClock } from './ports/clock.ts';

interface ServerDatabase {
  readonly url: string;
  /** `store` is null when the server did not come so far as to open one. */
  leave(store: PostgresStore | null): Promise<boolean>;
  stop(): Promise<void>;
}

const WAIT_MS = 30_000;
const RETRY_MS = 500;
/** Longer than a shard's lease. */
const DEAD_MS = 4_000;
const LOOK_MS = 1_000;
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
  const postgres = await keepRunning(join(config.dataDir, 'pg18'), tell);
  return {
    url: postgres.url,
    leave: async (store) => {
      postgres.letBe();
      if (store === null) return !postgres.adopted;
      // Who can't see whether others are there leaves it running: it may outlive us, which is fine.
      return isAlone(store).catch(() => false);
    },
    stop: () => postgres.stop(),
  };
}

/** A server that was killed has left its name behind; one that lives raises its beat each second (D5). */
async function isAlone(store: PostgresStore): Promise<boolean> {
  const { nodes: before } = await store.observe();
  if (before.length === 0) return true;
  const beats = new Map(before.map(({ nodeId, beat }) => [nodeId, beat]));
  for (let lookedMs = 0; lookedMs < DEAD_MS; lookedMs += RETRY_MS) {
    await pause(RETRY_MS);
    const { nodes } = await store.observe();
    if (nodes.length === 0) return true;
    if (nodes.some(({ nodeId, beat }) => beats.get(nodeId) !== beat)) return false;
  }
  return true;
}

interface Kept extends Pick<RunningPostgres, 'url' | 'adopted' | 'stop'> {
  /** From now on it is not started again. */
  letBe(): void;
}

/** The embedded PostgreSQL, started again at the same address should it end by itself: killed for memory, for instance. */
async function keepRunning(dataDir: string, tell: Tell): Promise<Kept> {
  const start = () => startPostgres({ dataDir, log: (line) => tell('info', line) });
  let postgres = await start();
  let restart: Promise<void> | null = null;
  const look = setInterval(() => {
    if (restart !== null || postgres.isRunning()) return;
    tell('warn', 'PostgreSQL has ended by itself; it is started again.', { dataDir });
    restart = start()
      .then((again) => {
        postgres = again;
      })
      .catch((error: unknown) => tell('error', 'PostgreSQL could not be started again.', { error: String(error) }))
      .finally(() => {
        restart = null;
      });
  }, LOOK_MS).unref();
  return {
    url: postgres.url,
    adopted: postgres.adopted,
    letBe: () => clearInterval(look),
    stop: async () => {
      clearInterval(look);
      await restart;
      await postgres.stop();
    },
  };
}

/** Migrates, and waits for a while if the database is not there yet: after a power cut all start at the same time. */
export async function migrateWhenThere(url: string, tell: Tell): Promise<string[]> {
  const until = systemClock.mono() + WAIT_MS;
  for (let isTold = false; ; isTold = true) {
    try {
      return await migrate(url);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (typeof code !== 'string' || !MAY_COME.has(code) || systemClock.mono() > until) throw error;
      if (!isTold) tell('warn', 'The database is not there yet; waiting for it.', { error: String(error) });
      await pause(RETRY_MS);
    }
  }
}
