/** A year of daily runs is made up for while a live dag goes on beside it: how much later its tasks start. */
import { type Cluster, pause, until } from '@signalbox/e2e';
import { type Figure, quantile } from './figure.ts';

interface Line {
  readonly kind: string;
  readonly run?: string;
  readonly atUs?: number;
}

const DAY_MS = 86_400_000;
const BETWEEN_MS = 20;
/** More than there are slots: the backfill could take the whole fleet. */
const MAX_ACTIVE = 50;

const nowUs = () => Number(process.hrtime.bigint() / 1000n);

/** Runs of a live dag, one after the other, for as long as `isOver` says no: from submission to start, in microseconds. */
async function delays(cluster: Cluster, isOver: (sent: number) => Promise<boolean>): Promise<number[]> {
  const client = cluster.client();
  const sentUs = new Map<string, number>();
  while (!(await isOver(sentUs.size))) {
    const at = nowUs();
    const { id } = await client.submit('live');
    sentUs.set(id, at);
    await pause(BETWEEN_MS);
  }
  const started = () =>
    (cluster.witnessLines() as Line[]).filter(({ kind, run }) => kind === 'start' && sentUs.has(run ?? ''));
  await until('all live runs have started', 30_000, () => started().length >= sentUs.size);
  return started().map(({ run, atUs }) => (atUs ?? 0) - (sentUs.get(run ?? '') ?? 0));
}

export async function backfillBeside(cluster: Cluster, days: number): Promise<Figure[]> {
  const client = cluster.client();
  await client.deployDag({ name: 'live', tasks: [{ name: 'only', handler: 'stamp' }] });
  await client.deployDag({
    name: 'daily',
    schedule: { cron: '0 0 * * *' },
    tasks: [
      { name: 'extract', handler: 'nap' },
      { name: 'load', handler: 'nap', needs: ['extract'] },
    ],
  });
  const alone = await delays(cluster, async (sent) => sent >= 300);
  const began = Date.now();
  const from = new Date(began - days * DAY_MS).toISOString();
  const { id, windows } = await client.startBackfill('daily', { from, maxActive: MAX_ACTIVE });
  let looked = 0;
  let isEnded = false;
  const beside = await delays(cluster, async () => {
    // A look now and then: it is not what is measured.
    looked += 1;
    if (looked % 20 === 0) isEnded = (await client.getBackfill(id)).state !== 'running';
    return isEnded;
  });
  const tookS = (Date.now() - began) / 1_000;
  const { runs } = await client.getBackfill(id);
  const ms = (us: readonly number[], q: number) => quantile(us, q) / 1_000;
  const details = (us: readonly number[]) => ({ 'p99 ms': ms(us, 0.99), 'max ms': ms(us, 1), samples: us.length });
  return [
    { what: 'live run, submit to start, alone, p50', value: ms(alone, 0.5), unit: 'ms', details: details(alone) },
    {
      what: `the same beside a backfill of ${windows} days, p50`,
      ...{ value: ms(beside, 0.5), unit: 'ms', details: details(beside) },
    },
    {
      what: `backfill of ${windows} days, 2 tasks of 50 ms each`,
      ...{ value: tookS, unit: 's', details: { succeeded: runs.succeeded } },
    },
  ];
}
