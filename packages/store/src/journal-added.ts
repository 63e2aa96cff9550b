/** How tasks that were added to runs stand in the journal. */
import type { AddedTask, Fence, TaskNo, TasksAdded, TasksDropped } from '@signalbox/engine';
import type { ByteReader, ByteWriter } from './journal-bytes.ts';

type Added = TasksAdded | TasksDropped;

export const addedCodec = {
  write(to: ByteWriter, c: Added): void {
    to.run(c.runId);
    to.uint(c.taskNo);
    to.uint(c.fence);
    to.uint(c.tasks.length);
    for (const task of c.tasks) writeTask(to, task);
    to.instant(c.at);
  },
  read: (from: ByteReader): Omit<Added, 'kind'> => ({
    runId: from.run(),
    taskNo: from.uint() as TaskNo,
    fence: from.uint() as Fence,
    tasks: Array.from({ length: from.uint() }, () => readTask(from)),
    at: from.instant(),
  }),
};

function writeTask(to: ByteWriter, task: AddedTask): void {
  to.uint(task.no);
  to.uint(task.by);
  to.uint(task.fence);
  to.text(task.name);
  to.uint(task.template);
  for (const numbers of [task.needs, task.before]) {
    to.uint(numbers.length);
    for (const no of numbers) to.uint(no);
  }
  to.nullable(task.inputs, (inputs) => to.text(inputs));
  to.flag(task.isDropped);
}

function readTask(from: ByteReader): AddedTask {
  const numbers = () => Array.from({ length: from.uint() }, () => from.uint());
  return {
    no: from.uint() as TaskNo,
    by: from.uint() as TaskNo,
    fence: from.uint() as Fence,
    name: from.text(),
    template: from.uint(),
    needs: numbers(),
    before: numbers(),
    inputs: from.nullable(() => from.text()),
    isDropped: from.flag(),
  };
}
