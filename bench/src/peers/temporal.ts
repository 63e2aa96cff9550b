/**
 * Temporal: its development server, built from its sources by Go, on a SQLite file, with workflows of one activity. A production server
 * runs on PostgreSQL or Cassandra with several services, which this does not measure.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@signalbox/e2e';
import type { Figure } from '../figure.ts';
import { installNpm, isInstalled, whenListening } from './install.ts';
import { labelOf, measure, PEERS } from './measure.ts';

const FOLDER = join(PEERS, 'temporal');
const PROGRAM = join(FOLDER, 'bin', 'temporal');
const MODULE = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';

export async function temporal(scale: number): Promise<Figure[]> {
  if (!isInstalled('Temporal (needs Go)', install)) return [];
  const figures: Figure[] = [];
  for (const settings of ['defaults', 'best'] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-temporal-'));
    const port = await freePort();
    const args = ['server', 'start-dev', '--headless', '--port', String(port), '--log-level', 'error'];
    const server = spawn(PROGRAM, [...args, '--db-filename', join(folder, 'temporal.db')], { stdio: 'ignore' });
    try {
      await whenListening(port, 'Temporal');
      const figure = await measure({
        label: labelOf('Temporal (development server)', settings),
        script: ['temporal/measure.mjs', settings],
        url: `127.0.0.1:${port}`,
        jobs: Math.max(100, Math.round(2_000 * scale)),
        latencies: 50,
        server: server.pid ?? 0,
      });
      figures.push(...figure);
    } finally {
      server.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return figures;
}

function install(): void {
  installNpm(FOLDER);
  if (existsSync(PROGRAM)) return;
  console.error('building the server of Temporal, which takes some minutes …');
  execFileSync('go', ['install', MODULE], { env: { ...process.env, GOBIN: join(FOLDER, 'bin') }, stdio: 'inherit' });
}
