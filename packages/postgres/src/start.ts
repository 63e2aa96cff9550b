import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { chooseAccount, homeFolder } from './account.ts';
import { findBinaries, MAJOR, postgresVersion } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { connectionUrl, ensureDatabase } from './connection.ts';
import { PostgresError } from './error.ts';
import { bringUp } from './postmaster.ts';
import { serverSettings } from './settings.ts';
import { socketFolder } from './socket-folder.ts';
import { isRunning, stopPostmaster } from './stop.ts';

export type StartOptions = {
  /** PostgreSQL's own folder. Default: `pg18` in `/var/lib/signalbox` for root, in `$XDG_DATA_HOME/signalbox` for others. */
  dataDir?: string;
  /** The operating-system account to run as. Only root can choose; default: `signalbox`, `postgres`, a new `signalbox`, `nobody`. */
  user?: string;
  /** `false` trades safety against power cuts for speed; a crash of the process alone still loses nothing. Default: true. */
  durable?: boolean;
  /** Settings as in `postgresql.conf`. They apply to a server that is started, not to one that is adopted. */
  settings?: Readonly<Record<string, string>>;
  /** Told what happens, a line at a time. */
  log?: (line: string) => void;
};

export type RunningPostgres = {
  /** A connection string for `pg` and libpq, to the database `signalbox`. */
  readonly url: string;
  readonly socketDir: string;
  readonly dataDir: string;
  /** Of the postmaster. */
  readonly pid: number;
  /** Whether it was already running on the folder. */
  readonly adopted: boolean;
  /** Whether its process still lives. */
  isRunning(): boolean;
  /** Ends all sessions and the server, also an adopted one. */
  stop(): Promise<void>;
};

const PORT = 5432; // names the socket; nothing listens on TCP

/**
 * Starts the embedded server on a folder, or adopts the one that runs there.
 *
 * @example
 * const postgres = await startPostgres({ dataDir: '/srv/signalbox/pg18' });
 * const pool = new pg.Pool({ connectionString: postgres.url });
 */
export async function startPostgres(options: StartOptions = {}): Promise<RunningPostgres> {
  if (process.platform === 'win32') {
    throw new PostgresError('The embedded PostgreSQL does not run on Windows yet.', 'Give DATABASE_URL, or use WSL.');
  }
  const { durable = true, settings = {}, log = () => {} } = options;
  const wanted = resolve(options.dataDir ?? join(homeFolder(), `pg${MAJOR}`));
  const dataDir = await realpath(wanted).catch(() => wanted); // a new folder cannot be renamed over a symbolic link
  const account = chooseAccount({ user: options.user, dataDir });
  const binaries = await findBinaries(account);
  await ensureCluster({ dataDir, account, binaries, log });
  const socketDir = await socketFolder({ dataDir, port: PORT, account });
  const up = await bringUp({
    dataDir,
    socketDir,
    port: PORT,
    account,
    binaries,
    settings: serverSettings({ socketDir, port: PORT, durable, settings }),
  });
  await ensureDatabase(up);
  log(
    `PostgreSQL ${postgresVersion(binaries.version)} (process ${up.pid}) ${up.adopted ? 'was already running' : 'started'} on ${dataDir}`,
  );
  return {
    url: connectionUrl(up),
    socketDir: up.socketDir,
    dataDir,
    pid: up.pid,
    adopted: up.adopted,
    isRunning: () => isRunning({ pid: up.pid, dataDir }),
    stop: async () => {
      await stopPostmaster({ pid: up.pid, dataDir });
      log(`PostgreSQL (process ${up.pid}) stopped`);
    },
  };
}
