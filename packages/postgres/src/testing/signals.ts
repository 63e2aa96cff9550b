import { childrenOf, isAlive, isPostgresIn, processState } from '../processes.ts';
import { waitFor } from '../wait.ts';

type Server = { pid: number; dataDir: string };

const WITHIN_MS = 10_000;

/** Stops the postmaster and its children where they are. A connection stays open, and nothing answers on it. */
export async function freezeAll(server: Server): Promise<void> {
  if (!isThere(server)) return;
  // The postmaster first: once it stands still, it makes no more children.
  await stopProcess(server.pid);
  for (const pid of childrenOf(server.pid)) await stopProcess(pid);
}

export function thawAll(server: Server): void {
  if (!isThere(server)) return;
  for (const pid of [...childrenOf(server.pid), server.pid]) send(pid, 'SIGCONT');
}

/**
 * Kills everything at once, as a crash does. Not by process group: each child of PostgreSQL is a group of its own. With the
 * postmaster frozen first, none of them can see another die and act on it.
 */
export async function killAll(server: Server): Promise<void> {
  if (!isThere(server)) return;
  await stopProcess(server.pid);
  const all = [...childrenOf(server.pid), server.pid];
  for (const pid of all) send(pid, 'SIGKILL');
  const gone = await waitFor(WITHIN_MS, () => (all.some(isAlive) ? undefined : true));
  if (gone === undefined) throw new Error(`Processes ${all.filter(isAlive).join(', ')} survive SIGKILL.`);
}

// A server that was killed before may have passed its pid on to another program.
function isThere({ pid, dataDir }: Server): boolean {
  return isPostgresIn(pid, dataDir) && isAlive(pid);
}

async function stopProcess(pid: number): Promise<void> {
  send(pid, 'SIGSTOP');
  const stopped = await waitFor(WITHIN_MS, () => (processState(pid) === 'running' ? undefined : true));
  if (stopped === undefined) throw new Error(`Process ${pid} does not stop.`);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended meanwhile
  }
}
