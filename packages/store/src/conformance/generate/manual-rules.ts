/** What people do to runs and tasks. */
import { type AttemptNo, type Instant, PRIORITIES, type TaskCleared, type TaskNo } from '@signalbox/engine';
import type { Rules } from './rule.ts';
import type { ModelTask } from './world.ts';

const CLEARABLE: readonly string[] = ['succeeded', 'failed', 'retrying', 'cancelled', 'skipped', 'stopped'];
const isClearable = ({ state }: ModelTask): boolean => CLEARABLE.includes(state);

export const manualRules = {
  /** Comes with `TaskCleared`: somebody has a task of a run that has ended tried again. */
  RunReopened: { weight: 0, given: () => null },
  TaskCleared: {
    weight: 2,
    given(world) {
      const { chance } = world;
      const run = world.run(
        ({ phase, setAside, tasks }) => phase !== 'closing' && !setAside && tasks.some(isClearable),
      );
      if (run === null) return null;
      const { runId } = run;
      if (run.phase === 'ended') {
        const retryNo = chance.is(0.5) ? run.retries + 1 : 0;
        const asClosing = run.outcome === 'cancelled' || chance.is(0.3) ? true : undefined;
        world.emit('RunReopened', { runId, retryNo, asClosing });
      }
      const { taskNo, attemptNo, fence, state } = chance.one(run.tasks.filter(isClearable));
      const from = state as TaskCleared['from'];
      return { runId, taskNo, attemptNo, fence, from, freshBudget: from !== 'retrying', more: false };
    },
  },
  TaskMarked: {
    weight: 2,
    given(world) {
      const run = world.openRun(({ setAside }) => !setAside);
      if (run === null) return null;
      const { runId } = run;
      const taskNo = world.chance.below(4) as TaskNo;
      const task = run.tasks.find((one) => one.taskNo === taskNo);
      if (task?.state === 'running') return null;
      const state = world.chance.one(['succeeded', 'failed', 'skipped'] as const);
      return {
        ...{ runId, taskNo, state, fence: world.nextFence(runId, taskNo, task) },
        attemptNo: ((task?.attemptNo ?? 0) - (task?.state === 'returned' ? 1 : 0)) as AttemptNo,
        ...{ firstOfTask: task === undefined, firstOfRun: !run.claimed },
        ...(state === 'succeeded' ? {} : { output: null, facts: null }),
      };
    },
  },
  PrioritySet: {
    weight: 2,
    given(world) {
      const run = world.run(({ phase, setAside }) => phase !== 'ended' && !setAside);
      if (run === null) return null;
      const priority = world.chance.one(PRIORITIES.filter((one) => one !== run.priority));
      return { runId: run.runId, priority, before: run.priority };
    },
  },
  PauseSet: {
    weight: 2,
    given(world) {
      const { chance } = world;
      const run = world.run(({ phase }) => phase !== 'ended');
      if (run === null) return null;
      const taskNo = chance.is(0.5) ? null : (chance.below(3) as TaskNo);
      const paused = !run.pauses.some((pause) => pause.taskNo === taskNo);
      const until = paused && chance.is(0.3) ? ((chance.now + 5_000) as Instant) : null;
      return { runId: run.runId, taskNo, paused, until };
    },
  },
} satisfies Rules;
