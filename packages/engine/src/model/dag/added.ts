/**
 * Tasks that tasks have added to a run. They are numbered after the tasks of the spec, in *seats* that the dag keeps free
 * for them. Such a run has its own spec: that of its version plus the added tasks. Everything else (rules, retries, manual
 * actions, readers) uses that spec and does not know where a task came from.
 */

import type { Fence, TaskNo } from '../ids.ts';
import type { DagSpec, TaskSpec } from './spec.ts';
import { DEFAULT_ADDED_TASKS } from './spec.ts';

/** One that was added, as it is stored with its run. */
export interface AddedTask {
  readonly no: TaskNo;
  /** Which task has added it, and the fence of the attempt that named it last. */
  readonly by: TaskNo;
  readonly fence: Fence;
  readonly name: string;
  /** Index in `templates` of the dag. */
  readonly template: number;
  /** What it waits for, the one that added it included. Ascending. */
  readonly needs: readonly number[];
  /** What waits for it. Ascending. */
  readonly before: readonly number[];
  /** JSON text of an object: values, over those of the template. */
  readonly inputs: string | null;
  /** The attempt that succeeded in the end did not name it: it is skipped, and nothing waits for it. */
  readonly isDropped: boolean;
}

/** How many numbers a dag keeps for tasks of its spec and for those that may be added: maps begin behind them. */
export function roomOf({
  tasks,
  templates,
  maxAddedTasks,
  addedCount = 0,
}: Pick<DagSpec, 'templates' | 'maxAddedTasks' | 'addedCount'> & {
  readonly tasks: { readonly length: number };
}): number {
  return tasks.length - addedCount + (templates === undefined ? 0 : (maxAddedTasks ?? DEFAULT_ADDED_TASKS));
}

/** The spec of a run to which these were added, from that of its version. */
export function growSpec(spec: DagSpec, added: readonly AddedTask[] | undefined): DagSpec {
  if (added === undefined || added.length === 0) return spec;
  const own = spec.tasks;
  const awaited = new Map<number, number[]>();
  const teardowns = own.flatMap(({ teardown, needs }, no) =>
    teardown === undefined ? [] : [{ no, needs: new Set(needs) }],
  );
  const add = (below: number, no: number) => {
    const known = awaited.get(below);
    if (known === undefined) awaited.set(below, [no]);
    else known.push(no);
  };
  for (const { no, by, before, isDropped } of added) {
    if (isDropped) continue;
    for (const below of before) add(below, no);
    // What is taken down after the one that adds is taken down after what it adds.
    for (const teardown of teardowns) {
      if (!teardown.needs.has(by)) continue;
      teardown.needs.add(no);
      add(teardown.no, no);
    }
  }
  const waiting = (task: TaskSpec, no: number) => {
    const more = awaited.get(no);
    return more === undefined ? task : { ...task, needs: [...new Set([...task.needs, ...more])] };
  };
  const all = [...own, ...added.map((one) => madeOf(spec, one))];
  return { ...spec, tasks: all.map(waiting), addedCount: added.length };
}

/** Tasks that stay as they are when others are added. Each is of one run, and so of one version. */
const made = new WeakMap<AddedTask, TaskSpec>();

function madeOf(spec: DagSpec, one: AddedTask): TaskSpec {
  const known = made.get(one) ?? specOfAdded(spec, one);
  made.set(one, known);
  return known;
}

function specOfAdded(
  { templates = [] }: DagSpec,
  { name, template, needs, by, inputs, isDropped }: AddedTask,
): TaskSpec {
  const { work, ...model } = templates[template]!;
  const task: TaskSpec = { ...model, name, needs, addedBy: by, ...workWith(model, work, inputs) };
  return isDropped ? { ...task, needs: [by], when: NEVER } : task;
}

/** The engine looks no further into what a worker is told than to put the inputs where they belong. */
function workWith(
  { child }: Pick<TaskSpec, 'child'>,
  work: object | undefined,
  inputs: string | null,
): Pick<TaskSpec, 'work'> {
  if (inputs === null) return work === undefined ? {} : { work };
  const given = Object.entries(JSON.parse(inputs) as Record<string, unknown>);
  const values = Object.fromEntries(given.map(([name, value]) => [name, { from: 'value', value }]));
  const told = (work ?? { kind: child === undefined ? 'handler' : 'child' }) as { readonly inputs?: object };
  return { work: { ...told, inputs: { ...told.inputs, ...values } } };
}

const NEVER: NonNullable<TaskSpec['when']> = {
  text: 'added by the attempt that succeeded',
  expression: { op: 'eq', left: { op: 'value', value: true }, right: { op: 'value', value: false } },
};
