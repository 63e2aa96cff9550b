import { PostgresError } from './error.ts';
import { isAlive, isPostgresIn } from './processes.ts';
import { waitFor } from './wait.ts';

type Server = { pid: number; dataDir: string };

const FAST_WITHIN_MS = 30_000;
const IMMEDIATE_WITHIN_MS = 15_000;

/**
 * Stops a server and waits until it is gone. SIGINT ends sessions and writes a checkpoint, so that the next start has nothing to
 * replay; SIGTERM would wait for sessions to end by themselves, possibly for ever. SIGQUIT ends it as a crash would, which is safe.
 */
export async function stopPostmaster(server: Server, first: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
  signal(server, first);
  if (await isGone(server, first === 'SIGINT' ? FAST_WITHIN_MS : 0)) return;
  signal(server, 'SIGQUIT');
  if (await isGone(server, IMMEDIATE_WITHIN_MS)) return;
  throw new PostgresError(
    `PostgreSQL (process ${server.pid}) on ${server.dataDir} does not stop.`,
    'It may be waiting for a disk that does not answer, or be stopped by a debugger.',
  );
}

/** PostgreSQL removes `postmaster.pid` just before its process ends, so the next start finds a clean folder. */
async function isGone(server: Server, withinMs: number): Promise<boolean> {
  return (await waitFor(withinMs, () => (isRunning(server) ? undefined : true))) === true;
}

// Never by number alone: the server may have ended, and its pid may have been given to another program.
export function isRunning({ pid, dataDir }: Server): boolean {
  return isPostgresIn(pid, dataDir) && isAlive(pid);
}

function signal(server: Server, name: NodeJS.Signals): void {
  if (!isRunning(server)) return;
  try {
    process.kill(server.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended meanwhile
  }
}
