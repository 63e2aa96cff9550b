/** What a hook is told about its event. The reason is in the database; the host reads it. */

import { isRepeating } from '../../model/dag/closing-plan.ts';
import type { AttemptNo, RunRow, TaskNo } from '../../model/ids.ts';
import { IS_GIVEN_UP, IS_TERMINAL, TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { outcomeOf } from '../../propagate/closing.ts';
import type { State } from '../../tables/state.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { slotOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import type { HookEventDetails } from '../effect.ts';

const MOST_FAILED = 100;

/** Null for what is no hook. */
export function hookEventFor(state: State, run: RunRow, taskNo: TaskNo): HookEventDetails | null {
  const { runs, tasks } = state;
  const version = runs.versionOf(run);
  const { hook } = taskSpecOf(state, slotOf(state, run, taskNo));
  if (hook === undefined) return null;
  const { on, of } = hook;
  if (of === null) {
    const failed = version.spec.tasks.flatMap((_, no) =>
      IS_GIVEN_UP[tasks.state[slotOf(state, run, no)]!] === 1 ? [no] : [],
    );
    const outcome = outcomeOf(runs.outcome[run]!);
    const time = isRepeating({ hook }) ? firingOf(state, run, taskNo) : 0;
    return {
      on,
      taskNo: null,
      taskName: null,
      outcome,
      attemptNo: time as AttemptNo,
      failed: failed.slice(0, MOST_FAILED),
    };
  }
  // In a map, of its own instance.
  const about = (runs.mapsOf(run)?.near(taskNo, of) ?? of) as TaskNo;
  const path = runs.mapsOf(run)?.pathOf(about) ?? [];
  const taskName = `${version.task(of as TaskNo).name}${path.map((index) => `[${index}]`).join('')}`;
  const slot = slotOf(state, run, about);
  if (on === 'retry') {
    const attemptNo = firingOf(state, run, taskNo) as AttemptNo;
    return { on, taskNo: about, taskName, outcome: null, attemptNo, failed: [] };
  }
  const code = tasks.state[slot]!;
  const slow = on === 'slow' ? notesOf(state, slot).slowAttempts?.[firingOf(state, run, taskNo) - 1] : undefined;
  return {
    on,
    taskNo: about,
    taskName,
    outcome: IS_TERMINAL[code] === 0 ? null : TASK_STATE_NAMES[code]!,
    attemptNo: (slow ?? tasks.attemptNo[slot]) as AttemptNo,
    failed: [],
  };
}

/** How often the event that the hook runs for has happened so far. */
function firingOf(state: State, run: RunRow, hook: TaskNo): number {
  return (notesOf(state, slotOf(state, run, hook)).firing ?? 0) + 1;
}
