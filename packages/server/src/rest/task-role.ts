/** The role of a task in its run, as people see it. */
import type { TaskSpec } from '@signalbox/engine';
import type { TaskView } from '@signalbox/protocol';

export function roleOf({ teardown, undoes, hook }: Pick<TaskSpec, 'teardown' | 'undoes' | 'hook'>): TaskView['role'] {
  if (teardown !== undefined) return 'teardown';
  if (undoes !== undefined) return 'undo';
  return hook === undefined ? 'task' : 'hook';
}
