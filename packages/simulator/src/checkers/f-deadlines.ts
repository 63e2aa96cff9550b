/**
 * F. The times that tasks and runs may take (I41). Only time counts in which the shard had an owner that could work: so a
 * timeout that a handover starts over is found, and one that an outage holds up is not blamed.
 */
import { type AttemptExtended, type Change, type RunId, shardOfRun, type TaskNo } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import { isHeldByPast, type RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { taskSpecOf } from './map-book.ts';
import { mayRun, stateOf } from './task-states.ts';

/** For commits, ticks and looks; and what clocks of two owners may differ by counts twice. */
const SLACK_MS = 8_000;
/** Clocks run at slightly different paces. */
const PACE = 0.998;
const ROUNDING_MS = 3;

interface Began {
  readonly servedMs: number;
}

interface Claimed extends Began {
  readonly epoch: number;
  readonly trueAt: number;
  /** By the clock of its owner. */
  readonly at: number;
  /** Of an attempt that got more time: how long it may run in all. */
  readonly extendedMs?: number;
}

export function limits(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const runs = new Map<RunId, Began>();
  const firsts = new Map<string, Began>();
  const queued = new Map<string, Began>();
  const claims = new Map<string, Claimed>();
  const speculative = new Map<string, Claimed>();
  const slow = new Set<string>();
  /** When each run became active, or active again: its owner then, and the instant of the decision in true time and by its clock. */
  const opened = new Map<RunId, { readonly epoch: number; readonly trueAt: number; readonly at: number }>();
  /** Those that wait for their retry. */
  const delayed = new Set<RunId>();
  let skewMs = 0;

  const nameOf = ({ runId, taskNo }: { runId: RunId; taskNo: TaskNo }) => `${runId}/${taskNo}`;
  const beganIn = (runId: RunId): Began => ({ servedMs: health.servedMs(ledger.run(runId).shard) });

  const claimedIn = (runId: RunId, at: number): Claimed => {
    const { epoch } = ledger.shard(shardOfRun(runId));
    return { ...beganIn(runId), epoch, trueAt: ledger.at, at };
  };

  function noteOpened(runId: RunId, at: number, { nodeId }: JournaledCommit): void {
    const owner = world.nodes.find((one) => one.nodeId === nodeId);
    const agoMs = Math.max(0, (owner?.process.wall() ?? at) - at);
    opened.set(runId, { epoch: ledger.shard(shardOfRun(runId)).epoch, trueAt: ledger.at - agoMs, at });
  }

  function note(change: Change, commit: JournaledCommit): void {
    switch (change.kind) {
      case 'RunCreated':
        if (!change.admitted) return;
        noteOpened(change.runId, change.at, commit);
        return void runs.set(change.runId, { servedMs: health.servedMs(shardOfRun(change.runId)) });
      case 'RunAdmitted':
        noteOpened(change.runId, change.at, commit);
        return void runs.set(change.runId, beganIn(change.runId));
      case 'RunReopened':
        // Whoever is opened again has its whole time again, in its queue too.
        for (const name of [...queued.keys()]) if (name.startsWith(`${change.runId}/`)) queued.delete(name);
        opened.delete(change.runId);
        if (!change.admitted) return void runs.delete(change.runId);
        noteOpened(change.runId, change.at, commit);
        return void runs.set(change.runId, beganIn(change.runId));
      case 'PauseSet': {
        // The delay of its retry policy: its times begin when that is over.
        if (change.taskNo !== null) return;
        const wasDelayed = delayed.delete(change.runId);
        if (change.paused && change.until !== null) delayed.add(change.runId);
        if (!wasDelayed || change.paused || !runs.has(change.runId)) return;
        noteOpened(change.runId, change.at, commit);
        return void runs.set(change.runId, beganIn(change.runId));
      }
      case 'AttemptClaimed': {
        const name = nameOf(change);
        if (!firsts.has(name)) firsts.set(name, beganIn(change.runId));
        claims.set(name, claimedIn(change.runId, change.at));
        return void queued.delete(name);
      }
      case 'SpeculativeClaimed':
        return void speculative.set(nameOf(change), claimedIn(change.runId, change.at));
      case 'SpeculativeTookOver': {
        const beside = speculative.get(nameOf(change));
        if (beside !== undefined) claims.set(nameOf(change), beside);
        return;
      }
      case 'AttemptExtended':
        return checkExtended(change);
      case 'ClaimReturned':
        return void queued.set(nameOf(change), beganIn(change.runId));
      case 'TaskQueued':
        return void queued.set(nameOf(change), beganIn(change.runId));
      case 'TaskCleared':
        // Time counts anew also for one that its run had stopped.
        if (change.freshBudget || change.notes?.includes('firstAt') === false) firsts.delete(nameOf(change));
        return void queued.delete(nameOf(change));
      case 'TaskExpired':
        return checkExpired(change);
      case 'TaskSlow': {
        const name = `${nameOf(change)}/${change.fence}`;
        if (slow.has(name)) scene.fail('I41', `attempt ${name} was told of as slow twice`);
        return void slow.add(name);
      }
      case 'RunSlow': {
        const name = `${change.runId} since ${ledger.run(change.runId).openedAt}`;
        if (slow.has(name)) scene.fail('I41', `run ${name} was told of as slow twice`);
        return void slow.add(name);
      }
    }
  }

  /**
   * Only the holder gets more, of what is limited. Its new deadline is an instant of the clock of its claim, and is compared with that
   * of no other: from the claim to there it is no longer than the whole time. An owner since then guesses how much of it is over.
   */
  function checkExtended({ runId, taskNo, fence, deadlineAt }: AttemptExtended): void {
    const [run, name] = [ledger.run(runId), nameOf({ runId, taskNo })];
    const task = run.tasks.get(taskNo);
    const isSpeculative = task?.speculative?.fence === fence;
    const isHeld = task?.state === 'running' && (task.fence === fence || isSpeculative);
    if (!isHeld || !mayRun(run, taskNo)) {
      scene.fail('I21', `task ${name} fence ${fence} got more time, it is ${task?.state} at ${task?.fence}`);
    }
    const { timeoutMs, totalTimeoutMs } = taskSpecOf(run, taskNo);
    if (timeoutMs === null) scene.fail('I41', `task ${name} got more time, and nothing limits it`);
    const wholeMs = Math.min(
      totalTimeoutMs ?? Number.POSITIVE_INFINITY,
      run.spec.timeoutMs ?? Number.POSITIVE_INFINITY,
    );
    const claimed = (isSpeculative ? speculative : claims).get(name);
    if (claimed === undefined) return scene.fail('I21', `task ${name} got more time, and was never claimed`);
    const extendedMs = deadlineAt - claimed.at;
    const isSameOwner = claimed.epoch === ledger.shard(run.shard).epoch;
    const guessedMs = isSameOwner ? 0 : ledger.at - claimed.trueAt + 2 * skewMs;
    if (extendedMs > wholeMs + guessedMs + 1)
      scene.fail('I41', `task ${name} may run for ${extendedMs} ms, its whole time is ${wholeMs}`);
    (isSpeculative ? speculative : claims).set(name, { ...claimed, extendedMs });
  }

  /** Only what waits expires, and only what may not wait for ever. */
  function checkExpired({ runId, taskNo, reason, at }: Extract<Change, { kind: 'TaskExpired' }>): void {
    const run = ledger.run(runId);
    const spec = taskSpecOf(run, taskNo);
    const what = `task ${runId}/${taskNo}`;
    const limitMs = reason === 'queue' ? spec.queueTimeoutMs : spec.totalTimeoutMs;
    if (limitMs === undefined) return scene.fail('I41', `${what} has no limit for its ${reason} time, and expired`);
    const since = opened.get(runId);
    // By the clock of one owner: those of two may differ. One that was set blurs the one span or the other.
    if (since !== undefined && since.epoch === ledger.shard(run.shard).epoch && at >= since.at) {
      const passedMs = Math.max(ledger.at - since.trueAt, at - since.at);
      if (passedMs < limitMs * PACE - ROUNDING_MS) {
        scene.fail('I41', `${what} expired (${reason}) after ${passedMs} ms of ${limitMs} since its run was opened`);
      }
    }
    const state = stateOf(run, taskNo);
    if (state !== 'ready' && state !== 'retrying') scene.fail('I32', `${what} expired, it is ${state}`);
    if (run.phase !== 'open') scene.fail('I33', `${what} expired, its run is ${run.phase}`);
  }

  function isOver(began: Began | undefined, run: RunBook, limitMs: number | undefined | null): boolean {
    if (began === undefined || limitMs === undefined || limitMs === null) return false;
    return health.servedMs(run.shard) - began.servedMs > limitMs + SLACK_MS + 2 * skewMs;
  }

  function look(): void {
    for (const node of world.nodes) {
      if (node.isUp) skewMs = Math.max(skewMs, Math.abs(node.process.skewMs));
    }
    for (const run of ledger.live) {
      if (run.isSetAside || run.phase !== 'open' || !run.isAdmitted) continue;
      const { runId } = run.created;
      if (!delayed.has(runId) && isOver(runs.get(runId), run, run.spec.timeoutMs))
        scene.fail('I41', `run ${runId} is open for too long`);
      for (const [taskNo, task] of run.tasks) {
        const isOpen = task.state === 'running' || task.state === 'retrying';
        if (!isOpen && task.speculative === null) continue;
        const spec = taskSpecOf(run, taskNo);
        const name = nameOf({ runId, taskNo });
        if (isOpen && isOver(firsts.get(name), run, spec.totalTimeoutMs))
          scene.fail('I41', `task ${name} takes longer, over all its attempts, than it may`);
        const [claim, beside] = [claims.get(name), speculative.get(name)];
        if (task.speculative !== null && isOver(beside, run, beside?.extendedMs ?? spec.timeoutMs))
          scene.fail('I41', `the speculative attempt of task ${name} runs longer than it may`);
        if (task.state === 'running' && isOver(claim, run, claim?.extendedMs ?? spec.timeoutMs))
          scene.fail('I41', `task ${name} runs longer than it may`);
      }
    }
    for (const [name, began] of queued) {
      const [runId, taskNo] = name.split('/').map(Number) as [RunId, TaskNo];
      const run = ledger.run(runId);
      if (run.phase !== 'open' || run.isSetAside || run.paused.size > 0 || !run.isAdmitted) continue;
      if (stateOf(run, taskNo) !== 'ready' || isHeldByPast(run, taskNo)) continue;
      if (isOver(began, run, taskSpecOf(run, taskNo).queueTimeoutMs))
        scene.fail('I41', `task ${name} waits in its queue for longer than it may`);
    }
  }

  return { invariants: ['I41'], onChange: note, onLook: look };
}
