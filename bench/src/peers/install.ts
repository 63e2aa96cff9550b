/** What the peers have in common before they are measured: to be installed, and to be up. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { until } from '@signalbox/e2e';

/** By the lockfile of the folder, at its first use. `npm ci` refuses one that lacks binaries which a registry has for other machines only. */
export function installNpm(folder: string): void {
  if (existsSync(join(folder, 'node_modules'))) return;
  console.error(`installing the packages of ${folder} …`);
  execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    stdio: 'inherit',
  });
}

/** Runs an installer that the machine may lack. False if it failed: the peer is then not measured, and the table says nothing of it. */
export function isInstalled(what: string, install: () => void): boolean {
  try {
    install();
    return true;
  } catch (error) {
    console.error(`${what} could not be installed, so it is not measured: ${(error as Error).message}`);
    return false;
  }
}

export async function whenListening(port: number, what: string): Promise<void> {
  await until(`${what} listens`, 60_000, () => isListening(port));
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
