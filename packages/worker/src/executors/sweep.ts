/**
 * Finds processes by a mark in their environment. All processes that they start inherit it, also in other groups and
 * sessions. Without /proc nothing can be found; process groups are still killed there.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** In the environment of all that belongs to one process attempt, or to one child for functions. */
export const ATTEMPT_MARK = 'SIGNALBOX_ATTEMPT_MARK';
/** In the environment of all that one worker has started. */
export const WORKER_MARK = 'SIGNALBOX_WORKER_MARK';

/** Something may be forked while the list is read: it is looked again until nothing is found. */
const MAX_ROUNDS = 20;
/** Read at a time. */
const SLICE = 64;
/** More than any machine begins, threads included. */
const MOST_PIDS_A_MS = 50;

export interface Leader {
  readonly pid: number;
  /** By `performance.now()`, before it began. */
  readonly startedAt: number;
}

/**
 * Kills all that has the mark, and says how many there were outside of the group: what is in it has been killed with it, and may
 * take a moment to be gone. All of it descends from the leader, so what is older than a leader that has just begun is not looked at.
 */
export async function sweep(variable: string, mark: string, leader: Leader | null = null): Promise<number> {
  const group = leader?.pid ?? 0;
  const outside = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await findMarked(`${variable}=${mark}`, leader);
    if (found.length === 0) break;
    for (const pid of found) {
      const its = group === 0 ? 0 : await groupOf(pid);
      if (group === 0 || (its !== null && its !== group)) outside.add(pid);
      signalProcess(pid, 'SIGKILL');
    }
    // A killed process is there until it is reaped, with an environment that can't be read any more.
    if (round > 2) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return outside.size;
}

/** Null for one that is gone by now. */
async function groupOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const group = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2];
  return group === undefined ? null : Number(group);
}

interface Asker {
  readonly needle: Buffer;
  readonly leader: Leader | null;
  readonly found: (pids: number[]) => void;
}

/** Those who wait for the next reading, with what they look for. */
let asking: Asker[] = [];
let isReading = false;

/** One reading of /proc serves all who asked before it began: attempts that end together cost as much as one. */
function findMarked(entry: string, leader: Leader | null): Promise<number[]> {
  return new Promise((found) => {
    asking.push({ needle: Buffer.from(entry), leader, found });
    if (!isReading) void readAll();
  });
}

let pidMax: number | undefined;

/**
 * Pids are given out in order, from the highest one back to the lowest: those that came after the leader are in the half of the circle
 * that begins with its own. Null: so much may have been begun meanwhile that a whole turn can't be ruled out.
 */
export function youngerThan(
  { pid, startedAt }: Leader,
  now: number,
  most = (pidMax ??=
    readPidMax()),
): ((other: number) => boolean) | null {
  const half = Math.floor(most / 2);
  if ((now - startedAt) * MOST_PIDS_A_MS >= half) return null;
  return (other) => (other - pid + most) % most < half;
}

function readPidMax(): number {
  try {
    return Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1')) || 0;
  } catch {
    return 0;
  }
}

async function readAll(): Promise<void> {
  isReading = true;
  while (asking.length > 0) {
    // Whoever asks from here on may look for something that has been passed already.
    const now = performance.now();
    const askers = asking.map(({ needle, leader, found }) => {
      const isYounger = leader === null ? null : youngerThan(leader, now);
      return { needle, found, isCandidate: isYounger ?? (() => true), pids: [] as number[] };
    });
    asking = [];
    const pids = (await readdir('/proc').catch(() => [])).filter(
      (name) => /^\d+$/.test(name) && askers.some(({ isCandidate }) => isCandidate(Number(name))),
    );
    for (let from = 0; from < pids.length; from += SLICE) {
      for (const pid of pids.slice(from, from + SLICE)) {
        const environment = environmentOf(pid);
        if (environment === null) continue;
        for (const asker of askers) if (environment.includes(asker.needle)) asker.pids.push(Number(pid));
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { found, pids: marked } of askers) found(marked);
  }
  isReading = false;
}

let space = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Null for one that is not ours, or gone by now. At once and into one buffer: the kernel has it in memory, and a promise for each of
 * hundreds of processes took several times as long as reading them.
 */
function environmentOf(pid: string): Buffer | null {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/environ`, 'r');
  } catch {
    return null;
  }
  try {
    for (let size = 0; ; ) {
      const read = readSync(file, space, size, space.length - size, null);
      size += read;
      if (read === 0) return space.subarray(0, size);
      if (size === space.length) space = Buffer.concat([space, Buffer.allocUnsafeSlow(space.length)]);
    }
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** False when there is none any more. */
function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

export const signalGroup = (leader: number, signal: NodeJS.Signals): boolean => signalProcess(-leader, signal);
