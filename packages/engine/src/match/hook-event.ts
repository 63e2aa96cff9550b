/** What a hook is told of what has happened. Why it happened is in the database: the host reads it. */
import { isRepeating } from '../dag/closing-plan.ts';
import type { HookEvent } from '../dag/spec.ts';
import type { AttemptNo, TaskNo } from '../ids.ts';
import { slotOf, taskSpecOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { outcomeOf } from '../task/closing.ts';
import { notesOf } from '../task/notes.ts';
import type { TaskState } from '../task/outcome.ts';
import { FAILED, SUCCEEDED, TASK_STATE_NAMES } from '../task/task-table.ts';

export interface HookEventDetails {
  readonly on: HookEvent;
  /** Null for a hook of the run. */
  readonly taskNo: TaskNo | null;
  /** What people call that task: `load`, `load[3]`. */
  readonly taskName: string | null;
  /** Of the task, or of the run; null when it has none yet. */
  readonly outcome: TaskState | null;
  /** The attempt of the task that it is about; of the run, the how manieth time this happens; 0 for none. */
  readonly attemptNo: AttemptNo;
  /** The tasks of the run that failed by themselves, for a hook of the run. */
  readonly failed: readonly number[];
}

const MOST_FAILED = 100;

/** Null for what is no hook. */
export function hookEventFor(state: State, run: number, taskNo: TaskNo): HookEventDetails | null {
  const { runs, tasks } = state;
  const version = runs.versionOf(run);
  const { hook } = taskSpecOf(state, slotOf(state, run, taskNo));
  if (hook === undefined) return null;
  const { on, of } = hook;
  if (of === null) {
    const failed = version.spec.tasks.flatMap((_, no) => (tasks.state[slotOf(state, run, no)] === FAILED ? [no] : []));
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
    outcome: code < SUCCEEDED ? null : TASK_STATE_NAMES[code]!,
    attemptNo: (slow ?? tasks.attemptNo[slot]) as AttemptNo,
    failed: [],
  };
}

/** The how manieth time of what it runs for. */
function firingOf(state: State, run: number, hook: TaskNo): number {
  return (notesOf(state, slotOf(state, run, hook)).firing ?? 0) + 1;
}
