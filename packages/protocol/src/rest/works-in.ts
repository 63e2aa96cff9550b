import type { DagDefinition } from './dag-definition.ts';

type Task = DagDefinition['tasks'][number];

/** All that a dag does: its tasks, what undoes them, hooks, and what may be added. */
export function worksIn({ tasks, hooks, templates = [] }: DagDefinition): Pick<Task, 'function'>[] {
  const all = tasks.flatMap((task) => [task, task.undo, ...Object.values(task.hooks ?? {})]);
  return [...all, ...templates, ...Object.values(hooks ?? {})].filter((work) => work !== undefined);
}
