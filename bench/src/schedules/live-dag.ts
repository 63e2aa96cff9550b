/** A dag that is submitted every few milliseconds, with slots of its own: what others notice. */
import { type Cluster, pause, until } from '@signalbox/e2e';

interface Line {
  readonly kind: string;
  readonly run?: string;
  readonly atUs?: number;
}

const EVERY_MS = 20;
const nowUs = () => Number(process.hrtime.bigint() / 1000n);

export interface LiveRun {
  readonly sentAt: number;
  /** From submission to start. */
  readonly delayMs: number;
}

/** Submits until `isOver`. Submissions do not wait for each other. */
export async function liveRunsWhile(cluster: Cluster, isOver: () => boolean): Promise<LiveRun[]> {
  const client = cluster.client();
  const sent = new Map<string, { readonly us: number; readonly at: number }>();
  const asked: Promise<void>[] = [];
  while (!isOver()) {
    const [us, at] = [nowUs(), Date.now()];
    asked.push(
      client.submit('live').then(({ id }) => {
        sent.set(id, { us, at });
      }),
    );
    await pause(EVERY_MS);
  }
  await Promise.all(asked);
  const started = () =>
    (cluster.witnessLines() as Line[]).filter(({ kind, run }) => kind === 'start' && sent.has(run ?? ''));
  await until('all live runs have started', 60_000, () => started().length >= sent.size);
  return started().map(({ run, atUs }) => {
    const { us, at } = sent.get(run ?? '')!;
    return { sentAt: at, delayMs: ((atUs ?? 0) - us) / 1_000 };
  });
}
