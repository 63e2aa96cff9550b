import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { findOwnBinaries, postgresVersion, remedyForRun } from './binaries.ts';
import { connectionUrl } from './connection.ts';
import { PostgresError } from './error.ts';
import { occupantOf, readPostmasterFile } from './postmaster-file.ts';
import { runAs } from './run.ts';

export type ProgramsInspection = { version: string } | { problem: string; remedy: string };

/** Whether the programs that come along can be run on this machine. */
export async function inspectPrograms(): Promise<ProgramsInspection> {
  try {
    const { version, postgres } = await findOwnBinaries();
    const self = { name: 'this user', uid: process.geteuid?.() ?? -1 };
    const { exitCode, output } = await runAs(self, postgres, ['--version']);
    return exitCode === 0 ? { version: postgresVersion(version) } : { problem: output.trim(), remedy: remedyForRun() };
  } catch (error) {
    if (error instanceof PostgresError)
      return { problem: error.message.replace(error.remedy, '').trim(), remedy: error.remedy };
    return { problem: (error as Error).message, remedy: remedyForRun() };
  }
}

export type FolderInspection =
  | { state: 'absent' | 'stopped' | 'unreadable' }
  | { state: 'running'; pid: number; status: string; url: string };

/** What runs on a data folder, without starting or touching anything. */
export async function inspectFolder(dataDir: string): Promise<FolderInspection> {
  if (!existsSync(dataDir)) return { state: 'absent' };
  try {
    const folder = await realpath(dataDir);
    const occupant = await occupantOf(folder);
    const file = occupant.kind === 'ours' ? await readPostmasterFile(folder) : undefined;
    if (file === undefined) return { state: 'stopped' };
    return { state: 'running', pid: file.pid, status: file.status, url: connectionUrl(file) };
  } catch {
    return { state: 'unreadable' }; // mode 0700, and another account's
  }
}
