import { spawn } from 'node:child_process';
import type { Account } from './account.ts';

export type Finished = { exitCode: number | null; output: string };

/**
 * What PostgreSQL's programs see of the environment: nothing of the caller's. PGDATA, PGPORT, LC_ALL, TZ or LD_PRELOAD of a user's
 * shell would otherwise decide how the server is set up.
 */
export const cleanEnvironment: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/** Runs a program to its end as the account, from `/`: the account may not be able to see our own working folder. */
export function runAs(account: Account, program: string, args: readonly string[]): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...account.drop,
      cwd: '/',
      env: cleanEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk));
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, output }));
  });
}
