/** Checks what tasks produce against what starts runs of their dag. */
import type { Problem } from '../errors.ts';
import type { AssetTriggerShape } from './asset-fields.ts';
import type { ReadGroups } from './read-groups.ts';

interface Task {
  readonly produces?: readonly string[] | undefined;
}

/** What would never end, or make a run per item. */
export function checkAssets(
  tasks: readonly Task[],
  groups: ReadGroups,
  triggers: readonly { readonly assets?: AssetTriggerShape }[],
  problems: Problem[],
): void {
  const waitedFor = new Set(triggers.flatMap(({ assets }) => assets?.names ?? []));
  tasks.forEach(({ produces = [] }, no) => {
    const path = `tasks[${no}].produces`;
    if (produces.length > 0 && groups.mapsOf(no).length > 0) {
      problems.push({ path, message: 'is not for a task with a map: put it on a task that needs this one' });
    }
    const own = produces.find((name) => waitedFor.has(name));
    if (own !== undefined) {
      problems.push({ path, message: `names ${own}, which starts runs of this dag: it would run for ever` });
    }
  });
}
