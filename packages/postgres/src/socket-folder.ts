import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './account.ts';
import { PostgresError } from './error.ts';

/** `sun_path` has 108 bytes with the closing zero on Linux, 104 on macOS. */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103;

export function socketPath(socketDir: string, port: number): string {
  return join(socketDir, `.s.PGSQL.${port}`);
}

/**
 * The socket lies in the data folder: its mode of 0700 is what keeps other users out. When that path is too long for a socket
 * address, it lies in a short folder of the same mode, whose name follows from the data folder.
 */
export async function socketFolder({
  dataDir,
  port,
  account,
}: {
  dataDir: string;
  port: number;
  account: Account;
}): Promise<string> {
  // The lock file beside the socket has a longer name, but no such limit.
  if (Buffer.byteLength(socketPath(dataDir, port)) <= LONGEST_PATH) return dataDir;
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const short = `/tmp/signalbox-${digest}`;
  await mkdir(short, { mode: 0o700 }).then(
    () => account.drop && chown(short, account.drop.uid, account.drop.gid),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  await assertOurs(short, account);
  await chmod(short, 0o700);
  return short;
}

// Anybody can make folders in /tmp: one that is not ours could hold a socket that answers in our server's place.
async function assertOurs(folder: string, account: Account): Promise<void> {
  const found = await lstat(folder);
  if (found.isDirectory() && found.uid === account.uid) return;
  throw new PostgresError(
    `The folder ${folder}, needed for the socket since the data folder's path is too long, belongs to somebody else.`,
    'Remove it, or name a data folder with a shorter path.',
  );
}
