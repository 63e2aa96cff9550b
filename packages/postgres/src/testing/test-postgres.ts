import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseAccount } from '../account.ts';
import { findBinaries } from '../binaries.ts';
import { ROLE } from '../cluster.ts';
import { connectionUrl, DATABASE, ensureDatabase } from '../connection.ts';
import { bringUp } from '../postmaster.ts';
import { serverSettings } from '../settings.ts';
import { socketFolder } from '../socket-folder.ts';
import type { RunningPostgres } from '../start.ts';
import { isRunning, stopPostmaster } from '../stop.ts';
import { freezeAll, killAll, thawAll } from './signals.ts';
import { ownFolder, throwAwayParent, unpackTemplate } from './template.ts';
import { watch } from './watchdog.ts';

export type TestPostgresOptions = {
  /** Waits for the disk, as in production. Default: false. */
  durable?: boolean;
  /** Listens on a free port of 127.0.0.1 as well; see `tcpUrl`. Default: false. */
  tcp?: boolean;
  settings?: Readonly<Record<string, string>>;
};

export type TestPostgres = RunningPostgres & {
  readonly port: number;
  /** The same database by TCP; only with the option `tcp`. Anybody on this machine can connect. */
  readonly tcpUrl: string | undefined;
  /** Kills every process of the server at once with SIGKILL. `restart` brings it back. */
  killHard(): Promise<void>;
  /** Stops the server if it runs, and starts it on the same data, socket and port. Sessions end; `url` stays, `pid` changes. */
  restart(): Promise<void>;
  /** Stops all processes of the server where they are, with SIGSTOP; connections stay open and are not answered. */
  freeze(): Promise<void>;
  thaw(): void;
};

/** Few processes and little memory, as many run beside each other; and all of it in the folder, which goes away after a kill. */
const SMALL = {
  dynamic_shared_memory_type: 'mmap',
  shared_buffers: '32MB',
  io_method: 'sync',
  max_connections: '200',
  max_wal_size: '256MB',
};

/**
 * A server of its own for a test, in a folder that goes away with it. It also goes away when the test process dies.
 *
 * @example
 * const server = await startTestPostgres();
 * afterAll(() => server.stop());
 * const pool = new pg.Pool({ connectionString: await createDatabase(server) });
 */
export async function startTestPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const { durable = false, tcp = false } = options;
  const account = chooseAccount({});
  const binaries = await findBinaries(account);
  // A durable one is for measuring and for crashes, so it lies on a real disk.
  const folder = await ownFolder(account, durable ? tmpdir() : await throwAwayParent());
  const dataDir = join(folder, 'data');
  const port = tcp ? await freePort() : 5432;
  const socketDir = await socketFolder({ dataDir, port, account });
  const watchdog = await watch(dataDir, socketDir === dataDir ? [folder] : [folder, socketDir]);
  const settings = serverSettings({ socketDir, port, durable, tcp, settings: { ...SMALL, ...options.settings } });
  const launch = { dataDir, socketDir, port, account, binaries, settings };

  try {
    await unpackTemplate({ into: dataDir, account, binaries });
    let up = await bringUp(launch);
    await ensureDatabase(up);
    const running = () => ({ pid: up.pid, dataDir });
    return {
      url: connectionUrl(up),
      tcpUrl: tcp ? `postgresql://${ROLE}@127.0.0.1:${port}/${DATABASE}` : undefined,
      socketDir,
      port,
      dataDir,
      get pid() {
        return up.pid;
      },
      adopted: false,
      isRunning: () => isRunning(running()),
      killHard: () => killAll(running()),
      freeze: () => freezeAll(running()),
      thaw: () => thawAll(running()),
      restart: async () => {
        thawAll(running());
        await stopPostmaster(running());
        up = await bringUp(launch);
      },
      stop: async () => {
        thawAll(running());
        await stopPostmaster(running(), 'SIGQUIT'); // its data is thrown away: no checkpoint
        await watchdog.release();
      },
    };
  } catch (error) {
    await watchdog.release();
    throw error;
  }
}

/** A fresh database in the server, for tests that share one. Returns its connection string. */
export async function createDatabase(
  server: Pick<TestPostgres, 'socketDir' | 'port'>,
  name: string = `test_${randomBytes(6).toString('hex')}`,
): Promise<string> {
  await ensureDatabase(server, name);
  return connectionUrl(server, name);
}

/** A fresh database with all that is in another one of the server, which nobody may be connected to. */
export async function copyDatabase(
  server: Pick<TestPostgres, 'socketDir' | 'port'>,
  template: string,
  name: string = `test_${randomBytes(6).toString('hex')}`,
): Promise<string> {
  await ensureDatabase(server, name, template);
  return connectionUrl(server, name);
}

/** Free a moment ago, which is all that can be had; PostgreSQL cannot be told to pick one. */
async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
