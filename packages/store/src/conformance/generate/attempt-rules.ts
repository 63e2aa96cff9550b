/** Tasks wait, are claimed, and their attempts end. */
import type { AttemptOutcome, Instant, TaskNo } from '@signalbox/engine';
import type { ModelRun } from '../model.ts';
import type { ChangeNamed } from './draw-change.ts';
import type { Rules } from './rule.ts';
import type { ModelTask, World } from './world.ts';

const FAILURES = ['transient', 'permanent', 'timeout', 'lost', 'cancelled', 'resource', 'stuck'] as const;
const CLAIMABLE: readonly string[] = ['returned', 'retrying', 'cleared'];
const TASKS = 3;

export const attemptRules = {
  TaskQueued: {
    weight: 3,
    given(world) {
      const found = claimableTask(world);
      if (found === null) return null;
      const { run, taskNo, task } = found;
      return { runId: run.runId, taskNo, isNew: task === undefined };
    },
  },
  TaskExpired: {
    weight: 2,
    given(world) {
      const found = claimableTask(world);
      if (found?.task === undefined) return null;
      const { run, taskNo, task } = found;
      return { runId: run.runId, taskNo, attemptNo: task.attemptNo };
    },
  },
  AttemptClaimed: {
    weight: 25,
    given(world) {
      const found = claimableTask(world);
      if (found === null) return null;
      const { run, taskNo, task } = found;
      const numbers = world.nextAttempt(run.runId, taskNo, task);
      const first = { firstOfTask: task === undefined, firstOfRun: !run.claimed };
      return { runId: run.runId, taskNo, ...numbers, ...first, workerId: world.chance.one(world.workers) };
    },
  },
  CheckpointSaved: {
    weight: 2,
    given(world) {
      const found = world.runningTask();
      if (found === null) return null;
      const { taskNo, fence, checkpoint } = found.task;
      return { runId: found.run.runId, taskNo, fence, no: 1 + (checkpoint?.fence === fence ? checkpoint.no : 0) };
    },
  },
  // With the end of an attempt, and before it.
  AttemptMeasured: { weight: 0, given: () => null },
  AttemptEnded: {
    weight: 16,
    given(world) {
      const { chance } = world;
      const found = world.runningTask();
      if (found === null) return null;
      const { taskNo, attemptNo, fence } = found.task;
      if (chance.is(0.5)) world.emit('AttemptMeasured', { runId: found.run.runId, taskNo, attemptNo, fence });
      if (chance.is(0.4)) return endOf(found.run, found.task, 'succeeded', null);
      const retryAt = chance.is(0.6) ? ((chance.now + 5_000) as Instant) : null;
      return endOf(found.run, found.task, chance.one(FAILURES), retryAt);
    },
    then(world, ended) {
      if (ended.taskState === 'failed') world.emit('DeadLetterWritten', deadLetterOf(world, ended));
    },
  },
  DeadLetterWritten: { weight: 0, given: () => null },
  DeadLetterClosed: {
    // One that is open, or was: the second time changes nothing.
    given(world) {
      const deadLetter = world.chance.oneOrNull([...world.model.deadLetters.values()]);
      if (deadLetter === null) return null;
      const { runId, taskNo, attemptNo } = deadLetter;
      const as = world.chance.one(['replayed', 'discarded', 'expired'] as const);
      return { runId, taskNo, attemptNo, as, newUid: as === 'replayed' ? world.model.run(runId).uid : null };
    },
  },
} satisfies Rules;

/** A task of an open run that may be claimed now; it may have no row yet. */
function claimableTask(world: World) {
  const run = world.openRun();
  if (run === null) return null;
  const taskNo = world.chance.below(TASKS) as TaskNo;
  const task = run.tasks.find((one) => one.taskNo === taskNo);
  return task === undefined || CLAIMABLE.includes(task.state) ? { run, taskNo, task } : null;
}

export function endAttempt(world: World, run: ModelRun, task: ModelTask, outcome: AttemptOutcome): void {
  world.emit('AttemptEnded', endOf(run, task, outcome, null));
}

function endOf({ runId }: ModelRun, task: ModelTask, outcome: AttemptOutcome, retryAt: Instant | null) {
  const { taskNo, attemptNo, fence, workerId, claimedAt, lostCount } = task;
  const hasSucceeded = outcome === 'succeeded';
  const isFailure = !hasSucceeded && outcome !== 'cancelled';
  return {
    ...{ runId, taskNo, attemptNo, fence, workerId, claimedAt, outcome, retryAt },
    taskState: retryAt !== null ? 'retrying' : isFailure ? 'failed' : outcome,
    lostCount: lostCount + (outcome === 'lost' ? 1 : 0),
    ...(hasSucceeded ? { error: null, code: null } : { output: null, facts: null }),
    ...(isFailure ? {} : { fingerprint: null }),
  } as const;
}

function deadLetterOf({ model }: World, { runId, taskNo, attemptNo, outcome }: ChangeNamed<'AttemptEnded'>) {
  const { uid, tenantId, dagId, versionNo } = model.run(runId);
  return { runId, taskNo, attemptNo, uid, tenantId, dagId, versionNo, outcome };
}
