import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Account, nameOfSelf } from './account.ts';
import { type Binaries, MAJOR, remedyForRun } from './binaries.ts';
import { PostgresError } from './error.ts';
import { runAs } from './run.ts';

/** The role that owns everything in an embedded server. */
export const ROLE = 'signalbox';

const ABANDONED_AFTER_MS = 600_000;

/** Makes sure that there is an initialised data folder of our major version. */
export async function ensureCluster(cluster: {
  dataDir: string;
  account: Account;
  binaries: Binaries;
  log?: (line: string) => void;
}): Promise<void> {
  const { dataDir, account, log = () => {} } = cluster;
  const major = await majorOf(dataDir);
  if (major === MAJOR) return;
  if (major !== undefined) {
    throw new PostgresError(
      `The folder ${dataDir} holds data of PostgreSQL ${major}, and this is PostgreSQL ${MAJOR}.`,
      `Name another folder, or run PostgreSQL ${major} on it yourself and give DATABASE_URL.`,
    );
  }
  const foreign = await readdir(dataDir).catch(() => []);
  if (foreign.length > 0) {
    throw new PostgresError(
      `The folder ${dataDir} is not empty, and holds no PostgreSQL data.`,
      'Name another folder.',
    );
  }
  log(`PostgreSQL ${MAJOR} is being set up in ${dataDir}; this is done once`);
  await mkdir(dirname(dataDir), { recursive: true, mode: 0o755 });
  await removeAbandonedDrafts(dataDir);
  const draft = `${dataDir}.init-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(draft, { mode: 0o700 });
    if (account.drop) await chown(draft, account.drop.uid, account.drop.gid);
    await initialise({ ...cluster, dataDir: draft });
    await publish(draft, dataDir);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Runs `initdb` in an empty folder. `throwAway` is for tests: nothing is forced to disk and loopback connections are trusted. */
export async function initialise(cluster: {
  dataDir: string;
  account: Account;
  binaries: Binaries;
  throwAway?: boolean;
}): Promise<void> {
  const { dataDir, account, binaries, throwAway = false } = cluster;
  assertKnownUser(account);
  const { exitCode, output } = await runAs(account, binaries.initdb, [
    `--pgdata=${dataDir}`,
    `--username=${ROLE}`,
    // Whoever can reach the socket, in a folder of mode 0700, is the owner or root. Nobody has a password, so nobody comes in by
    // TCP, even when somebody opens it in postgresql.conf.
    '--auth-local=trust',
    `--auth-host=${throwAway ? 'trust' : 'scram-sha-256'}`,
    '--encoding=UTF8',
    '--locale=C', // sorts the same on every machine, and needs no locales installed
    ...(throwAway ? ['--no-sync', '--wal-segsize=1'] : []),
  ]).catch((error: Error) => ({ exitCode: -1, output: error.message }));
  if (exitCode === 0) return;
  const remedy = output.includes('ermission denied')
    ? `The account ${account.name} must be able to enter ${dirname(dataDir)} and the folders above it; name another folder otherwise.`
    : remedyForRun();
  const complaints = output.split('\n').filter((line) => /error|fatal|denied|detail|hint/i.test(line));
  throw new PostgresError(`PostgreSQL could not set up ${dataDir}: ${complaints.join('\n') || output.trim()}.`, remedy);
}

/** A folder in the middle of `initdb` looks like a cluster but is none; so it gets its name only when it is complete. */
async function publish(draft: string, dataDir: string): Promise<void> {
  try {
    await rename(draft, dataDir);
  } catch (error) {
    if ((await majorOf(dataDir)) === MAJOR) return; // another start was quicker; ours is thrown away
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EBUSY' && code !== 'EXDEV') throw error;
    throw new PostgresError(
      `The folder ${dataDir} is a mount point.`,
      `Name a folder inside it, such as ${join(dataDir, `pg${MAJOR}`)}.`,
    );
  }
  // A rename lives in the parent folder. Without this a power cut could leave data behind that later commits were promised to be in.
  const parent = await open(dirname(dataDir), 'r');
  await parent.sync().finally(() => parent.close());
}

async function majorOf(dataDir: string): Promise<string | undefined> {
  const version = await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return version?.trim();
}

/** What starts leave behind that were killed within `initdb`, which takes about a second. By age, as their process ids mean nothing after a restart of the container. */
async function removeAbandonedDrafts(dataDir: string): Promise<void> {
  const parent = dirname(dataDir);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(dataDir)}.init-`)) continue;
    const draft = join(parent, name);
    const made = await stat(draft).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > ABANDONED_AFTER_MS)
      await rm(draft, { recursive: true, force: true });
  }
}

function assertKnownUser(account: Account): void {
  if (account.drop !== undefined || nameOfSelf() !== undefined) return;
  throw new PostgresError(
    `This process runs as ${account.name}, which has no name on this system, and PostgreSQL's initdb insists on one.`,
    `Run as a user that is in /etc/passwd, or add one (useradd --uid ${account.uid} signalbox), or give DATABASE_URL.`,
  );
}
