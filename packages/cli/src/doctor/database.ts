/** The database: reachable, new enough, durable, migrated, with a clock that agrees. */
import { type DatabaseInspection, inspectDatabase, inspectFolder } from '@signalbox/server/inspection';
import { isCertificateError } from '../problem.ts';
import { type Finding, fail, ok, warn } from './check.ts';

const OLDEST_VERSION = 140_000;
const CLOCK_WARN_MS = 500;
const CLOCK_FAIL_MS = 5_000;
const CONNECTIONS_NEEDED = 20;

/** Its own, in the data folder, when no address is given. */
export async function checkDatabase(url: string | null, dataDir: string): Promise<Finding[]> {
  if (url !== null) return inspect(url);
  const seen = await inspectFolder(dataDir);
  switch (seen.state) {
    case 'absent':
      return [ok('database', `its own, in ${dataDir}; created at the first start`)];
    case 'stopped':
      return [ok('database', `its own, in ${dataDir}; not running, because no server runs`)];
    case 'unreadable':
      return [
        warn(
          'database',
          `its own, in ${dataDir}, is owned by another account.`,
          "Run this as root, or as the server's account.",
        ),
      ];
    case 'running':
      return inspect(seen.url);
  }
}

async function inspect(url: string): Promise<Finding[]> {
  try {
    return judge(await inspectDatabase(url));
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return [fail('database', `Cannot connect: ${message || code}.`, remedyFor(code))];
  }
}

function remedyFor(code: string | undefined): string {
  if (code === '28P01' || code === '28000') return 'Fix user and password in DATABASE_URL.';
  if (code === '3D000') return 'Create the database first: createdb signalbox';
  if (code !== undefined && isCertificateError(code))
    return 'Pass the CA certificate in DATABASE_URL: …?sslmode=verify-full&sslrootcert=/path/to/ca.pem';
  if (code === 'EACCES') return "Run this as the server's account, or as root.";
  return 'Start it, or fix host and port in DATABASE_URL.';
}

export function judge(seen: DatabaseInspection): Finding[] {
  return [version(seen), writable(seen), durable(seen), connections(seen), clock(seen), migrations(seen)];
}

function version({ version: text, versionNumber }: DatabaseInspection): Finding {
  if (versionNumber >= OLDEST_VERSION) return ok('database', `PostgreSQL ${text} answers`);
  return fail('database', `PostgreSQL ${text} is too old.`, 'Use PostgreSQL 14 or later.');
}

function writable({ isReadOnly, mayCreate, applied }: DatabaseInspection): Finding {
  if (isReadOnly) return fail('rights', 'The server is a standby or read-only.', 'Use the address of the primary.');
  if (mayCreate || applied.length > 0) return ok('rights', 'writable');
  return fail(
    'rights',
    'The account cannot create tables in its schema.',
    'As an administrator, run: grant create on schema public to <user>;',
  );
}

function durable({ fsync, synchronousCommit }: DatabaseInspection): Finding {
  if (!fsync)
    return warn('fsync', 'fsync is off: a power cut can destroy the database.', 'Set fsync = on in postgresql.conf.');
  if (synchronousCommit === 'off')
    return warn('fsync', 'synchronous_commit is off: a crash loses the last commits.', 'Set synchronous_commit = on.');
  return ok('fsync', 'commits wait for the disk');
}

function connections({ connections: used, maxConnections }: DatabaseInspection): Finding {
  const message = `${used} of ${maxConnections} connections are in use`;
  if (maxConnections - used >= CONNECTIONS_NEEDED) return ok('connections', message);
  return warn(
    'connections',
    message,
    `A server needs about ${CONNECTIONS_NEEDED}. Raise max_connections, or close other connections.`,
  );
}

function clock({ clockAheadMs }: DatabaseInspection): Finding {
  const distance = Math.abs(clockAheadMs);
  const message = `the database's clock is ${distance} ms ${clockAheadMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  const remedy = 'Use NTP on both machines. Schedules depend on these clocks.';
  if (distance > CLOCK_FAIL_MS) return fail('clock', message, remedy);
  return distance > CLOCK_WARN_MS ? warn('clock', message, remedy) : ok('clock', message);
}

function migrations({ applied, known }: DatabaseInspection): Finding {
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    return fail(
      'migrations',
      `The schema is newer than this version: ${unknown.join(', ')}.`,
      'Upgrade this installation.',
    );
  const missing = known.length - applied.length;
  if (missing === 0) return ok('migrations', `all ${known.length} applied`);
  return ok('migrations', `${missing} of ${known.length} pending; the next server start applies them`);
}
