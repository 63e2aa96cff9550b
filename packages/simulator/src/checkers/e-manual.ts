/** E. What people do to runs and dags by hand: recorded, asked for, and exactly that. */
import type {
  Change,
  DagRetired,
  DagRevived,
  RetryTask,
  RunCreated,
  RunReopened,
  TaskCleared,
} from '@signalbox/engine';
import { isClosing } from '@signalbox/engine/testing';
import type { Routed } from '@signalbox/host';
import type { JournaledCommit } from '../fake-store/index.ts';
import { isOnlyMark } from './call-mark.ts';
import type { Checker, Scene } from './checker.ts';
import { Touches } from './e-touches.ts';
import { gangOf } from './gang-book.ts';
import { nameOf, taskSpecOf } from './map-book.ts';
import { mayRun } from './task-states.ts';

/** Of one task: how often a retry was asked for, was told as done, was told as not done, and was done. */
interface Retries {
  asked: number;
  told: number;
  refused: number;
  done: number;
  /** Cleared with another that somebody asked for. */
  swept: number;
}

export function hands(scene: Scene): Checker {
  const { ledger } = scene;
  const retries = new Map<string, Retries>();
  const touches = new Touches(scene);

  function retriesOf({ runId, taskNo }: { runId: number; taskNo: number }): Retries {
    const key = `${runId}/${taskNo}`;
    const known = retries.get(key) ?? { asked: 0, told: 0, refused: 0, done: 0, swept: 0 };
    retries.set(key, known);
    return known;
  }

  function isClearedBeside(other: Change, { runId, taskNo }: TaskCleared): boolean {
    return other.kind === 'TaskCleared' && other.runId === runId && other.taskNo !== taskNo;
  }

  /** A terminal state changes only by a recorded action, which somebody asked for. */
  function checkCleared(change: TaskCleared, { changes }: JournaledCommit): void {
    const run = ledger.run(change.runId);
    const task = ledger.task(change);
    const what = `task ${change.runId}/${change.taskNo}`;
    if (task.state !== change.from) scene.fail('I32', `${what} was cleared as ${change.from}, it is ${task.state}`);
    if (!mayRun(run, change.taskNo) || run.isSetAside)
      scene.fail('I32', `${what} was cleared, its run is ${run.phase}`);
    if (change.attemptNo !== task.attemptNo || change.fence !== task.fence) {
      scene.fail('I32', `${what} was cleared after attempt ${change.attemptNo}, it had ${task.attemptNo}`);
    }
    if (change.from !== 'retrying' && !change.freshBudget && change.actor !== 'gang')
      scene.fail('I39', `${what} got another budget than it may`);
    const isReopened = changes.some((other) => other.kind === 'RunReopened' && other.runId === change.runId);
    if (change.actor === 'policy') return checkPolicy(change, changes);
    if (change.actor === 'gang') return checkOfGang(change, changes);
    if (change.actor === 'system') return; // A hook that has more to tell: `e-hooks.ts`.
    if (touches.of(change.runId).length > 0) {
      const { runId } = change;
      return touches.cleared(change, isReopened, (taskNo) => retriesOf({ runId, taskNo }).asked > 0);
    }
    // With the failed task that closed the run goes what it had stopped.
    const wasStopped = run.spec.onFailure === 'fail_fast' || run.timedOutAt !== null;
    // So does the failed one itself, with one that it had stopped.
    const { asked, done, refused } = retriesOf(change);
    if (isReopened && wasStopped && (change.from !== 'failed' || done + refused >= asked)) {
      retriesOf(change).swept += 1;
      return;
    }
    // With a task go its hooks, and what was taken down or undone is made again.
    const { tasks } = run.spec;
    const closes = isClosing(taskSpecOf(run, change.taskNo));
    const { members = [] } = gangOf(run, change.taskNo) ?? {};
    // And with a member of a gang go the others.
    const isOfGang = changes.some(
      (other) => isClearedBeside(other, change) && members.includes((other as TaskCleared).taskNo),
    );
    const isAlong = (closes && changes.some((other) => isClearedBeside(other, change))) || isOfGang;
    if (isAlong || (change.from === 'succeeded' && tasks.some(isClosing))) {
      retriesOf(change).swept += 1;
      return;
    }
    if (change.from === 'cancelled') scene.fail('I32', `${what} was cancelled, and cleared`);
    const seen = retriesOf(change);
    seen.done += 1;
    if (seen.done + seen.refused > seen.asked) {
      scene.fail('I32', `${what} was cleared ${seen.done} times, asked for ${seen.asked}, refused ${seen.refused}`);
    }
  }

  /** A member that had succeeded runs again with the one that ended the try. */
  function checkOfGang(change: TaskCleared, changes: JournaledCommit['changes']): void {
    const { members = [] } = gangOf(ledger.run(change.runId), change.taskNo) ?? {};
    const isOver = changes.some(
      (other) =>
        (other.kind === 'AttemptEnded' || other.kind === 'ClaimReturned') &&
        other.runId === change.runId &&
        other.taskNo !== change.taskNo &&
        members.includes(other.taskNo),
    );
    if (change.from !== 'succeeded' || change.freshBudget || !isOver)
      scene.fail('I32', `${change.runId}/${change.taskNo} was cleared for its gang, and no try of it has ended`);
  }

  /** Only one that nobody cancelled, and only for a task of its own that failed. */
  function checkReopened(change: RunReopened, { changes }: JournaledCommit): void {
    const run = ledger.run(change.runId);
    const mayBe = change.asClosing || run.outcome !== 'cancelled';
    if (run.phase !== 'ended' || !mayBe || run.isSetAside) {
      scene.fail('I33', `run ${change.runId} was opened again, it is ${run.phase} as ${run.outcome}`);
    }
    const isForTask = changes.some(
      (other) => (other.kind === 'TaskCleared' || other.kind === 'TaskMarked') && other.runId === change.runId,
    );
    if (!isForTask && run.timedOutAt === null)
      scene.fail('I33', `run ${change.runId} was opened again for none of its tasks`);
  }

  /** The dag itself has asked for it, so many times, and only after a failure. */
  function checkPolicy({ runId }: TaskCleared, changes: JournaledCommit['changes']): void {
    const { retryRun } = ledger.run(runId).spec;
    const opened = changes.findLast((other) => other.kind === 'RunReopened' && other.runId === runId);
    const no = opened?.kind === 'RunReopened' ? opened.retryNo : 0;
    if (retryRun === undefined || no < 1 || no > retryRun.maxTimes) {
      scene.fail('I32', `run ${runId} was retried for the ${no}th time by a policy of ${JSON.stringify(retryRun)}`);
    }
  }

  /** More than one hand is on it: which of them has done what can't be told by counting. */
  function isLoose(runId: RetryTask['runId']): boolean {
    const { spec } = ledger.runs.get(runId) ?? {};
    return touches.of(runId).length > 0 || spec?.onFailure === 'fail_fast' || spec?.retryRun !== undefined;
  }

  function checkTold(command: Pick<RetryTask, 'runId' | 'taskNo'>, result: Routed): void {
    const seen = retriesOf(command);
    const what = `a retry of ${command.runId}/${command.taskNo}`;
    if (result.status === 'unknown' || isLoose(command.runId)) return;
    if (result.status === 'answered' && result.answer.ok) {
      seen.told += 1;
      // One that had not begun when its run's time was over goes on with the run: nothing else is recorded of it.
      const run = ledger.runs.get(command.runId);
      const isStopped = run?.timedOutAt !== null;
      // What its map ran over was undone, and comes anew: so does the map.
      const isGone = run !== undefined && nameOf(run, command.taskNo) === null;
      if (!isStopped && !isGone && seen.told > seen.done + seen.swept)
        scene.fail('I15', `${what} was told as done, and is not there`);
      return;
    }
    seen.refused += 1;
    if (seen.done + seen.refused > seen.asked) scene.fail('I12', `${what} was refused, and done`);
  }

  function checkRetired(change: DagRetired | DagRevived): void {
    const { isRetired } = ledger.dag(change.dagId);
    if (isRetired !== (change.kind === 'DagRevived')) {
      scene.fail('I6', `${change.kind} of dag ${change.dagId}, which is ${isRetired ? '' : 'not '}retired`);
    }
  }

  function checkCreated(change: RunCreated, commit: JournaledCommit): void {
    const { runId, dagId, cause } = change;
    if (ledger.dag(dagId).isRetired && !isOnlyMark(change, commit)) {
      scene.fail(cause === 'schedule' ? 'I6' : 'I12', `run ${runId} (${cause}) is of dag ${dagId}, which is retired`);
    }
  }

  return {
    invariants: ['I6', 'I12', 'I15', 'I32', 'I33', 'I37', 'I39'],
    onChange(change, commit) {
      touches.change(change);
      if (change.kind === 'TaskCleared') checkCleared(change, commit);
      else if (change.kind === 'RunReopened') checkReopened(change, commit);
      else if (change.kind === 'DagRetired' || change.kind === 'DagRevived') checkRetired(change);
      else if (change.kind === 'RunCreated') checkCreated(change, commit);
    },
    onCommit({ changes }) {
      for (const change of changes) {
        if (change.kind !== 'DagRetired' || !ledger.dag(change.dagId).isRetired) continue;
        // Delayed runs stay: the dag may be back by their time.
        const left = [...ledger.schedules.values()].find(
          ({ dagId, spec }) => dagId === change.dagId && spec.run === undefined,
        );
        if (left !== undefined) scene.fail('I6', `dag ${change.dagId} is retired, its schedule ${left.name} is not`);
      }
    },
    onHappening(happening) {
      touches.see(happening);
      if (happening.kind === 'asked' && happening.ask.command.kind === 'ReplayDeadLetter') {
        retriesOf(happening.ask.command.deadLetter).asked += 1;
      }
      if (happening.kind === 'told' && happening.ask.command.kind === 'ReplayDeadLetter') {
        checkTold(happening.ask.command.deadLetter, happening.result);
      }
      if (happening.kind === 'asked' && happening.ask.command.kind === 'RetryTask') {
        retriesOf(happening.ask.command).asked += 1;
      }
      if (happening.kind === 'told' && happening.ask.command.kind === 'RetryTask') {
        checkTold(happening.ask.command, happening.result);
      }
    },
  };
}
