/** F. Retries, timeouts, cancel. */
import type { AttemptClaimed, AttemptEnded, FailureClass, RetryPolicy, TaskNo } from '@signalbox/engine';
import { isClosing } from '@signalbox/engine/testing';
import type { JournaledCommit } from '../fake-store/index.ts';
import { failureOf } from '../world/user-code.ts';
import { isCountedLoss, type RunBook, type TaskBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { gangOf } from './gang-book.ts';
import { taskSpecOf } from './map-book.ts';
import { mayRun } from './task-states.ts';

/** Clocks run at slightly different paces. */
const PACE = 0.998;
const ROUNDING_MS = 3;

/** By the plainest reading of the table in the guide: code, then text, then class. */
function isWorthIt({ codes, errors, on }: RetryPolicy, { outcome, code, error }: AttemptEnded): boolean {
  if (outcome === 'succeeded') return false;
  if (outcome === 'cancelled') return true;
  for (const { match, retry } of codes ?? []) {
    if (code === null) break;
    if (match === code || (match.endsWith('*') && code.startsWith(match.slice(0, match.length - 1)))) return retry;
  }
  for (const { match, retry } of errors ?? []) {
    if (error === null) break;
    const parts = match.split('*').map((part) => part.replace(/[^a-z0-9 ]/gi, '\\$&'));
    if (new RegExp(parts.join('.*'), 's').test(error)) return retry;
  }
  return on === undefined ? outcome !== 'permanent' : (on as readonly string[]).includes(outcome);
}

export function retries(scene: Scene): Checker {
  const { ledger, world } = scene;
  const extended = new Set<string>();
  /** When the end of each task's newest attempt was decided, in true time. */
  const decidedAt = new Map<string, number>();
  const nameOf = ({ runId, taskNo }: { runId: number; taskNo: number }) => `${runId}/${taskNo}`;

  /**
   * The owner decides before it commits, and a slow commit may take seconds: its wall clock tells how long ago that was. A clock
   * that was set back meanwhile can't tell; then the commit is all that is known.
   */
  function noteDecided(change: AttemptEnded, { nodeId }: JournaledCommit): void {
    const owner = world.nodes.find((one) => one.nodeId === nodeId);
    const agoMs = owner === undefined ? 0 : owner.process.wall() - change.endedAt;
    decidedAt.set(nameOf(change), ledger.at - Math.max(0, agoMs));
  }

  function checkEnd(change: AttemptEnded): void {
    const run = ledger.run(change.runId);
    const task = ledger.task(change);
    const { retry } = taskSpecOf(run, change.taskNo);
    const isLost = change.outcome === 'lost';
    const lost = task.lost + (isCountedLoss(change) ? 1 : 0);
    const failures = task.failures + (isLost || change.outcome === 'succeeded' ? 0 : 1);
    const what = `task ${change.runId}/${change.taskNo} attempt ${change.attemptNo} (${change.outcome})`;
    if (change.code === 'gang') return checkStopped(change, what);
    const others = othersOf(run, change.taskNo);
    const sumOf = (count: (task: TaskBook) => number) => others.reduce((sum, other) => sum + count(other), 0);
    if (change.lostCount !== lost) scene.fail('I39', `${what} counts ${change.lostCount} lost, there are ${lost}`);
    const isLast = change.code === 'timeout:total';
    const ofClass =
      (task.counts.get(change.outcome) ?? 0) + 1 + sumOf((other) => other.counts.get(change.outcome) ?? 0);
    const budget = retry.budgets?.[change.outcome as FailureClass] ?? Number.POSITIVE_INFINITY;
    const mayRetry =
      mayRun(run, change.taskNo) &&
      !isLast &&
      (isLost
        ? lost + sumOf((other) => other.lost) < retry.maxLost
        : isWorthIt(retry, change) &&
          failures + sumOf((other) => other.failures) < retry.maxAttempts &&
          ofClass < budget);
    const { poison } = taskSpecOf(run, change.taskNo);
    const isPoison = poison !== undefined && (change.quick?.count ?? 0) >= poison.count;
    // Stopped by hand, to be cleared or marked in the same commit: see `e-hands.ts`.
    const isManual = change.taskState === 'cancelled' && run.phase === 'open';
    if (!isManual && (mayRetry && !isPoison) !== (change.retryAt !== null)) {
      scene.fail(
        'I39',
        `${what}: ${failures} of ${retry.maxAttempts} failed, ${lost} of ${retry.maxLost} lost, retry ${change.retryAt}`,
      );
    }
    if (lost > retry.maxLost) scene.fail('I28', `${what} was lost ${lost} times, ${retry.maxLost} are allowed`);
    if (change.retryAt === null) return;
    const backoffMs = change.retryAt - change.endedAt;
    const askedMs = change.code === 'http:429' ? (failureOf(change).retryAfterMs ?? 0) : 0;
    const least = isLost ? 0 : Math.max(retry.minMs, askedMs);
    const most = isLost ? 0 : Math.max(retry.minMs, retry.maxMs, askedMs);
    if (!(backoffMs >= least && backoffMs <= most))
      scene.fail('I40', `${what} waits ${backoffMs} ms, not ${least} to ${most}`);
  }

  /** The other members of its gang: a try counts once, whichever of them ended it. */
  function othersOf(run: RunBook, taskNo: number): readonly TaskBook[] {
    const members = gangOf(run, taskNo)?.members ?? [];
    return members.flatMap((no) => (no === taskNo ? [] : (run.tasks.get(no as TaskNo) ?? [])));
  }

  /** Another member ended the try in the same commit, and says when the next one begins. */
  function checkStopped(change: AttemptEnded, what: string): void {
    const others = othersOf(ledger.run(change.runId), change.taskNo);
    if (others.length === 0) scene.fail('I39', `${what} was stopped with its gang, and has none`);
    if ((change.taskState === 'cancelled') !== (change.retryAt === null))
      scene.fail('I39', `${what} was stopped with its gang, is ${change.taskState}, and retried at ${change.retryAt}`);
  }

  function checkClaim(change: AttemptClaimed): void {
    const run = ledger.run(change.runId);
    const task = run.tasks.get(change.taskNo);
    if (task?.state !== 'retrying') return;
    const last = [...task.ended.values()].at(-1)!;
    const backoffMs = (last.retryAt ?? 0) - last.endedAt;
    // Over a handover two wall clocks take part, which may differ: it holds by the owner's clock.
    if (task.endEpoch !== ledger.shard(run.shard).epoch) return;
    // The clock was set back in between: by it no span can be told.
    if (change.at < last.endedAt) return;
    // A clock that was set blurs the one span or the other: too short by both is too short.
    const waitedMs = Math.max(ledger.at - (decidedAt.get(nameOf(change)) ?? task.endedAt), change.at - last.endedAt);
    if (waitedMs < backoffMs * PACE - ROUNDING_MS) {
      scene.fail('I40', `task ${change.runId}/${change.taskNo} was claimed after ${waitedMs} ms of ${backoffMs}`);
    }
  }

  function checkTimeouts(): void {
    for (const run of ledger.live) {
      if (run.isSetAside) continue;
      for (const task of run.tasks.values()) {
        if (task.state !== 'running') continue;
        checkTimeout(run, task);
        if (task.speculative !== null) checkTimeout(run, { taskNo: task.taskNo, ...task.speculative });
      }
      checkCancel(run);
    }
  }

  function checkTimeout(run: RunBook, task: Pick<TaskBook, 'taskNo' | 'claimedAt' | 'fence'>): void {
    const { timeoutMs } = taskSpecOf(run, task.taskNo);
    const wellMs = scene.health.wellForMs();
    if (timeoutMs === null || wellMs < timeoutMs + 20_000) return;
    const ranMs = world.now - task.claimedAt;
    // It may have got more: `f-limits.ts`.
    if (ranMs > timeoutMs + 25_000 && !extended.has(`${run.created.runId}/${task.taskNo}/${task.fence}`)) {
      scene.fail('I41', `task ${run.created.runId}/${task.taskNo} runs for ${ranMs} ms, its timeout is ${timeoutMs}`);
    }
  }

  /** What closes it has to wait for slots like all else, and so does what closes the runs that it has called. */
  function isTakingItsTime(run: RunBook): boolean {
    if (!run.isForced && run.spec.tasks.some(isClosing)) return true;
    const called = [...ledger.live].filter(({ created }) => created.parent?.runId === run.created.runId);
    return called.some(isTakingItsTime);
  }

  function checkCancel(run: RunBook): void {
    if (run.phase !== 'closing') return;
    if (isTakingItsTime(run)) return;
    const { leaseMs } = world.settings;
    const graceMs = Math.max(world.settings.graceMs, run.graceMs);
    // What it has called is stopped first, and what that has called.
    const isWaiting = [...run.tasks.values()].some((task) => task.state === 'waiting');
    const boundMs = (leaseMs + graceMs + 20_000) * (isWaiting ? 4 : 1);
    if (scene.health.wellForMs() < boundMs || world.now - run.closedAt < boundMs) return;
    scene.fail('I42', `run ${run.created.runId} was ${run.outcome} at ${run.closedAt} and has not ended`);
  }

  return {
    invariants: ['I28', 'I39', 'I40', 'I41', 'I42'],
    onChange(change, commit) {
      if (change.kind === 'AttemptEnded') noteDecided(change, commit);
      if (change.kind === 'AttemptExtended') extended.add(`${change.runId}/${change.taskNo}/${change.fence}`);
      if (change.kind === 'AttemptEnded') checkEnd(change);
      else if (change.kind === 'AttemptClaimed') checkClaim(change);
    },
    onLook: checkTimeouts,
  };
}
