/** F. Dead letters and breakers: what fails for good is there once, is used once, and what is held back stays back. */
import {
  type AttemptClaimed,
  type AttemptEnded,
  type DeadLetterClosed,
  type DeadLetterWritten,
  deadLetterName,
} from '@signalbox/engine';
import { isClosing } from '@signalbox/engine/testing';
import type { JournaledCommit } from '../fake-store/index.ts';
import type { Checker, Scene } from './checker.ts';
import { gangOf } from './gang-book.ts';
import { taskSpecOf } from './map-book.ts';

/** Clocks run at slightly different paces. */
const PACE = 0.99;

export function deadLetters(scene: Scene): Checker {
  const { ledger } = scene;
  /** By name: whether it is still open. */
  const known = new Map<string, boolean>();
  /** The last retry that a breaker let through: by breaker. */
  const lastProbe = new Map<string, { readonly at: number; readonly committedAt: number; readonly epoch: number }>();

  /** One for each task that failed for good, in the same commit. */
  function checkEnds({ changes }: JournaledCommit): void {
    for (const change of changes) {
      if (change.kind !== 'AttemptEnded' || change.taskState !== 'failed') continue;
      if (!known.has(deadLetterName(change)))
        scene.fail('I43', `${deadLetterName(change)} failed for good and left no letter`);
    }
  }

  function checkWritten(change: DeadLetterWritten): void {
    const name = deadLetterName(change);
    const task = ledger.run(change.runId).tasks.get(change.taskNo);
    if (known.get(name) === true) scene.fail('I43', `the letter ${name} was written twice`);
    // One that never began has no row in these books.
    const isOver = change.reason === 'timeout' || (task?.state === 'failed' && task.attemptNo === change.attemptNo);
    if (!isOver) {
      scene.fail('I43', `the letter ${name} is of a task that is ${task?.state} after attempt ${task?.attemptNo}`);
    }
    const run = ledger.run(change.runId);
    const closes = isClosing(taskSpecOf(run, change.taskNo));
    if (run.outcome === 'cancelled' && !closes) scene.fail('I43', `${name} is of a cancelled run`);
    known.set(name, true);
  }

  /** Whoever uses a dead letter is alone in it: of two that replay it one makes a run. */
  function checkClosed(change: DeadLetterClosed, { changes }: JournaledCommit): void {
    const name = deadLetterName(change);
    if (known.get(name) === undefined) scene.fail('I43', `the letter ${name} was closed, and never written`);
    if (change.newUid === null) return void known.set(name, false);
    if (known.get(name) === false) scene.fail('I43', `the letter ${name} was replayed, and used before`);
    const isMade = changes.some((other) => other.kind === 'RunCreated' && other.uid === change.newUid);
    if (!isMade) scene.fail('I43', `the letter ${name} was replayed as ${change.newUid}, which is not there`);
    known.set(name, false);
  }

  /** While a breaker is open its retries go one at a time, a pause apart, whoever asks for slots. */
  function checkProbe(change: AttemptClaimed, { committedAt }: JournaledCommit): void {
    const run = ledger.run(change.runId);
    const task = run.tasks.get(change.taskNo);
    // A probe is one task, and the members of a gang go together: breakers of errors let them pass.
    if (task?.state !== 'retrying' || gangOf(run, change.taskNo) !== null) return;
    const breaker = ledger.breakerOf(run, [...task.ended.values()].at(-1));
    if (breaker?.state !== 'open' || breaker.fingerprint === null) return;
    const key = `${breaker.dagId}/${breaker.fingerprint}`;
    const { epoch } = ledger.shard(run.shard);
    const last = lastProbe.get(key);
    // A slow commit blurs the one span, a clock that was set the other: too short by both is too short.
    const waited = last === undefined ? Number.POSITIVE_INFINITY : change.at - last.at;
    const between = last === undefined ? Number.POSITIVE_INFINITY : committedAt - last.committedAt;
    if (last?.epoch === epoch && waited >= 0 && Math.max(waited, between) < breaker.pauseMs * PACE - 50) {
      scene.fail(
        'I44',
        `${deadLetterName(change)} was let through ${waited} ms after the probe before it, the pause is ${breaker.pauseMs}`,
      );
    }
    lastProbe.set(key, { at: change.at, committedAt, epoch });
  }

  /** Ended before its retries were used up: only for what its policy calls poison. */
  function checkPoison(change: AttemptEnded): void {
    const { poison } = taskSpecOf(ledger.run(change.runId), change.taskNo);
    if (change.quick === null) return;
    const tookMs = change.endedAt - change.claimedAt;
    if (poison === undefined || tookMs >= poison.underMs || change.quick.count > poison.count) {
      scene.fail(
        'I39',
        `${deadLetterName(change)} counts as failed at once for the ${change.quick.count}. time, after ${tookMs} ms`,
      );
    }
    const isOver = change.taskState !== 'retrying';
    if (change.quick.count === poison?.count && !isOver)
      scene.fail('I39', `${deadLetterName(change)} is poison, and tried again`);
  }

  return {
    invariants: ['I39', 'I43', 'I44'],
    onChange(change, commit) {
      if (change.kind === 'DeadLetterWritten') checkWritten(change);
      else if (change.kind === 'DeadLetterClosed') checkClosed(change, commit);
      else if (change.kind === 'AttemptClaimed') checkProbe(change, commit);
      else if (change.kind === 'AttemptEnded') checkPoison(change);
      else if ((change.kind === 'TaskCleared' || change.kind === 'TaskMarked') && known.has(deadLetterName(change))) {
        known.set(deadLetterName(change), false);
      } else if (change.kind === 'BreakerSet') lastProbe.delete(`${change.dagId}/${change.fingerprint}`);
    },
    onCommit: checkEnds,
  };
}
