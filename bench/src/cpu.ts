/** CPU time of processes and their threads, read from the kernel: who spent it, Node or PostgreSQL. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Cluster } from '@signalbox/e2e';

const MS_PER_TICK = 10;

export interface CpuSplit {
  readonly serversMs: number;
  readonly workersMs: number;
  readonly postgresMs: number;
  readonly benchMs: number;
}

export function readCpu(cluster: Cluster): CpuSplit {
  const table = processTable();
  const of = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + (table.get(pid)?.cpuMs ?? 0), 0);
  const backends = [...table].filter(([, each]) => each.parent === cluster.postgres.pid).map(([pid]) => pid);
  return {
    serversMs: of(cluster.servers.map((server) => server.pid)),
    workersMs: of(cluster.workers.map((worker) => worker.pid)),
    postgresMs: of([cluster.postgres.pid, ...backends]),
    benchMs: of([process.pid]),
  };
}

export function cpuSince(cluster: Cluster, before: CpuSplit): CpuSplit {
  const now = readCpu(cluster);
  return {
    serversMs: now.serversMs - before.serversMs,
    workersMs: now.workersMs - before.workersMs,
    postgresMs: now.postgresMs - before.postgresMs,
    benchMs: now.benchMs - before.benchMs,
  };
}

function processTable(): Map<number, { parent: number; cpuMs: number }> {
  const table = new Map<number, { parent: number; cpuMs: number }>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      table.set(Number(entry), {
        parent: Number(fields[1]),
        cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
      });
    } catch {
      // It ended while we looked.
    }
  }
  return table;
}
