/**
 * Airflow: `airflow standalone` with its local executor on the same PostgreSQL, in a virtual environment of its own. Each run has one
 * Python task, and is triggered by the REST API, which has no call for many runs.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, pause, until } from '@signalbox/e2e';
import { createDatabase, startTestPostgres } from '@signalbox/postgres/testing';
import { processTable } from '../cpu.ts';
import type { Figure } from '../figure.ts';
import { isInstalled } from './install.ts';
import { figuresOf, type Measured, PEERS } from './measure.ts';

const FOLDER = join(PEERS, 'airflow');
const VENV = join(FOLDER, 'venv');
const IN_FLIGHT = 4;

export async function airflow(scale: number): Promise<Figure[]> {
  if (!isInstalled('Airflow (needs Python with pip)', install)) return [];
  const postgres = await startTestPostgres({ durable: true, settings: { max_connections: '200' } });
  const home = mkdtempSync(join(tmpdir(), 'signalbox-airflow-'));
  const port = await freePort();
  const log = openSync(join(home, 'standalone.log'), 'a');
  const standalone = spawn(join(VENV, 'bin', 'airflow'), ['standalone'], {
    env: { ...process.env, ...settingsOf(home, port, await createDatabase(postgres)) },
    stdio: ['ignore', log, log],
    detached: true,
  });
  try {
    const api = new AirflowApi(`http://127.0.0.1:${port}`);
    await until('Airflow has read its dag', 180_000, () => api.isReady());
    const jobs = Math.max(20, Math.round(200 * scale));
    const before = groupMs(standalone.pid ?? 0) + groupMs(postgres.pid);
    const measured = await measure(api, jobs, 5);
    const spentMs = groupMs(standalone.pid ?? 0) + groupMs(postgres.pid) - before;
    return figuresOf('Airflow (standalone)', jobs, measured, { peer: 0, server: spentMs });
  } finally {
    if (standalone.pid !== undefined) process.kill(-standalone.pid, 'SIGKILL');
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

function install(): void {
  if (existsSync(join(VENV, 'bin', 'airflow'))) return;
  console.error('installing Airflow into bench/peers/airflow/venv …');
  execFileSync('python3', ['-m', 'venv', VENV], { stdio: 'inherit' });
  const requirements = ['install', '-q', '-r', join(FOLDER, 'requirements.txt')];
  execFileSync(join(VENV, 'bin', 'pip'), requirements, { stdio: 'inherit' });
}

/** All that differs from its defaults: where it is, and that nobody has to sign in. */
function settingsOf(home: string, port: number, database: string): Record<string, string> {
  return {
    PATH: `${join(VENV, 'bin')}:${process.env.PATH ?? ''}`,
    AIRFLOW_HOME: home,
    AIRFLOW__CORE__DAGS_FOLDER: join(FOLDER, 'dags'),
    AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
    AIRFLOW__CORE__EXECUTOR: 'LocalExecutor',
    AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS: 'True',
    AIRFLOW__CORE__EXECUTION_API_SERVER_URL: `http://127.0.0.1:${port}/execution/`,
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN: database.replace('postgresql://', 'postgresql+psycopg2://'),
    AIRFLOW__API__HOST: '127.0.0.1',
    AIRFLOW__API__PORT: String(port),
    AIRFLOW__API__BASE_URL: `http://127.0.0.1:${port}`,
  };
}

/** Its processes come and go, so the runs cannot be told from a backlog: both times are those of the flow. */
async function measure(api: AirflowApi, jobs: number, latencies: number): Promise<Measured> {
  const began = performance.now();
  let left = jobs;
  const submitter = async () => {
    while (left-- > 0) await api.trigger();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, submitter));
  const submitMs = performance.now() - began;
  await until('all runs of Airflow have succeeded', 1_200_000, async () => (await api.succeeded()) === jobs);
  const flowMs = performance.now() - began;
  const waits: number[] = [];
  for (let i = 0; i < latencies; i++) {
    const sentAt = Date.now();
    const run = await api.trigger();
    let startedAt: number | null = null;
    await until('a task of Airflow has begun', 120_000, async () => {
      startedAt = await api.startOf(run);
      return startedAt !== null;
    });
    waits.push((startedAt ?? Number.NaN) - sentAt);
    await pause(1_000);
  }
  return { submitMs, workMs: flowMs, flowMs, waits, cpuMs: 0 };
}

class AirflowApi {
  readonly #base: string;
  #token = '';

  constructor(base: string) {
    this.#base = base;
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.#base}/auth/token`);
      if (!answer.ok) return false;
      this.#token = ((await answer.json()) as { access_token: string }).access_token;
      await this.#ask('PATCH', '/dags/single', { is_paused: false });
      return true;
    } catch {
      return false;
    }
  }

  async trigger(): Promise<string> {
    const { dag_run_id } = await this.#ask<{ dag_run_id: string }>('POST', '/dags/single/dagRuns', {
      logical_date: null,
    });
    return dag_run_id;
  }

  async succeeded(): Promise<number> {
    const path = '/dags/single/dagRuns?state=success&limit=1';
    return (await this.#ask<{ total_entries: number }>('GET', path)).total_entries;
  }

  async startOf(run: string): Promise<number | null> {
    const path = `/dags/single/dagRuns/${encodeURIComponent(run)}/taskInstances/noop`;
    const { start_date } = await this.#ask<{ start_date: string | null }>('GET', path);
    return start_date === null ? null : Date.parse(start_date);
  }

  async #ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${this.#base}/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`Airflow: ${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }
}

/** Of a process and all below it: Airflow starts one process for each part of itself, and one for each task. */
function groupMs(root: number): number {
  const table = processTable();
  const members = new Set([root]);
  // Children have higher numbers than their parents but for a wrap of the counter, which a few rounds cover.
  for (let round = 0; round < 5; round++) {
    for (const [pid, { parent }] of table) if (members.has(parent)) members.add(pid);
  }
  return [...members].reduce((sum, pid) => {
    const row = table.get(pid);
    return row === undefined ? sum : sum + row.cpuMs + row.reapedMs;
  }, 0);
}
