/** Registers schedules through the API, thousands in a request. */
import type { Cluster } from '@signalbox/e2e';
import type { NewSchedules } from '@signalbox/protocol';

export type NewSchedule = NewSchedules['items'][number];

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
  const began = performance.now();
  const { created, errors } = await cluster.client().importSchedules(schedules);
  if (created !== schedules.length) throw new Error(`Only ${created} were created: ${JSON.stringify(errors[0])}`);
  return performance.now() - began;
}
