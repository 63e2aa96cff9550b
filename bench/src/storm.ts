/** Ten thousand tasks on one dead dependency: how often it is tried, second by second, with breakers and without. */
import { type Cluster, until } from '@signalbox/e2e';
import { type Figure, quantile } from './figure.ts';

/** What the handler writes down for each attempt. */
interface Try {
  readonly kind: string;
  readonly dag?: string;
  readonly at: number;
  readonly ok: boolean;
}

const DOWN_MS = 40_000;
const SHOWN_MS = 5_000;
const BATCH = 1_000;

export async function storm(cluster: Cluster, count: number): Promise<Figure[]> {
  return [...(await survive(cluster, 'storm-held', count)), ...(await survive(cluster, 'storm-free', count))];
}

async function survive(cluster: Cluster, dag: string, count: number): Promise<Figure[]> {
  const client = cluster.client();
  const isHeld = dag === 'storm-held';
  await client.deployDag({
    name: dag,
    ...(isHeld ? {} : { breaker: false }),
    tasks: [
      {
        name: 'only',
        handler: 'lean',
        retries: { maxAttempts: 500, minMs: 500, baseMs: 1_000, maxMs: 5_000 },
        ...(isHeld ? {} : { poison: false }),
      },
    ],
  });
  const began = Date.now();
  const backAt = began + DOWN_MS;
  for (let sent = 0; sent < count; sent += BATCH) {
    const runs = Array.from({ length: Math.min(BATCH, count - sent) }, () => ({ params: { dag, backAt } }));
    await client.submitMany(dag, runs);
  }
  const tries = () => (cluster.witnessLines() as Try[]).filter((line) => line.kind === 'try' && line.dag === dag);
  await until('all have got through', 600_000, () => tries().filter(({ ok }) => ok).length >= count);
  const all = tries();
  const failed = all.filter(({ ok }) => !ok);
  const shares = Array.from({ length: Math.ceil((DOWN_MS * 2) / SHOWN_MS) }, (_, slice) => {
    const from = began + slice * SHOWN_MS;
    const seen = all.filter(({ at }) => at >= from && at < from + SHOWN_MS).length;
    return Math.round((seen * 1_000) / SHOWN_MS);
  });
  const doneAt = Math.max(...all.map(({ at }) => at));
  const late = failed.filter(({ at }) => at > began + 2 * SHOWN_MS).length;
  const name = isHeld ? 'with breakers' : 'without';
  return [
    {
      what: `${count.toLocaleString('en')} tasks on a dead dependency, ${name}: tries in vain`,
      value: failed.length,
      unit: 'attempts',
      details: {
        'after the first 10 s': late,
        'attempts/s by 5 s': shares.join(' '),
        's from its return to the last': (doneAt - backAt) / 1_000,
        'median s':
          (quantile(
            all.filter(({ ok }) => ok).map(({ at }) => at),
            0.5,
          ) -
            backAt) /
          1_000,
      },
    },
  ];
}
