/** Records that one task runs again, for a person or a policy. */

import type { ClearedFrom } from '../../model/change.ts';
import type { Actor, AttemptNo, Fence, RunId, TaskSlot } from '../../model/ids.ts';
import { noting } from '../../model/task/notes.ts';
import { CANCELLED, FAILED, SKIPPED, STOPPED, SUCCEEDED } from '../../model/task/task-states.ts';
import type { State } from '../../tables/state.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';

interface Clearing {
  readonly actor: Actor;
  readonly fresh: boolean;
  readonly more: boolean;
  /** Of a hook: which retry it is about from here on. */
  readonly firing?: number;
  /** A member of a gang that succeeded in a try that failed: it keeps its budgets, and that attempt counts against none. */
  readonly isUncounted?: true;
}

/** One that only waits keeps what is left of its budgets, unless it is given fresh ones (I39). */
export function clearTask(
  recorder: Recorder,
  slot: TaskSlot,
  { actor, fresh, more, firing, isUncounted }: Clearing,
): void {
  const { state } = recorder;
  const { tasks, runs, now } = state;
  const from = rowStateOf(state, slot);
  const isFresh = fresh || (from !== 'retrying' && isUncounted !== true);
  const notes = notesOf(state, slot);
  // What an attempt needs of memory it needs, whoever asked for it. Nothing took time while its run was closed: that counts anew.
  const kept = {
    ...(tasks.state[slot] === CANCELLED ? TIMES_ANEW : {}),
    ...(isUncounted === true ? { queuedAt: undefined, uncounted: (notes.uncounted ?? 0) + 1 } : {}),
  };
  recorder.record({
    kind: 'TaskCleared',
    runId: runs.id[tasks.run[slot]!] as RunId,
    taskNo: taskNoOf(state, slot),
    attemptNo: tasks.attemptNo[slot] as AttemptNo,
    fence: tasks.fence[slot] as Fence,
    from,
    freshBudget: isFresh,
    more,
    actor,
    at: now,
    ...noting(notes, isFresh ? { ...AFRESH, ...(firing === undefined ? {} : { firing }) } : kept),
  });
}

const ROW_STATES: ReadonlyMap<number, ClearedFrom> = new Map([
  [SUCCEEDED, 'succeeded'],
  [FAILED, 'failed'],
  [SKIPPED, 'skipped'],
  [STOPPED, 'stopped'],
]);

const TIMES_ANEW = { firstAt: undefined, queuedAt: undefined } as const;
const AFRESH = { ...TIMES_ANEW, counts: undefined, expired: undefined, uncounted: undefined } as const;

/** A task that waited for a retry when its run was closed is cancelled, and its row still says that it waits. */
function rowStateOf(state: State, slot: TaskSlot): ClearedFrom {
  const { tasks } = state;
  if (tasks.state[slot] === FAILED && notesOf(state, slot).expired !== undefined) return 'expired';
  return ROW_STATES.get(tasks.state[slot]!) ?? (tasks.retryAt[slot] !== 0 ? 'retrying' : 'cancelled');
}
