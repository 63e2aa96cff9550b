/**
 * Finds processes by a mark in their environment. All processes that they start inherit it, also in other groups and
 * sessions. Without /proc nothing can be found; process groups are still killed there.
 */
import { readdir, readFile } from 'node:fs/promises';

/** In the environment of all that belongs to one process attempt, or to one child for functions. */
export const ATTEMPT_MARK = 'SIGNALBOX_ATTEMPT_MARK';
/** In the environment of all that one worker has started. */
export const WORKER_MARK = 'SIGNALBOX_WORKER_MARK';

/** Something may be forked while the list is read: it is looked again until nothing is found. */
const MAX_ROUNDS = 20;
/** Read at a time. */
const SLICE = 64;

/**
 * Kills all that has the mark, and says how many there were outside of the group: what is in it has been killed with it, and may
 * take a moment to be gone.
 */
export async function sweep(variable: string, mark: string, group = 0): Promise<number> {
  const outside = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await findMarked(`${variable}=${mark}`);
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

async function findMarked(entry: string): Promise<number[]> {
  const needle = Buffer.from(entry);
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  for (let from = 0; from < pids.length; from += SLICE) {
    await Promise.all(
      pids.slice(from, from + SLICE).map(async (pid) => {
        // Not ours, or gone by now.
        const environment = await readFile(`/proc/${pid}/environ`).catch(() => null);
        if (environment?.includes(needle)) found.push(Number(pid));
      }),
    );
  }
  return found;
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
