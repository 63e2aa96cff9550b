/**
 * One `start` per data folder. A file names the process that holds the folder. A process that has ended holds nothing,
 * however it ended. The name includes the start time of the process, because process ids are reused.
 */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../problem.ts';

interface Holder {
  readonly pid: number;
  readonly began: string;
  readonly since: string;
}

/** A file that a process has left, with its number. `holder` is null if it has released the folder or its file is unreadable. */
interface Claim {
  readonly no: number;
  readonly holder: Holder | null;
}

export interface Hold {
  release(): Promise<void>;
}

const ROUNDS_LIMIT = 20;
const CLAIM = /^start\.(?:(\d{1,15})\.)?pid$/;

/**
 * Claims are numbered. Who comes next makes the file of the next number, which only one can; then looks again, since a
 * slow one may have counted from a number that others have left behind. The file of the highest number is never
 * removed, not even by who lets go: so the numbers never go back, and the highest one is the holder or nobody.
 *
 * @example const hold = await holdFolder('/var/lib/signalbox'); … await hold.release();
 */
export async function holdFolder(folder: string): Promise<Hold> {
  await mkdir(folder, { recursive: true, mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `The data folder ${folder} cannot be created (${error.code}).`,
      'Choose a folder that you can write to: --data <folder>',
    );
  });
  const mine: Holder = { pid: process.pid, began: beginOf(process.pid), since: new Date().toISOString() };
  const draft = await writeDraft(folder, mine);
  try {
    for (let round = 0; round < ROUNDS_LIMIT; round++) {
      const last = await readLastClaim(folder);
      if (last.holder !== null && isAlive(last.holder)) throw isHeld(folder, last.holder);
      const no = last.no + 1;
      if (!(await takes(draft, claimFile(folder, no)))) continue;
      if ((await readLastClaim(folder)).no === no) {
        await removeClaimsBefore(folder, no);
        return { release: () => release(folder, no) };
      }
      await rm(claimFile(folder, no), { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
  throw new CliError(`Several processes are trying to use the data folder ${folder} at the same time.`, 'Try again.');
}

/** The process that holds the folder. */
export async function findHolder(folder: string): Promise<Holder | null> {
  const { holder } = await readLastClaim(folder);
  return holder !== null && isAlive(holder) ? holder : null;
}

const claimFile = (folder: string, no: number) => join(folder, no === 0 ? 'start.pid' : `start.${no}.pid`);

/** Two starts may write at the same time, even in one process. */
async function writeDraft(folder: string, content: object): Promise<string> {
  const draft = join(folder, `start.${randomBytes(8).toString('hex')}.draft`);
  await writeFile(draft, JSON.stringify(content)).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `The data folder ${folder} is not writable (${error.code}).`,
      'Choose another one: --data <folder>',
    );
  });
  return draft;
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

async function readLastClaim(folder: string): Promise<Claim> {
  const numbers = await listClaims(folder);
  if (numbers.length === 0) return { no: 0, holder: null };
  const no = Math.max(...numbers);
  return { no, holder: await readHolder(claimFile(folder, no)) };
}

/** A claim without a number is of a version that did not count yet. */
async function listClaims(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name) => {
    const found = CLAIM.exec(name);
    return found === null ? [] : [Number(found[1] ?? 0)];
  });
}

async function removeClaimsBefore(folder: string, no: number): Promise<void> {
  const older = (await listClaims(folder)).filter((other) => other < no);
  await Promise.all(older.map((other) => rm(claimFile(folder, other), { force: true })));
}

async function release(folder: string, no: number): Promise<void> {
  await rename(await writeDraft(folder, { released: new Date().toISOString() }), claimFile(folder, no));
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
    `The data folder ${folder} is in use by another "signalbox start": process ${pid}, since ${since}.`,
    `Use that one (npx signalbox login prints a link to it), stop it (kill ${pid}), or choose another folder: --data <folder>`,
  );
}
