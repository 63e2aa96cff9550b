/** Mapped tasks: one line for all instances, and the instances that a person wants to see. */
import { taskStateLook } from '@signalbox/protocol/words';
import type { Client, TaskView } from '@signalbox/sdk';
import { coloured } from './output.ts';

const PAGE = 500;

/** `3 failed, 97 succeeded of 100`; nothing for a task that is not mapped. */
export function countsText({ instances, state: itsState }: Pick<TaskView, 'instances' | 'state'>): string {
  if (instances === null) return '';
  const rank = (state: string) => taskStateLook(state)?.rank ?? 99;
  const counts = Object.entries(instances.states).sort(([a], [b]) => rank(a) - rank(b));
  const parts = counts.map(([state, count]) => `${spell(count)} ${coloured(state)}`);
  // In a map that is about to expand there are none yet.
  if (parts.length === 0) return itsState === 'expanded' ? 'items to come' : 'no items';
  return `${parts.join(', ')} of ${spell(instances.total)}`;
}

/** Instances of mapped tasks that failed, the first so many. */
export async function failedInstances(client: Client, run: string, most: number): Promise<TaskView[]> {
  const found: TaskView[] = [];
  for await (const task of tasksOf(client, run, { state: 'failed' })) {
    if (task.map.length > 0 && task.attempt > 0) found.push(task);
    if (found.length >= most) break;
  }
  return found;
}

/** All tasks, those of the definition first; page by page. */
export async function* tasksOf(
  client: Client,
  run: string,
  filter: { readonly state?: TaskView['state'] } = {},
): AsyncGenerator<TaskView> {
  let cursor: string | null = '0';
  while (cursor !== null) {
    const page: Awaited<ReturnType<Client['listTasks']>> = await client.listTasks(run, {
      ...filter,
      cursor,
      limit: PAGE,
    });
    yield* page.items;
    cursor = page.cursor;
  }
}

const spell = (count: number): string => count.toLocaleString('en-US');
