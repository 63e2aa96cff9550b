/** Runs the measuring script of one peer in a process of its own, and makes figures of what it prints. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processTable } from '../cpu.ts';
import { type Figure, quantile } from '../figure.ts';

/** Where the scripts and what they need are. */
export const PEERS = fileURLToPath(new URL('../../peers/', import.meta.url));

/** What a peer needed. */
export interface Measured {
  readonly submitMs: number;
  readonly workMs: number;
  readonly flowMs: number;
  readonly waits: readonly number[];
  readonly cpuMs: number;
}

export type Settings = 'defaults' | 'best';

export interface Peer {
  readonly label: string;
  /** In the folder of the scripts, with its arguments. */
  readonly script: readonly [string, ...string[]];
  readonly url: string;
  readonly jobs: number;
  readonly latencies: number;
  /** The process whose processor time, with that of its children, is the server's: PostgreSQL, Redis, Temporal. */
  readonly server: number;
}

export const labelOf = (peer: string, settings: Settings): string =>
  `${peer}, ${settings === 'best' ? 'best documented settings' : 'defaults'}`;

export async function measure(peer: Peer): Promise<Figure[]> {
  const before = serverMs(peer.server);
  const measured = await inItsProcess(peer);
  const spentMs = serverMs(peer.server) - before;
  // The jobs went through it twice: from a backlog, and as a flow.
  return figuresOf(peer.label, peer.jobs, measured, { peer: measured.cpuMs / 2, server: spentMs / 2 });
}

/** `cpuMs`: the processor time that all jobs took once. */
export function figuresOf(
  label: string,
  jobs: number,
  measured: Measured,
  cpuMs: { readonly peer: number; readonly server: number },
): Figure[] {
  const us = (ms: number) => (ms * 1_000) / jobs;
  const cpu = { 'peer µs/task': us(cpuMs.peer), 'server µs/task': us(cpuMs.server) };
  const all = { 'all µs/task': cpu['peer µs/task'] + cpu['server µs/task'] };
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

/** Of a process and its children. */
function serverMs(pid: number): number {
  const rows = [...processTable()].filter(([own, { parent }]) => own === pid || parent === pid);
  // Children that have ended are counted by their parent.
  return rows.reduce((sum, [own, { cpuMs, reapedMs }]) => sum + cpuMs + (own === pid ? reapedMs : 0), 0);
}

function inItsProcess({ label, script: [file, ...args], url, jobs, latencies }: Peer): Promise<Measured> {
  const env = { ...process.env, PEER_URL: url, PEER_JOBS: String(jobs), PEER_LATENCIES: String(latencies) };
  const child = spawn(process.execPath, [join(PEERS, file), ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      const line = text.trim().split('\n').at(-1) ?? '';
      if (code === 0 && line.startsWith('{')) resolve(JSON.parse(line) as Measured);
      else reject(new Error(`${label} ended with ${code}.`));
    });
  });
}
