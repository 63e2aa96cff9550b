import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from './account.ts';
import { type Binaries, remedyForRun } from './binaries.ts';
import { askDataDir } from './connection.ts';
import { PostgresError } from './error.ts';
import { type Occupant, occupantOf, type PostmasterFile, readPostmasterFile } from './postmaster-file.ts';
import { isAlive } from './processes.ts';
import { cleanEnvironment } from './run.ts';
import { socketPath } from './socket-folder.ts';
import { waitFor } from './wait.ts';

/** All that is needed to run a server on an initialised folder. */
type Launch = {
  dataDir: string;
  socketDir: string;
  port: number;
  account: Account;
  binaries: Binaries;
  settings: Readonly<Record<string, string>>;
};

export type Up = PostmasterFile & { adopted: boolean };

/** Replaying the log after a crash may take long on a slow disk; a server that is alive and says `starting` is left to it. */
const READY_WITHIN_MS = 600_000;
/** How often to look again while another server holds the folder: 30 s, for processes whose postmaster was killed. */
const ROUNDS_LIMIT = 600;
const ROUND_MS = 50;
const LOG_LIMIT_BYTES = 10_000_000;

/**
 * Adopts the server that runs on the folder, or starts one. Nothing is locked here: when two do this at once, PostgreSQL lets one of
 * their servers live, and the other of them finds it on the next round.
 */
export async function bringUp(launch: Launch): Promise<Up> {
  let said = '';
  for (let round = 0; round < ROUNDS_LIMIT; round++) {
    const occupant = await occupantOf(launch.dataDir);
    if (occupant.kind === 'ours') {
      const file = await untilReady(occupant.pid, launch.dataDir);
      if (file !== undefined) return { ...file, adopted: true };
    } else {
      const attempt = await launchPostmaster(launch, occupant);
      const file = await untilReady(attempt.pid, launch.dataDir);
      if (file !== undefined) return { ...file, adopted: false };
      said = await attempt.said();
      if (!isTaken(said)) break;
    }
    await pause(ROUND_MS);
  }
  throw failure(launch, said);
}

/** Ready means: the file says so, and a query is answered by the server of this very folder. `undefined` when it has ended. */
async function untilReady(pid: number, dataDir: string): Promise<PostmasterFile | undefined> {
  const answer = await waitFor(READY_WITHIN_MS, async () => {
    const file = await readPostmasterFile(dataDir);
    if (file?.pid === pid && file.status === 'ready' && (await answers(file, dataDir))) return file;
    return isAlive(pid) ? undefined : ('ended' as const);
  });
  if (answer === undefined) {
    throw new PostgresError(
      `PostgreSQL (process ${pid}) on ${dataDir} has not become ready in ${READY_WITHIN_MS / 60_000} minutes.`,
      `See ${logPath(dataDir)} for what it is doing.`,
    );
  }
  return answer === 'ended' ? undefined : answer;
}

async function answers(file: PostmasterFile, dataDir: string): Promise<boolean> {
  return askDataDir(file).then(
    (served) => realpathSync(served) === realpathSync(dataDir),
    () => false,
  );
}

/**
 * Starts the server as a process group of its own, writing to a file: it is to outlive us when we are killed, and a terminal's
 * Ctrl-C or a closed pipe must not reach it. It is adopted by the next start.
 */
async function launchPostmaster(launch: Launch, occupant: Occupant) {
  const { dataDir, socketDir, port, account, binaries, settings } = launch;
  // The socket's own lock file may name yet another pid. It guards nothing here: a socket folder belongs to one data folder, whose
  // `postmaster.pid` is asked first.
  await rm(`${socketPath(socketDir, port)}.lock`, { force: true });
  const logFile = await openLog(dataDir, account);
  const start = (await logFile.stat()).size;
  const child = spawn(binaries.postgres, ['-D', dataDir, ...asArguments(settings)], {
    ...account.drop,
    cwd: '/',
    // PostgreSQL takes `postmaster.pid` for that of a running server if its pid exists: also if that is a zombie, which a container
    // whose process 1 does not reap keeps for ever, or another program that has been given the number since. This variable, which
    // pg_ctl uses too, names a pid that is not a server. Unlike removing the file, it keeps PostgreSQL's own check that no child of
    // the former server is still attached to its memory, and it leaves nothing to race for.
    env: { ...cleanEnvironment, ...(occupant.kind === 'foreign' && { PG_GRANDPARENT_PID: String(occupant.pid) }) },
    stdio: ['ignore', logFile.fd, logFile.fd],
    detached: true,
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new PostgresError(
      `PostgreSQL cannot be run as ${account.name}: ${(error as Error).message}.`,
      remedyForRun(),
    );
  } finally {
    await logFile.close();
  }
  child.unref();
  const said = async () => (await readFile(logPath(dataDir))).subarray(start).toString();
  return { pid: child.pid as number, said };
}

function asArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Another server holds the folder (it was quicker, or its processes are still going): worth another look, not a failure. */
function isTaken(said: string): boolean {
  return /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(said);
}

function failure({ dataDir }: Launch, said: string): PostgresError {
  const lastLines = said.trim().split('\n').slice(-5).join('\n');
  return new PostgresError(
    `PostgreSQL did not start on ${dataDir}:\n${lastLines}\n`,
    `The whole log is ${logPath(dataDir)}.`,
  );
}

export function logPath(dataDir: string): string {
  return join(dataDir, 'server.log');
}

async function openLog(dataDir: string, { drop }: Account) {
  const path = logPath(dataDir);
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_LIMIT_BYTES) await rename(path, `${path}.1`); // one older file is kept, so the folder does not fill up
  const file = await open(path, 'a', 0o600);
  if (drop) await file.chown(drop.uid, drop.gid);
  return file;
}
