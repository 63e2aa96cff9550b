/**
 * No-op tasks where each commit takes 5 ms longer, as on a slow disk. A deferred trigger on the journal, which has one row for each
 * commit, sleeps at the commit: the backend waits as it would for the disk, with its locks held. A proxy that delays the answer would
 * let it go on with the next commit meanwhile, and `commit_delay` waits only if others commit at the same time.
 */
import type { Cluster } from '@signalbox/e2e';
import { atLeast } from './bar.ts';
import type { Figure } from './figure.ts';
import { countDetails, cpuDetails, flow } from './throughput.ts';

const WARM = 6_000;

export async function slowDisk(cluster: Cluster, runs: number, delayMs: number): Promise<Figure[]> {
  await cluster.client().deployDag({ name: 'slow', tasks: [{ name: 'only', handler: 'noop' }] });
  await flow(cluster, 'slow', WARM);
  await delayCommits(cluster, delayMs);
  const { ms, cpu, counts } = await flow(cluster, 'slow', runs);
  return [
    {
      what: `no-op tasks with ${delayMs} ms added to each commit`,
      value: (runs / ms) * 1_000,
      unit: 'tasks/s',
      bar: atLeast({ goal: 15_000 }),
      details: {
        'commits/s': counts.commits / (ms / 1_000),
        ...cpuDetails(cpu, runs, 'task'),
        ...countDetails(counts, runs, 'task'),
      },
    },
  ];
}

async function delayCommits(cluster: Cluster, delayMs: number): Promise<void> {
  await cluster.sql.query(`
    create function slow_disk() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(${delayMs / 1_000});
      return null;
    end $$`);
  await cluster.sql.query(
    'create constraint trigger slow_disk after insert on journal deferrable initially deferred for each row execute function slow_disk()',
  );
}
