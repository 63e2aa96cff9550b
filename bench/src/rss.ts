import { readFileSync } from 'node:fs';
import type { Cluster } from '@signalbox/e2e';

/** Of all servers that run, with all their threads. */
export function rssMiB(cluster: Cluster): number {
  const kib = cluster.runningServers().map(({ pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN);
  });
  return kib.reduce((sum, each) => sum + each, 0) / 1_024;
}
