import type { AddedTask } from '../dag/added.ts';
import type { Fence, RunId, TaskNo } from '../ids.ts';
import { type ChangeOf, defineChange } from './define.ts';
import { type Field, f } from './fields.ts';

const addedTask: Field<AddedTask, false> = f.record({
  no: f.uint<TaskNo>(),
  by: f.uint<TaskNo>(),
  fence: f.uint<Fence>(),
  name: f.text(),
  template: f.uint(),
  needs: f.list(f.uint()),
  before: f.list(f.uint()),
  inputs: f.nullable(f.text()),
  isDropped: f.flag,
});

const fields = {
  runId: f.run,
  taskNo: f.uint<TaskNo>(),
  fence: f.uint<Fence>(),
  tasks: f.list(addedTask),
  at: f.instant,
} as const;

/**
 * An attempt has added tasks to its run, all at once; or has named again, or otherwise, tasks that an attempt before it had
 * added and that have not begun. From here on the run has them.
 */
const tasksAdded = defineChange('TasksAdded', {
  no: 41,
  fields,
  rows(change, rows: AddedRows) {
    foldAdded(rows, change);
  },
  event: ({ tasks }) => ({ kind: 'tasks.added', details: { tasks: tasks.map(({ name }) => name) } }),
});

/** An attempt has succeeded that did not name these, which an attempt before it had added: they are skipped. */
const tasksDropped = defineChange('TasksDropped', {
  no: 42,
  fields,
  rows(change, rows: AddedRows) {
    foldAdded(rows, change);
  },
  event: ({ tasks }) => ({ kind: 'tasks.dropped', details: { tasks: tasks.map(({ name }) => name) } }),
});

/** What was added to a run in a batch, by the numbers of the tasks. */
export interface AddedFold {
  readonly runId: RunId;
  readonly tasks: Map<number, AddedTask>;
}

export interface AddedRows {
  readonly added: Map<RunId, AddedFold>;
}

function foldAdded({ added }: AddedRows, { runId, tasks }: Pick<TasksAdded, 'runId' | 'tasks'>): void {
  const fold = added.get(runId) ?? { runId, tasks: new Map() };
  for (const task of tasks) fold.tasks.set(task.no, task);
  added.set(runId, fold);
}

export interface TasksAdded extends ChangeOf<typeof tasksAdded> {}
export interface TasksDropped extends ChangeOf<typeof tasksDropped> {}
export type AddedChange = TasksAdded | TasksDropped;

export const addedChanges = [tasksAdded, tasksDropped] as const;
