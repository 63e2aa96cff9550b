/** The definition of a run to which tasks were added: made here once more, from the journal alone. */
import type { AddedTask, DagSpec, TaskSpec } from '@signalbox/engine';

type AddBook = ReadonlyMap<number, AddedTask>;

export function definitionWith(deployed: DagSpec, added: AddBook): DagSpec {
  const tasks: TaskSpec[] = [...deployed.tasks];
  const list = [...added.values()].sort((a, b) => a.no - b.no);
  for (const { no, name, by, template, needs, isDropped } of list) {
    const made = { ...deployed.templates![template]!, name, addedBy: by, needs: isDropped ? [by] : needs };
    tasks[no] = isDropped ? { ...made, when: { text: 'dropped', expression: NEVER } } : made;
  }
  for (const { no, by, before, isDropped } of list) {
    if (isDropped) continue;
    tasks.forEach((task, below) => {
      const isTaughtBy = task.teardown !== undefined && task.needs.includes(by);
      const isAwaited = before.includes(below) || isTaughtBy;
      if (isAwaited && !task.needs.includes(no)) tasks[below] = { ...task, needs: [...task.needs, no] };
    });
  }
  return { ...deployed, tasks };
}

const NEVER = { op: 'eq', left: { op: 'value', value: 1 }, right: { op: 'value', value: 2 } } as const;

/** A task that needs itself by way of others; null when there is none. What a map runs over is needed by its tasks. */
export function circleIn({ tasks, groups = [] }: DagSpec): number | null {
  const above = (no: number): number[] => {
    const found = [...tasks[no]!.needs];
    for (let group = tasks[no]!.group ?? null; group !== null; group = groups[group]!.parent) {
      for (const source of groups[group]!.map?.over ?? []) if (source.from === 'task') found.push(source.task);
    }
    return found;
  };
  return (
    [...tasks.keys()].find((start) => {
      const [seen, left] = [new Set<number>(), above(start)];
      for (let no = left.pop(); no !== undefined; no = left.pop()) {
        if (no === start) return true;
        if (!seen.has(no)) left.push(...above(no));
        seen.add(no);
      }
      return false;
    }) ?? null
  );
}
