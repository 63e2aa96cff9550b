/**
 * One `start` at a time on a data folder. A file names the process that holds it; a process that has ended holds nothing,
 * however it ended. The time at which the process began is part of its name: numbers of processes are given out again.
 */

import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../problem.ts';

interface Holder {
  readonly pid: number;
  readonly began: string;
  readonly since: string;
}

export interface Hold {
  release(): Promise<void>;
}

const ROUNDS_LIMIT = 5;

/** @example const hold = await holdFolder('/var/lib/signalbox'); … await hold.release(); */
export async function holdFolder(folder: string): Promise<Hold> {
  await mkdir(folder, { recursive: true, mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `The data folder ${folder} can't be made (${error.code}).`,
      'Name one that you may write to: --data <folder>',
    );
  });
  const file = join(folder, 'start.pid');
  const mine: Holder = { pid: process.pid, began: beginOf(process.pid), since: new Date().toISOString() };
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(mine)).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `The data folder ${folder} can't be written to (${error.code}).`,
      'Name another one: --data <folder>',
    );
  });
  try {
    for (let round = 0; round < ROUNDS_LIMIT; round++) {
      if (await takes(draft, file)) return { release: () => release(file) };
      const holder = await readHolder(file);
      if (holder !== null && isAlive(holder)) throw isHeld(folder, holder);
      await removeEnded(file, folder);
    }
  } finally {
    await rm(draft, { force: true });
  }
  throw new CliError(`The data folder ${folder} is being taken by others at the same time.`, 'Try again.');
}

/** Who holds the folder, for whoever wants to know. */
export async function findHolder(folder: string): Promise<Holder | null> {
  const holder = await readHolder(join(folder, 'start.pid'));
  return holder !== null && isAlive(holder) ? holder : null;
}

/** A link appears whole or not at all, and never over another. */
async function takes(draft: string, file: string): Promise<boolean> {
  return link(draft, file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

/** Another start may have done the same and taken the folder since we looked: what we moved away is looked at again, and put back. */
async function removeEnded(file: string, folder: string): Promise<void> {
  const aside = `${file}.${process.pid}.ended`;
  const isMoved = await rename(file, aside).then(
    () => true,
    () => false,
  );
  if (!isMoved) return;
  try {
    const holder = await readHolder(aside);
    if (holder === null || !isAlive(holder)) return;
    await link(aside, file).catch(() => undefined);
    throw isHeld(folder, holder);
  } finally {
    await rm(aside, { force: true });
  }
}

async function release(file: string): Promise<void> {
  const holder = await readHolder(file);
  if (holder?.pid === process.pid) await rm(file, { force: true });
}

async function readHolder(file: string): Promise<Holder | null> {
  try {
    const { pid, began, since } = JSON.parse(await readFile(file, 'utf8')) as Partial<Holder>;
    return Number.isInteger(pid) && typeof began === 'string'
      ? { pid: pid as number, began, since: String(since) }
      : null;
  } catch {
    return null;
  }
}

function isAlive({ pid, began }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = beginOf(pid);
  return now !== 'ended' && (now === '' || began === '' || now === began);
}

/** Ticks since the machine began, from /proc; empty where there is none. */
function beginOf(pid: number): string {
  if (process.platform !== 'linux') return '';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function isHeld(folder: string, { pid, since }: Holder): CliError {
  return new CliError(
    `The data folder ${folder} is held by another "signalbox start": process ${pid}, since ${since}.`,
    `Use that one (npx signalbox login prints a link to it), end it (kill ${pid}), or name another folder: --data <folder>`,
  );
}
