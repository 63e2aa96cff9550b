/** A second attempt begins beside the one that runs, never begins, ends, or takes over. The notes of the task keep it. */
import type { TaskNotes } from '@signalbox/engine';
import type { Rules } from './rule.ts';
import type { ModelTask, RunningTask, World } from './world.ts';

const FAILURES = ['transient', 'permanent', 'timeout', 'lost', 'cancelled', 'resource', 'stuck'] as const;

export const speculativeRules = {
  SecondClaimed: {
    weight: 3,
    given(world) {
      const found = world.runningTask((_, task) => secondOf(task) === null);
      if (found === null) return null;
      const { run, task } = found;
      const numbers = world.speculativeAttempt(run.runId, task);
      const at = world.chance.tick();
      const workerId = world.chance.one(world.workers);
      const notes = noted(task, { second: { ...numbers, workerId, claimedAt: at } });
      return { runId: run.runId, taskNo: task.taskNo, ...numbers, workerId, notes, at };
    },
  },
  SecondReturned: {
    given(world) {
      const found = withSecond(world);
      if (found === null) return null;
      const { run, task, second } = found;
      const notes = noted(task, { second: { ...second, attemptNo: 0 as never, over: 'returned' } });
      return { runId: run.runId, taskNo: task.taskNo, fence: second.fence, notes };
    },
  },
  SecondEnded: {
    given(world) {
      const found = withSecond(world);
      if (found === null) return null;
      const { run, task, second } = found;
      const { attemptNo, fence, workerId, claimedAt } = second;
      const outcome = world.chance.one(FAILURES);
      const notes = noted(task, { second: { ...second, over: outcome } });
      return { runId: run.runId, taskNo: task.taskNo, attemptNo, fence, workerId, claimedAt, outcome, notes };
    },
  },
  SecondTookOver: {
    given(world) {
      const found = withSecond(world);
      if (found === null) return null;
      const { run, task, second } = found;
      const { taskNo, attemptNo, fence, workerId, claimedAt } = task;
      const next = {
        attemptNo: second.attemptNo,
        fence: second.fence,
        workerId: second.workerId,
        claimedAt: second.claimedAt,
      };
      return {
        ...{ runId: run.runId, taskNo, attemptNo, fence, workerId, claimedAt, next },
        outcome: world.chance.one(FAILURES),
        notes: noted(task, { second: undefined, speculative: second.attemptNo }),
        speculative: notesOf(task).speculative === attemptNo ? true : undefined,
      };
    },
  },
} satisfies Rules;

type Second = NonNullable<TaskNotes['second']>;

function withSecond(world: World): (RunningTask & { readonly second: Second }) | null {
  const found = world.runningTask((_, task) => secondOf(task) !== null);
  const second = found === null ? null : secondOf(found.task);
  return found === null || second === null ? null : { ...found, second };
}

/** The second attempt, if one runs. */
function secondOf(task: ModelTask): Second | null {
  const { second } = notesOf(task);
  return second === undefined || second.over !== undefined ? null : second;
}

const notesOf = ({ notes }: ModelTask): TaskNotes => JSON.parse(notes ?? '{}') as TaskNotes;

/** Keys that are undefined are left out. */
const noted = (task: ModelTask, more: { readonly [Key in keyof TaskNotes]: TaskNotes[Key] | undefined }): string =>
  JSON.stringify({ ...notesOf(task), ...more });
