/** How long a node needs to take over shards with many live runs: until the first claim, and until all are loaded. */
import { fileURLToPath } from 'node:url';
import { Cluster, until } from '@signalbox/e2e';
import { atMost } from './bar.ts';
import type { Figure } from './figure.ts';

const WORKER = fileURLToPath(new URL('bench-worker.js', import.meta.url));
const BATCH = 1_000;

export async function loadTime(liveRuns: number): Promise<Figure[]> {
  const cluster = await Cluster.start({ servers: 1, workers: 0, slots: 0 });
  try {
    const client = cluster.client();
    for (let i = 0; i < 8; i++)
      await client.deployDag({ name: `load-${i}`, tasks: [{ name: 'only', handler: 'noop' }] });
    const batches = Array.from({ length: Math.ceil(liveRuns / BATCH) }, (_, i) => i);
    const submitter = async () => {
      for (let i = batches.pop(); i !== undefined; i = batches.pop()) {
        await client.submitMany(
          `load-${i % 8}`,
          Array.from({ length: BATCH }, () => ({})),
        );
      }
    };
    await Promise.all([submitter(), submitter(), submitter(), submitter()]);
    const [first] = cluster.servers;
    first?.signal('SIGTERM');
    await first?.exited;
    const began = Date.now();
    const second = await cluster.addServer();
    const readyMs = Date.now() - began;
    const worker = await cluster.addWorker(1, WORKER);
    await until('a run has ended', 60_000, async () => {
      const { rows } = await cluster.sql.query('select 1 from run where ended_at is not null limit 1');
      return rows.length > 0;
    });
    const dispatchMs = Date.now() - began;
    worker.signal('SIGKILL');
    await until('all runs are loaded', 120_000, () => loadedAt(second.log()) !== null);
    const loadedMs = (loadedAt(second.log()) ?? began) - began;
    const what = `${liveRuns.toLocaleString('en')} live runs: from process start to all loaded`;
    // A million in 30 s.
    const bar = liveRuns > 100_000 ? { bar: atMost({ goal: (30 * liveRuns) / 1_000_000 }) } : {};
    const details = { 'shards served after ms': readyMs, 'first task done after ms': dispatchMs };
    return [{ what, value: loadedMs / 1_000, unit: 's', ...bar, details }];
  } finally {
    await cluster.stop();
  }
}

/** By the log's own clock. There are more runs than a load takes at once, so that the line is sure to come. */
function loadedAt(log: string): number | null {
  let at: number | null = null;
  for (const line of log.split('\n')) {
    if (!line.includes('All live runs are loaded.')) continue;
    const time = (JSON.parse(line) as { time: number | string }).time;
    at = typeof time === 'number' ? time : Date.parse(time);
  }
  return at;
}
