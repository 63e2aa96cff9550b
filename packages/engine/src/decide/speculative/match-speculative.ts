/**
 * Slots meet tasks that are to have a second attempt, before others of the same priority: they are few, and their run waits for
 * them. Each counts against its dag's limit like any other (I44), and goes to another worker than the first, if there is one.
 */
import type { AttemptNo, Fence } from '../../model/ids.ts';
import { notesWith } from '../../model/task/notes.ts';
import { queueKey } from '../../tables/queue/queue-key.ts';
import { isPaused } from '../../tables/run/paused.ts';
import { lastAttemptNo, lastFence, shadowOf } from '../../tables/speculative/seconds.ts';
import type { Wanted } from '../../tables/speculative/speculation.ts';
import type { State } from '../../tables/state.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { watchLease } from '../../tables/worker/lease.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import { sendAssignment } from '../match/send-assignment.ts';
import type { Recorder } from '../recorder.ts';
import { ALONE_MS, mayHaveSecond } from './watch.ts';

/** Of the attempts of a run no more than this share are second ones: when all are slow, more of them help nobody. */
const MOST_SHARE = 0.25;

/** Answers false when the step was full. */
export function matchSeconds(recorder: Recorder, priority: number): boolean {
  const { state } = recorder;
  const { wanted } = state.stragglers;
  for (const [slot, want] of wanted) {
    if (!isCurrent(state, slot, want)) wanted.delete(slot);
    else if (state.runs.priority[state.tasks.run[slot]!] === priority && hasRoom(state, slot)) {
      const worker = workerFor(state, slot, want);
      if (worker === null) continue;
      if (recorder.isFull()) return false;
      wanted.delete(slot);
      claimSecond(recorder, slot, worker);
    }
  }
  return true;
}

export function isCurrent(state: State, slot: number, { runId, fence }: Wanted): boolean {
  const run = state.tasks.run[slot]!;
  return run >= 0 && state.runs.id[run] === runId && state.tasks.fence[slot] === fence && mayHaveSecond(state, slot);
}

export function hasRoom(state: State, slot: number): boolean {
  const run = state.tasks.run[slot]!;
  const { dag } = state.runs.versionOf(run);
  // While its breaker tries whether things go, second attempts tell it nothing.
  if (dag.gate !== null || !dag.hasRoomForTask() || isPaused(state, slot)) return false;
  const most = Math.max(1, Math.floor(state.runs.running[run]! * MOST_SHARE));
  return (state.stragglers.counts.get(run) ?? 0) < most;
}

function workerFor(state: State, slot: number, { since }: Wanted): Worker | null {
  const { tenantId } = state.runs.versionOf(state.tasks.run[slot]!).dag;
  const offers = state.queues.get(queueKey(tenantId, taskSpecOf(state, slot).queue))?.offers;
  const own = state.workers.at(state.tasks.worker[slot]!);
  const other = offers?.anyBut(own) ?? null;
  if (other !== null || state.mono - since < ALONE_MS) return other;
  return offers?.peek() ?? null;
}

function claimSecond(recorder: Recorder, slot: number, worker: Worker): void {
  const { state } = recorder;
  const runId = state.runIdOfTask(slot);
  state.currentRun = runId;
  const claim = {
    runId,
    taskNo: taskNoOf(state, slot),
    attemptNo: (lastAttemptNo(state, slot) + 1) as AttemptNo,
    fence: (lastFence(state, slot) + 1) as Fence,
  };
  const { attemptNo, fence } = claim;
  const second = { attemptNo, fence, workerId: worker.id, claimedAt: state.now };
  recorder.record({
    kind: 'SecondClaimed',
    ...claim,
    workerId: worker.id,
    notes: notesWith(notesOf(state, slot), { second }),
    at: state.now,
  });
  sendAssignment(recorder, shadowOf(state, slot), worker, claim);
  watchLease(state, worker);
}
