/** CPU time of processes and their threads, read from the kernel: who spent it, Node or PostgreSQL. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Cluster } from '@signalbox/e2e';

const MS_PER_TICK = 10;

export interface CpuSplit {
  readonly serversMs: number;
  readonly workersMs: number;
  /** Processes that workers have started, also those that have ended and were waited for. */
  readonly childrenMs: number;
  readonly postgresMs: number;
  readonly benchMs: number;
}

export function readCpu(cluster: Cluster): CpuSplit {
  const table = processTable();
  const of = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + (table.get(pid)?.cpuMs ?? 0), 0);
  const childrenOf = (parents: readonly number[]) =>
    [...table].filter(([, each]) => parents.includes(each.parent)).map(([pid]) => pid);
  const workers = cluster.workers.map((worker) => worker.pid);
  const children = childrenOf(workers);
  // What starts programs for a worker has waited for them in its place.
  const reapedMs = [...workers, ...children].reduce((sum, pid) => sum + (table.get(pid)?.reapedMs ?? 0), 0);
  return {
    serversMs: of(cluster.servers.map((server) => server.pid)),
    workersMs: of(workers),
    childrenMs: of(children) + reapedMs,
    postgresMs: of([cluster.postgres.pid, ...childrenOf([cluster.postgres.pid])]),
    benchMs: of([process.pid]),
  };
}

export function cpuSince(cluster: Cluster, before: CpuSplit): CpuSplit {
  const now = readCpu(cluster);
  return {
    serversMs: now.serversMs - before.serversMs,
    workersMs: now.workersMs - before.workersMs,
    childrenMs: now.childrenMs - before.childrenMs,
    postgresMs: now.postgresMs - before.postgresMs,
    benchMs: now.benchMs - before.benchMs,
  };
}

export interface ProcessRow {
  readonly parent: number;
  readonly cpuMs: number;
  readonly reapedMs: number;
}

export function processTable(): Map<number, ProcessRow> {
  const table = new Map<number, ProcessRow>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      table.set(Number(entry), {
        parent: Number(fields[1]),
        cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
        reapedMs: (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK,
      });
    } catch {
      // It ended while we looked.
    }
  }
  return table;
}
