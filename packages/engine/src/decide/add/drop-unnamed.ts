import type { AddedTask } from '../../model/dag/added.ts';
import type { Fence, TaskSlot } from '../../model/ids.ts';
import { BLOCKED } from '../../model/task/task-states.ts';
import { slotOf, taskNoOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';

/**
 * An attempt that may add tasks is about to succeed: what runs is what it has added. Those that an attempt before it has named,
 * and it has not, are dropped, unless they have begun; and with them what they had added in turn.
 */
export function dropUnnamed(recorder: Recorder, slot: TaskSlot): void {
  const { state } = recorder;
  const { runs, tasks } = state;
  const run = tasks.run[slot]!;
  const [taskNo, fence] = [taskNoOf(state, slot), tasks.fence[slot] as Fence];
  const dropped = new Map<number, AddedTask>();
  for (const one of runs.added.get(run) ?? []) {
    // Whoever adds comes before what it adds.
    const isUnnamed = one.by === taskNo ? one.fence !== fence : dropped.has(one.by);
    if (!isUnnamed || one.isDropped || tasks.state[slotOf(state, run, one.no)] !== BLOCKED) continue;
    dropped.set(one.no, { ...one, isDropped: true });
  }
  if (dropped.size === 0) return;
  recorder.record({
    kind: 'TasksDropped',
    runId: runs.id[run]!,
    taskNo,
    fence,
    tasks: [...dropped.values()],
    at: state.now,
  });
}
