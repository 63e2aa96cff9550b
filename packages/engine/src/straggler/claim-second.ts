/**
 * Slots meet tasks that are to have a second attempt, before others of the same priority: they are few, and their run waits for
 * them. Each counts against its dag's limit like any other (I44), and goes to another worker than the first, if there is one.
 */
import { PRIORITIES } from '../dag/spec.ts';
import type { AttemptNo, Fence } from '../ids.ts';
import { watchLease } from '../lease/lease.ts';
import type { Worker } from '../lease/worker-table.ts';
import type { Demand } from '../match/demand.ts';
import { sendAssignment } from '../match/match.ts';
import { queueKey } from '../match/ready-queue.ts';
import type { Recorder } from '../recorder.ts';
import { isPaused } from '../run/pauses.ts';
import { taskNoOf, taskSpecOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { notesOf, notesWith } from '../task/notes.ts';
import { lastAttemptNo, lastFence, shadowOf, type Wanted } from './seconds.ts';
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

/** What waits for a worker here is asked for as ready tasks are; for a while of other workers only. */
export function addDemand(state: State, found: Demand[]): Demand[] {
  for (const [slot, want] of state.stragglers.wanted) {
    if (!isCurrent(state, slot, want) || !hasRoom(state, slot)) continue;
    const run = state.tasks.run[slot]!;
    const { tenantId } = state.runs.versionOf(run).dag;
    const { queue } = taskSpecOf(state, slot);
    const at = found.findIndex((demand) => demand.tenantId === tenantId && demand.queue === queue);
    const { counts, apart = [] } = found[at] ?? { counts: PRIORITIES.map(() => 0) };
    const priority = state.runs.priority[run]!;
    const from = state.workers.at(state.tasks.worker[slot]!)!.id;
    const isPicky = state.mono - want.since < ALONE_MS;
    const next: Demand = {
      ...{ tenantId, queue },
      counts: isPicky ? counts : counts.with(priority, counts[priority]! + 1),
      apart: isPicky ? [...apart, { priority, from }] : apart,
    };
    if (at < 0) found.push(next);
    else found[at] = next;
  }
  return found;
}

function isCurrent(state: State, slot: number, { runId, fence }: Wanted): boolean {
  const run = state.tasks.run[slot]!;
  return run >= 0 && state.runs.id[run] === runId && state.tasks.fence[slot] === fence && mayHaveSecond(state, slot);
}

function hasRoom(state: State, slot: number): boolean {
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
