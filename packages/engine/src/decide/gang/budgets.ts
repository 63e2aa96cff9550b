/** What a gang has used of its budgets: tries, whichever member ended them. */
import type { TaskSlot } from '../../model/ids.ts';
import type { TaskNotes } from '../../model/task/notes.ts';
import { RUNNING, SUCCEEDED } from '../../model/task/task-states.ts';
import type { State } from '../../tables/state.ts';
import { membersOf } from '../../tables/task/gang.ts';
import { notesOf } from '../../tables/task/task-notes.ts';

interface Used {
  /** Ended attempts that count against `maxAttempts`. */
  readonly failureCount: number;
  readonly lostCount: number;
  readonly counts: TaskNotes['counts'];
}

/** `own`: of the member that ends the try. Each try is counted once, by the member that ended it (I39). */
export function ofGang(state: State, slot: TaskSlot, own: Used): Used {
  const { tasks } = state;
  let { failureCount, lostCount } = own;
  const counts: Record<string, number> = { ...own.counts };
  for (const other of membersOf(state, slot) ?? []) {
    if (other === slot) continue;
    const { uncounted = 0, counts: ofOther = {} } = notesOf(state, other);
    const code = tasks.state[other];
    // Its attempt of this try has not failed.
    const isOfTry = code === RUNNING || code === SUCCEEDED ? 1 : 0;
    const lost = tasks.lostCount[other]!;
    failureCount += tasks.attemptNo[other]! - tasks.budgetBase[other]! - lost - uncounted - isOfTry;
    lostCount += lost;
    for (const [name, count] of Object.entries(ofOther)) counts[name] = (counts[name] ?? 0) + count;
  }
  return { failureCount, lostCount, counts };
}
