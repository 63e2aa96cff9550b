/** Real processes: started with their own log, ended by their own pid, never by name. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

export interface Started {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, or null when a signal ended it. */
  readonly exited: Promise<number | null>;
  isRunning(): boolean;
  log(): string;
}

export function startProcess(
  name: string,
  script: string,
  options: { args?: readonly string[]; env: NodeJS.ProcessEnv; logFile: string },
): Started {
  const log = openSync(options.logFile, 'a');
  const child: ChildProcess = spawn(process.execPath, [script, ...(options.args ?? [])], {
    env: options.env,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let isRunning = true;
  const exited = new Promise<number | null>((resolve) => {
    child.on('exit', (code) => {
      isRunning = false;
      resolve(code);
    });
  });
  if (child.pid === undefined) throw new Error(`${name} did not start`);
  return {
    name,
    pid: child.pid,
    logFile: options.logFile,
    exited,
    signal: (signal) => {
      if (isRunning) child.kill(signal);
    },
    isRunning: () => isRunning,
    log: () => readFileSync(options.logFile, 'utf8'),
  };
}

export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** Looks again and again until it is so; fails with what it was waiting for. */
export async function until(what: string, timeoutMs: number, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    if (await isSo()) return;
    if (performance.now() > giveUpAt) throw new Error(`In ${timeoutMs} ms it did not come true that ${what}.`);
    await pause(25);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
