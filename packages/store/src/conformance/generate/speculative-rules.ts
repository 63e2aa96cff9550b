/** A speculative attempt begins beside the one that runs, never begins, ends, or takes over. The notes of the task keep it. */
import { notesWith, readNotes, type TaskNotes } from '@signalbox/engine';
import type { Rules } from './rule.ts';
import type { ModelTask, RunningTask, World } from './world.ts';

const FAILURES = ['transient', 'permanent', 'timeout', 'lost', 'cancelled', 'resource', 'stuck'] as const;

export const speculativeRules = {
  SpeculativeClaimed: {
    weight: 3,
    given(world) {
      const found = world.runningTask((_, task) => speculativeOf(task) === null);
      if (found === null) return null;
      const { run, task } = found;
      const numbers = world.speculativeAttempt(run.runId, task);
      const at = world.chance.tick();
      const workerId = world.chance.one(world.workers);
      const notes = noted(task, { speculativeAttempt: { ...numbers, workerId, claimedAt: at } });
      return { runId: run.runId, taskNo: task.taskNo, ...numbers, workerId, notes, at };
    },
  },
  SpeculativeReturned: {
    given(world) {
      const found = withSpeculative(world);
      if (found === null) return null;
      const { run, task, speculative } = found;
      const notes = noted(task, { speculativeAttempt: { ...speculative, attemptNo: 0 as never, over: 'returned' } });
      return { runId: run.runId, taskNo: task.taskNo, fence: speculative.fence, notes };
    },
  },
  SpeculativeEnded: {
    given(world) {
      const found = withSpeculative(world);
      if (found === null) return null;
      const { run, task, speculative } = found;
      const { attemptNo, fence, workerId, claimedAt } = speculative;
      const outcome = world.chance.one(FAILURES);
      const notes = noted(task, { speculativeAttempt: { ...speculative, over: outcome } });
      return { runId: run.runId, taskNo: task.taskNo, attemptNo, fence, workerId, claimedAt, outcome, notes };
    },
  },
  SpeculativeTookOver: {
    given(world) {
      const found = withSpeculative(world);
      if (found === null) return null;
      const { run, task, speculative } = found;
      const { taskNo, attemptNo, fence, workerId, claimedAt } = task;
      const next = {
        attemptNo: speculative.attemptNo,
        fence: speculative.fence,
        workerId: speculative.workerId,
        claimedAt: speculative.claimedAt,
      };
      return {
        ...{ runId: run.runId, taskNo, attemptNo, fence, workerId, claimedAt, next },
        outcome: world.chance.one(FAILURES),
        notes: noted(task, { speculativeAttempt: undefined, speculative: speculative.attemptNo }),
        speculative: notesOf(task).speculative === attemptNo ? true : undefined,
      };
    },
  },
} satisfies Rules;

type Speculative = NonNullable<TaskNotes['speculativeAttempt']>;

function withSpeculative(world: World): (RunningTask & { readonly speculative: Speculative }) | null {
  const found = world.runningTask((_, task) => speculativeOf(task) !== null);
  const speculative = found === null ? null : speculativeOf(found.task);
  return found === null || speculative === null ? null : { ...found, speculative };
}

/** The speculative attempt, if one runs. */
function speculativeOf(task: ModelTask): Speculative | null {
  const { speculativeAttempt } = notesOf(task);
  return speculativeAttempt === undefined || speculativeAttempt.over !== undefined ? null : speculativeAttempt;
}

const notesOf = ({ notes }: ModelTask): TaskNotes => readNotes(notes);

const noted = (task: ModelTask, more: TaskNotes): string => notesWith(notesOf(task), more);
