import { randomBytes } from 'node:crypto';
import { chown, lstat, mkdir, mkdtemp, rename, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from '../account.ts';
import type { Binaries } from '../binaries.ts';
import { initialise } from '../cluster.ts';
import { runAs } from '../run.ts';

type Making = { account: Account; binaries: Binaries };

/** Raise it when the template is made in another way, so that templates of before are not used. */
const RECIPE = 1;

const ROOM_BYTES = 2_000_000_000;

/**
 * Makes a folder with a fresh cluster in it, from an archive that the first test on this machine makes: 0.1 s instead of 0.6 s of
 * both cores. It is one file, so that it is either there or not; cleaners of /tmp take single files out of folders.
 */
export async function unpackTemplate({ into, account, binaries }: Making & { into: string }): Promise<void> {
  const archive = join(tmpdir(), `signalbox-test-${binaries.version}-${RECIPE}-${account.uid}.tar`);
  if (!(await isOurs(archive, account))) await makeTemplate({ archive, account, binaries });
  await makeFolder(into, account);
  await tar(account, ['-xf', archive, '-C', into]);
}

async function isOurs(archive: string, account: Account): Promise<boolean> {
  const found = await lstat(archive).catch(() => undefined);
  return found?.isFile() === true && found.uid === account.uid;
}

/** Several test processes may do this at once; each makes its own and the last rename wins, all being equal. */
async function makeTemplate({ archive, account, binaries }: Making & { archive: string }): Promise<void> {
  const folder = await ownFolder(account, await throwAwayParent());
  try {
    const dataDir = join(folder, 'data');
    await makeFolder(dataDir, account);
    await initialise({ dataDir, account, binaries, throwAway: true });
    const draft = join(tmpdir(), `${randomBytes(8).toString('hex')}.tar`);
    await tar(account, ['-cf', draft, '-C', dataDir, '.']);
    await rename(draft, archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A new folder that only the account can enter. */
export async function ownFolder(account: Account, parent: string = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'sb-pg-'));
  if (account.drop) await chown(folder, account.drop.uid, account.drop.gid);
  return folder;
}

/**
 * Where data goes that nobody needs after the test: to memory, if the system has a place for that with room. A thousand new files
 * took 0.03 s there, and up to 0.9 s on a busy disk. Containers often have 64 MB of it, which is not enough for one server.
 */
export async function throwAwayParent(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined);
  const roomy = memory !== undefined && memory.bavail * memory.bsize > ROOM_BYTES;
  return roomy ? '/dev/shm' : tmpdir();
}

async function makeFolder(path: string, account: Account): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  if (account.drop) await chown(path, account.drop.uid, account.drop.gid);
}

async function tar(account: Account, args: readonly string[]): Promise<void> {
  const { exitCode, output } = await runAs(account, 'tar', args);
  if (exitCode !== 0) throw new Error(`tar ${args.join(' ')}: ${output.trim()}`);
}
