/** How long an idle cluster takes from a submission to the first line of its handler, and from one task to the next. */
import { type Cluster, pause, until } from '@signalbox/e2e';
import { atMost, type Bar } from './bar.ts';
import { type Figure, quantile } from './figure.ts';

/** What the handlers of the bench write down. */
interface Line {
  readonly kind: string;
  readonly run?: string;
  readonly atUs?: number;
  readonly us?: number;
}

const nowUs = () => Number(process.hrtime.bigint() / 1000n);

export async function submitToStart(cluster: Cluster, label: string, samples: number, bar: Bar): Promise<Figure[]> {
  const client = cluster.client();
  await client.deployDag({ name: 'stamp', tasks: [{ name: 'only', handler: 'stamp' }] });
  const sentUs = new Map<string, number>();
  const seen = await collect(cluster, 'start', samples, async () => {
    const at = nowUs();
    const { id } = await client.submit('stamp');
    sentUs.set(id, at);
  });
  const measured = seen.map(({ run, atUs }) => (atUs ?? 0) - (sentUs.get(run ?? '') ?? 0));
  return figures(`submit to handler start, idle, ${label}`, measured, bar);
}

export async function taskToTask(cluster: Cluster, samples: number): Promise<Figure[]> {
  const client = cluster.client();
  await client.deployDag({
    name: 'pair',
    tasks: [
      { name: 'first', handler: 'first' },
      { name: 'second', handler: 'second', needs: ['first'] },
    ],
  });
  const measured = await collect(cluster, 'next', samples, async () => {
    await client.submit('pair');
  });
  const us = measured.map((line) => line.us ?? 0);
  return figures('end of a task to start of the next, idle', us, atMost({ goal: 2 }));
}

function figures(what: string, us: readonly number[], bar: Bar): Figure[] {
  const details = { 'p99 ms': quantile(us, 0.99) / 1_000, samples: us.length };
  return [{ what: `${what}, p50`, value: quantile(us, 0.5) / 1_000, unit: 'ms', bar, details }];
}

/** One at a time, with a pause between: nothing else is going on. The first tenth warms up. */
async function collect(cluster: Cluster, kind: string, samples: number, once: () => Promise<void>): Promise<Line[]> {
  const of = () => (cluster.witnessLines() as Line[]).filter((line) => line.kind === kind);
  const before = of().length;
  for (let i = 0; i < samples; i++) {
    await once();
    await pause(10);
  }
  await until('all have been seen', 10_000, () => of().length >= before + samples);
  return of().slice(before + Math.floor(samples / 10));
}
