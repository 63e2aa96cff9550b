/**
 * Branches and short circuits, from the view of the tasks that directly need them.
 *
 * Such a task waits for all of them, whatever its rule, and is skipped if one does not let it pass. If it waited for its
 * rule alone, an eager rule could start it before the branch has chosen, and the order of arrival would decide (I31).
 */
import { walkDown, walkUp } from './dag-walk.ts';
import type { TaskSpec } from './spec.ts';

type ChooserTask = Pick<TaskSpec, 'needs'> & Partial<Pick<TaskSpec, 'branch' | 'shortCircuit' | 'addedBy'>>;

export function isChooser({ branch, shortCircuit }: ChooserTask): boolean {
  return branch === true || shortCircuit !== undefined;
}

/**
 * For each task the choosers that it needs directly; empty for a dag without any. A chooser in a map that is not around the task is
 * left out: the task sees many of it, and its rule counts them.
 */
export function choosersOf(
  tasks: readonly ChooserTask[],
  isAround: (up: number, no: number) => boolean,
): readonly (readonly number[])[] {
  if (!tasks.some(isChooser)) return [];
  return tasks.map(({ needs }, no) => needs.filter((up) => isChooser(tasks[up]!) && isAround(up, no)));
}

/**
 * Tasks that need a branch and also come behind another task that needs it: by branch, then by task, which of those others they come
 * behind. When one of them is chosen the task is not skipped, as in Airflow.
 */
export function joinsOf(
  tasks: readonly ChooserTask[],
  downstreamOf: (no: number) => Iterable<number>,
): ReadonlyMap<number, ReadonlyMap<number, readonly number[]>> {
  const joins = new Map<number, Map<number, readonly number[]>>();
  let upstream: readonly (readonly number[])[] | null = null;
  tasks.forEach((task, branch) => {
    if (task.branch !== true) return;
    const arms = new Set(downstreamOf(branch));
    const behind = walkDown(arms, downstreamOf, tasks);
    const found = new Map<number, readonly number[]>();
    for (const arm of arms) {
      if (!behind.has(arm)) continue;
      upstream ??= upstreamIn(tasks.length, downstreamOf);
      const above = walkUp([arm], (no) => upstream![no]!, tasks);
      found.set(
        arm,
        [...above].filter((other) => arms.has(other)),
      );
    }
    if (found.size > 0) joins.set(branch, found);
  });
  return joins;
}

/** The same edges, upwards. `needs` is not enough: a mapped task also comes behind what its map runs over. */
function upstreamIn(taskCount: number, downstreamOf: (no: number) => Iterable<number>): readonly (readonly number[])[] {
  const upstream: number[][] = Array.from({ length: taskCount }, () => []);
  for (let no = 0; no < taskCount; no++) for (const below of downstreamOf(no)) upstream[below]!.push(no);
  return upstream;
}
