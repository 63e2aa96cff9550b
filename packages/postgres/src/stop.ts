import { PostgresError } from './error.ts';
import { readPostmasterFile } from './postmaster-file.ts';
import { isAlive, isPostgresIn } from './processes.ts';
import { waitFor } from './wait.ts';

const FAST_WITHIN_MS = 30_000;
const IMMEDIATE_WITHIN_MS = 15_000;

/**
 * Stops a server and waits until it is gone. SIGINT ends sessions and writes a checkpoint, so that the next start has nothing to
 * replay; SIGTERM would wait for sessions to end by themselves, possibly for ever. SIGQUIT ends it as a crash would, which is safe.
 */
export async function stopPostmaster(
  server: { pid: number; dataDir: string },
  first: 'SIGINT' | 'SIGQUIT' = 'SIGINT',
): Promise<void> {
  signal(server, first);
  if (await isGone(server, first === 'SIGINT' ? FAST_WITHIN_MS : 0)) return;
  signal(server, 'SIGQUIT');
  if (await isGone(server, IMMEDIATE_WITHIN_MS)) return;
  throw new PostgresError(
    `PostgreSQL (process ${server.pid}) on ${server.dataDir} does not stop.`,
    'It may be waiting for a disk that does not answer, or be stopped by a debugger.',
  );
}

/** The file goes last but one: a server is gone when its file names it no more and its process has ended. */
async function isGone({ pid, dataDir }: { pid: number; dataDir: string }, withinMs: number): Promise<boolean> {
  const gone = await waitFor(withinMs, async () => {
    if (isAlive(pid)) return undefined;
    const file = await readPostmasterFile(dataDir).catch(() => undefined);
    return file?.pid === pid && isAlive(pid) ? undefined : true;
  });
  return gone === true;
}

// Never a signal to a number alone: the server may have ended, and its pid may have been given to another program.
function signal({ pid, dataDir }: { pid: number; dataDir: string }, name: NodeJS.Signals): void {
  if (!isPostgresIn(pid, dataDir)) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
