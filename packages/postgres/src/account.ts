import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { PostgresError } from './error.ts';

/** The operating-system account that PostgreSQL runs under. `drop` is set when it is not the one we run under ourselves. */
export type Account = { name: string; uid: number; drop?: { uid: number; gid: number } };

type PasswdEntry = { name: string; uid: number; gid: number };

/**
 * PostgreSQL refuses to run as root, and in containers root is what one usually is. So root drops to another account;
 * anybody else runs it as themselves.
 */
export function chooseAccount({ user, dataDir }: { user?: string | undefined; dataDir?: string }): Account {
  if (process.geteuid?.() !== 0) return ownAccount(user);
  const entry = (dataDir && ownerOf(dataDir)) || (user === undefined ? serviceAccount() : named(user));
  if (user !== undefined && entry.name !== user) {
    throw new PostgresError(
      `The data folder ${dataDir} belongs to ${entry.name}, not to ${user}.`,
      `Leave out the user, or run: chown -R ${user} ${dataDir}`,
    );
  }
  return { name: entry.name, uid: entry.uid, drop: { uid: entry.uid, gid: entry.gid } };
}

/** Where data and copied binaries live when nobody says otherwise: one place for the machine, or one per user. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (process.geteuid?.() === 0) return '/var/lib/signalbox';
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'signalbox');
}

function ownAccount(user: string | undefined): Account {
  const uid = process.geteuid?.() ?? -1;
  const name = nameOfSelf() ?? `uid ${uid}`;
  if (user !== undefined && user !== name) {
    throw new PostgresError(
      `Only root can run PostgreSQL as ${user}; this process runs as ${name}.`,
      'Leave out the user.',
    );
  }
  return { name, uid };
}

/** `undefined` for a uid without an entry in the user database, as `docker run --user 12345` makes them. */
export function nameOfSelf(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

// An existing folder keeps its owner: the choice below may come out differently once more accounts are installed.
function ownerOf(dataDir: string): PasswdEntry | undefined {
  const owner = statSync(join(dataDir, 'PG_VERSION'), { throwIfNoEntry: false });
  if (owner === undefined) return undefined;
  if (owner.uid === 0) {
    throw new PostgresError(
      `The data folder ${dataDir} belongs to root, and PostgreSQL does not run as root.`,
      `Give it to a service account, for example: chown -R ${serviceAccount().name} ${dataDir}`,
    );
  }
  const known = passwd().find((entry) => entry.uid === owner.uid);
  return known ?? { name: `uid ${owner.uid}`, uid: owner.uid, gid: owner.gid };
}

function named(user: string): PasswdEntry {
  const entry = passwd().find(({ name }) => name === user);
  if (entry === undefined || entry.uid === 0) {
    throw new PostgresError(
      `PostgreSQL cannot run as ${user}: ${entry === undefined ? 'there is no such account' : 'that is root'}.`,
      'Name another account, or leave it out.',
    );
  }
  return entry;
}

function serviceAccount(): PasswdEntry {
  const find = (wanted: string) => passwd().find(({ name, uid }) => name === wanted && uid !== 0);
  const found =
    find('signalbox') ?? find('postgres') ?? (createAccount() ? find('signalbox') : undefined) ?? find('nobody');
  if (found !== undefined) return found;
  throw new PostgresError(
    'PostgreSQL does not run as root, and there is no account signalbox, postgres or nobody to run it as.',
    'Create one (useradd --system signalbox), or give DATABASE_URL.',
  );
}

function createAccount(): boolean {
  try {
    execFileSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', 'signalbox'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false; // no useradd, or a read-only /etc: `nobody` is next
  }
}

function passwd(): PasswdEntry[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .flatMap(([name, , uid, gid]) => (name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []));
}
