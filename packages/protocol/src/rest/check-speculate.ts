/** Checks which tasks may have a speculative attempt. */
import type { Problem } from '../errors.ts';
import type { ReadGroups } from './read-groups.ts';
import { type SpeculateFields, speculateSpec } from './speculate-fields.ts';

type Task = SpeculateFields & { readonly dag?: string | undefined; readonly timeout: number | null };

/** Only items of a map have siblings; and what runs another dag has no attempt that could hang at a worker. */
export function checkSpeculate(tasks: readonly Task[], groups: ReadGroups, problems: Problem[]): void {
  tasks.forEach((task, no) => {
    const { speculate } = speculateSpec(task);
    if (speculate === undefined) return;
    const path = `tasks[${no}].speculate`;
    if (groups.mapsOf(no).length === 0) {
      problems.push({ path, message: 'is for tasks with a map, or in a group that has one: others have no siblings' });
    } else if (task.dag !== undefined) {
      problems.push({ path, message: 'is for what workers run, and this task runs another dag' });
    } else if (speculate.minMs >= (task.timeout ?? Number.POSITIVE_INFINITY)) {
      problems.push({ path: `${path}.after`, message: 'must be below timeout: by then the attempt has ended' });
    }
  });
}
