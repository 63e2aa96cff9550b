/** The view of a run with ten thousand tasks: whole, in columns, and a page of its tasks; ended, and while it runs. */
import { type Cluster, until } from '@signalbox/e2e';
import type { Figure } from '../figure.ts';
import { profiled } from '../profiled.ts';
import { runEnded, wideDefinition } from '../throughput.ts';
import { askAlone, readFrom } from './ask.ts';

const TASKS = 10_000;
const TIMES = 30;
const GOAL_MS = 150;

export async function viewOfLargeRun(cluster: Cluster): Promise<Figure[]> {
  const client = cluster.client();
  const wide = wideDefinition(TASKS);
  await client.deployDag(wide);
  const ended = await client.submit(wide.name);
  await until('the run has ended', 300_000, () => runEnded(cluster, ended.id));
  // Its tasks wait for a queue that no worker serves.
  const [root, ...rest] = wide.tasks;
  const waiting = rest.map((task) => ({ ...task, queue: 'nobody' }));
  await client.deployDag({ ...wide, name: 'half-done', tasks: [root!, ...waiting] });
  const live = await client.submit('half-done');
  await until('its first task has ended', 60_000, async () => {
    const { items } = await client.listTasks(live.id, { state: 'succeeded', limit: 1 });
    return items.length > 0;
  });
  return profiled(async () => [
    ...(await views(cluster, 'that has ended', ended.id)),
    ...(await views(cluster, 'that waits', live.id)),
  ]);
}

async function views(cluster: Cluster, which: string, id: string): Promise<Figure[]> {
  const read = readFrom(cluster);
  const of = `a run of ${TASKS.toLocaleString('en')} tasks ${which}`;
  return [
    await askAlone(cluster, `view of ${of}`, TIMES, GOAL_MS, () => read(`/v1/runs/${id}`)),
    await askAlone(cluster, `columns of ${of}`, TIMES, GOAL_MS, () => read(`/v1/runs/${id}/columns`)),
    await askAlone(cluster, `a page of tasks of ${of}`, TIMES, GOAL_MS, () => read(`/v1/runs/${id}/tasks?limit=100`)),
  ];
}
