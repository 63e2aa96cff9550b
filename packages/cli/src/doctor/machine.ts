/** Checks Node, the bundled programs, the data folder, its disk and the token file. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inspectPrograms } from '@signalbox/server/inspection';
import { findHolder } from '../start/hold.ts';
import { type Finding, fail, ok, warn } from './check.ts';

const OLDEST_NODE = [20, 19] as const;
const LITTLE_BYTES = 1024 ** 3;
const TOO_LITTLE_BYTES = 100 * 1024 ** 2;

export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (isNew) return ok('node', `Node.js ${version}`);
  return fail('node', `Node.js ${version} is too old.`, `Install Node.js ${OLDEST_NODE.join('.')} or later.`);
}

export async function checkPrograms(needsThem: boolean): Promise<Finding> {
  const seen = await inspectPrograms();
  if ('version' in seen)
    return ok('postgresql programs', `PostgreSQL ${seen.version} runs on this system (${libraryOf()})`);
  const told = needsThem ? fail : warn;
  return told('postgresql programs', `The bundled PostgreSQL cannot run: ${seen.problem}`, seen.remedy);
}

function libraryOf(): string {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  const glibc = report?.header?.glibcVersionRuntime;
  return glibc === undefined ? process.platform : `glibc ${glibc}`;
}

export async function checkFolder(folder: string): Promise<Finding> {
  const found = await stat(folder).catch(() => null);
  if (found === null) return checkParent(folder);
  if (!found.isDirectory()) return fail('data folder', `${folder} is a file.`, 'Choose a folder: --data <folder>');
  if (!(await may(folder, constants.R_OK | constants.W_OK | constants.X_OK))) {
    return fail(
      'data folder',
      `You cannot write to ${folder}.`,
      `Run as its owner (uid ${found.uid}), or choose another folder: --data <folder>`,
    );
  }
  const holder = await findHolder(folder);
  return ok('data folder', `${folder}${holder === null ? '' : `, in use by process ${holder.pid} (signalbox start)`}`);
}

/** The first start creates it, below the first folder that exists. */
async function checkParent(folder: string): Promise<Finding> {
  let parent = dirname(folder);
  while (parent !== dirname(parent) && (await stat(parent).catch(() => null)) === null) parent = dirname(parent);
  if (await may(parent, constants.W_OK | constants.X_OK))
    return ok('data folder', `${folder} does not exist yet; the first start creates it`);
  return fail(
    'data folder',
    `${folder} does not exist, and you cannot create it in ${parent}.`,
    'Choose another folder: --data <folder>',
  );
}

async function may(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

export async function checkDisk(folder: string): Promise<Finding> {
  let path = folder;
  while (path !== dirname(path) && (await stat(path).catch(() => null)) === null) path = dirname(path);
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  const message = `${(free / 1024 ** 3).toFixed(1)} GiB free below ${path}`;
  if (free < TOO_LITTLE_BYTES) return fail('disk', message, 'Free some space. PostgreSQL stops when its disk is full.');
  if (free < LITTLE_BYTES)
    return warn('disk', message, 'Free some space, or keep runs for a shorter time (SIGNALBOX_RETENTION_DAYS).');
  return ok('disk', message);
}

export async function checkTokenFile(file: string): Promise<Finding> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return ok('token file', `${file} does not exist yet; the first start creates it`);
    return warn(
      'token file',
      `${file} is not accessible (${found.code}).`,
      'Run as its owner, or set SIGNALBOX_TOKEN.',
    );
  }
  const others = found.mode & 0o077;
  if (others !== 0) return fail('token file', `Other users can read ${file}.`, `Run: chmod 600 ${file}`);
  if (await may(file, constants.R_OK)) return ok('token file', `${file}, readable by its owner only`);
  return warn('token file', `You cannot read ${file}.`, `Run as its owner (uid ${found.uid}), or set SIGNALBOX_TOKEN.`);
}
