import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, isPostgresIn } from './processes.ts';

/** What a running server says about itself in `postmaster.pid`. The fields after the pid come line by line, as it starts. */
export type PostmasterFile = { pid: number; port: number; socketDir: string; status: string };

/**
 * What the folder's `postmaster.pid` means:
 * - `free`: nobody runs here, or nobody alive; PostgreSQL clears away what is left;
 * - `ours`: a server runs on this folder, or is starting or stopping;
 * - `foreign`: the pid is a zombie or has been given to another program. PostgreSQL would take that for a running server.
 */
export type Occupant = { kind: 'free' } | { kind: 'ours'; pid: number } | { kind: 'foreign'; pid: number };

const EMPTY_FOR_MS = 2_000;

export async function readPostmasterFile(dataDir: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(pathIn(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [pid, , , port, socketDir, , , status] = text.split('\n');
  if (!pid || !Number.isInteger(Number(pid))) return undefined; // just created, not yet written
  // A standalone backend (`postgres --single`) writes its pid as a negative number.
  return { pid: Math.abs(Number(pid)), port: Number(port), socketDir: socketDir ?? '', status: status?.trim() ?? '' };
}

export async function occupantOf(dataDir: string): Promise<Occupant> {
  const file = await readPostmasterFile(dataDir);
  if (file === undefined) {
    await removeIfLeftEmpty(dataDir);
    return { kind: 'free' };
  }
  const { pid } = file;
  if (isPostgresIn(pid, dataDir) && isAlive(pid)) return { kind: 'ours', pid };
  return exists(pid) ? { kind: 'foreign', pid } : { kind: 'free' };
}

/** A power cut can leave the file behind without content. PostgreSQL refuses to start then, for ever. */
async function removeIfLeftEmpty(dataDir: string): Promise<void> {
  const found = await stat(pathIn(dataDir)).catch(() => undefined);
  if (found?.size === 0 && Date.now() - found.mtimeMs > EMPTY_FOR_MS) await rm(pathIn(dataDir), { force: true });
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'postmaster.pid');
}
