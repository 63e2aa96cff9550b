/** Adds an attempt to the attempt table, on a claim or a load. The same for leading and speculative attempts. */

import { assert } from '../model/assert.ts';
import { chanceOf } from '../model/chance.ts';
import type { AttemptClaimed, SpeculativeClaimed } from '../model/change.ts';
import {
  type AttemptSlot,
  type Instant,
  type MonoMs,
  NOBODY,
  shardOfRun,
  type TaskSlot,
  type WorkerId,
} from '../model/ids.ts';
import { WAITING } from '../model/task/task-states.ts';
import { addAttempt, giveToWorker } from '../tables/attempt/attempts.ts';
import { claimOf, graceOf } from '../tables/attempt/claim-of.ts';
import { LOADED } from '../tables/attempt/confirmed.ts';
import { watchOf } from '../tables/attempt/watch.ts';
import { lastAttemptNo, lastFence } from '../tables/speculative/notes.ts';
import type { State } from '../tables/state.ts';
import { mayRun } from '../tables/task/may-run.ts';
import { taskSpecOf } from '../tables/task/task-slots.ts';
import { setTaskTimer } from '../tables/timer/set-task-timer.ts';
import { waitLeftMs } from '../tables/timer/stored-wait.ts';
import { watchAttempt, watchLoaded } from '../tables/timer/task-timers.ts';
import { beginLease, watchLease } from '../tables/worker/lease.ts';
import type { Worker } from '../tables/worker/worker-table.ts';

/** A load asks for the ends of calls within this time, not for all of them in one moment. */
const ASK_SPREAD_MS = 1_000;

/** Before the notes of the claim are kept: they forget the speculative attempt before it. */
export function assertNext(
  state: State,
  slot: TaskSlot,
  { fence, attemptNo }: AttemptClaimed | SpeculativeClaimed,
): void {
  assert(fence === lastFence(state, slot) + 1, 'fences of a task rise one by one (I20)');
  assert(attemptNo === lastAttemptNo(state, slot) + 1, 'attempts are numbered without a gap (I23)');
}

/** NOBODY for a task that runs another dag. */
export function beginAttempt(state: State, slot: TaskSlot, claim: AttemptClaimed | SpeculativeClaimed): AttemptSlot {
  const { attempts, runs } = state;
  const attempt = addAttempt(state, slot, claim.attemptNo, claim.fence);
  attempts.claimedAt[attempt] = claim.at;
  attempts.claimedMono[attempt] = state.mono;
  const { timeoutMs } = taskSpecOf(state, slot);
  if (timeoutMs !== null) setTaskTimer(state, 'timeout', timeoutMs, claim);
  if (runs.versionOf(state.tasks.run[slot]!).hasClaimTimers) watchAttempt(state, attempt);
  if (claim.workerId === NOBODY) setTaskTimer(state, 'call', state.settings.askChildMs, claim);
  else {
    const worker = workerNamed(state, claim.workerId);
    if (worker.free > 0) worker.free -= 1;
    beginLease(state, worker);
    giveToWorker(state, attempt, worker);
    state.sent.add(state.batchNo, claim);
  }
  return attempt;
}

interface StoredAttempt {
  readonly attemptNo: number;
  readonly fence: number;
  readonly workerId: WorkerId;
  readonly claimedAt: Instant;
  readonly deadlineAt: Instant | undefined;
}

/** As its row, or the notes of its task, tell. */
export function loadAttempt(state: State, slot: TaskSlot, stored: StoredAttempt): AttemptSlot {
  const { attempts, runs } = state;
  const run = state.tasks.run[slot]!;
  const { claimedAt, deadlineAt, workerId } = stored;
  const attempt = addAttempt(state, slot, stored.attemptNo, stored.fence);
  attempts.claimedAt[attempt] = claimedAt;
  attempts.claimedMono[attempt] = state.mono - Math.max(0, state.now - claimedAt);
  attempts.confirmed[attempt] = LOADED;
  const claim = claimOf(state, attempt);
  const { timeoutMs } = taskSpecOf(state, slot);
  if (timeoutMs !== null) {
    const leftMs = waitLeftMs(state, { from: claimedAt, until: deadlineAt ?? claimedAt + timeoutMs });
    if (deadlineAt !== undefined) watchOf(state, attempt).deadlineAt = state.mono + leftMs;
    setTaskTimer(state, 'timeout', leftMs, claim);
  }
  if (runs.versionOf(run).hasClaimTimers) watchLoaded(state, attempt);
  if (state.tasks.state[slot] === WAITING) {
    // Nobody knows which messages of the call have arrived: it is asked for again.
    setTaskTimer(state, 'call', ASK_SPREAD_MS * chanceOf(1, claim.runId, claim.taskNo), claim);
    return attempt;
  }
  const worker = workerNamed(state, workerId);
  beginLease(state, worker);
  giveToWorker(state, attempt, worker);
  watchLease(state, worker);
  state.agenda.loaded.push({ shard: shardOfRun(runs.id[run]!), workerNo: worker.no });
  if (!mayRun(state, slot)) setTaskTimer(state, 'kill', graceOf(state, run) + state.settings.leaseMs, claim);
  return attempt;
}

function workerNamed(state: State, workerId: WorkerId): Worker {
  return state.workers.getOrAdd(workerId, (state.mono + state.settings.leaseMs) as MonoMs);
}
