/** Registers schedules through the API, as many at a time as one request takes. */
import type { Cluster } from '@signalbox/e2e';
import type { NewSchedules } from '@signalbox/protocol';

export type NewSchedule = NewSchedules['items'][number];

const PER_REQUEST = 1_000;
const SENDERS = 4;

/** Dags whose tasks do what `handler` does, on a queue. */
export async function deployDags(
  cluster: Cluster,
  prefix: string,
  count: number,
  task: { readonly handler: string; readonly queue?: string },
): Promise<string[]> {
  const names = Array.from({ length: count }, (_, no) => `${prefix}-${no}`);
  const client = cluster.client();
  for (const name of names) await client.deployDag({ name, tasks: [{ name: 'only', ...task }] });
  return names;
}

/** Returns how many milliseconds it took. */
export async function register(cluster: Cluster, schedules: readonly NewSchedule[]): Promise<number> {
  const client = cluster.client();
  let next = 0;
  const sender = async () => {
    while (next < schedules.length) {
      const items = schedules.slice(next, (next += PER_REQUEST));
      const { created, items: told } = await client.createSchedules(items);
      if (created !== items.length) throw new Error(JSON.stringify(told.find(({ error }) => error !== null)));
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return performance.now() - began;
}
