/**
 * Slots meet tasks: priority first, then the oldest run. A claim is one change and one assignment; the worker's slot,
 * the dag's limit and the task are taken in the same commit (I44).
 */
import { beginProbe, holdReady, passGate } from '../breaker/pass.ts';
import type { ClaimRef } from '../command.ts';
import { PRIORITIES } from '../dag/spec.ts';
import type { SendAssignment } from '../effect.ts';
import type { AttemptNo, Fence, RunId, TaskNo } from '../ids.ts';
import { shardOfRun } from '../ids.ts';
import { watchLease } from '../lease/lease.ts';
import type { Worker } from '../lease/worker-table.ts';
import { mappedClaim } from '../map/claim.ts';
import type { Recorder } from '../recorder.ts';
import { runInfoOf } from '../run/run-info.ts';
import { CLAIMED, HAS_PARAMS } from '../run/run-table.ts';
import { slotOf, specNoOf, taskNoOf, taskSpecOf } from '../run/task-slots.ts';
import type { State } from '../state.ts';
import { matchSeconds } from '../straggler/claim-second.ts';
import { lastAttemptNo, lastFence, ownerOf } from '../straggler/seconds.ts';
import { checkpointOf } from '../task/checkpoint.ts';
import { viewOf } from '../task/move.ts';
import { hasRow, notesOf } from '../task/notes.ts';
import { FAILED, STOPPED, SUCCEEDED, UPSTREAM_FAILED } from '../task/task-table.ts';
import { notesOfClaim } from '../timer/task-timers.ts';
import { isReady } from './enqueue.ts';
import { hookEventFor } from './hook-event.ts';
import type { Lane } from './lane.ts';
import type { ReadyQueue } from './ready-queue.ts';

/** Claims while slots and ready tasks meet. Answers false when the step was full before that. */
export function matchSlots(recorder: Recorder): boolean {
  for (let priority = 0; priority < PRIORITIES.length; priority++) {
    if (recorder.state.stragglers.wanted.size > 0 && !matchSeconds(recorder, priority)) return false;
    if (!matchPriority(recorder, priority)) return false;
  }
  return true;
}

function matchPriority(recorder: Recorder, priority: number): boolean {
  // A queue that has run out of tasks or of slots has nothing to match until the next step.
  const queues = [...recorder.state.queues.values()].filter((queue) => queue.top(priority) !== undefined);
  for (;;) {
    const queue = oldestFit(recorder, queues, priority);
    if (queue === null) return true;
    if (recorder.isFull()) return false;
    const lane = queue.top(priority)!;
    claimTask(recorder, lane.headSlot(), queue.offers.peek()!);
    queue.offers.passTurn();
    dropStaleHeads(recorder, lane);
  }
}

/** Of the queues with a ready task of this priority and a free slot: the one whose head is oldest. Drops the others. */
function oldestFit(recorder: Recorder, queues: ReadyQueue[], priority: number): ReadyQueue | null {
  let best: ReadyQueue | null = null;
  let oldest = Number.POSITIVE_INFINITY;
  for (let i = queues.length - 1; i >= 0; i--) {
    const queue = queues[i]!;
    const lane = freshTop(recorder, queue, priority);
    if (lane === undefined || queue.offers.peek() === undefined) queues.splice(i, 1);
    else if (lane.headRunId() < oldest) {
      best = queue;
      oldest = lane.headRunId();
    }
  }
  return best;
}

function freshTop(recorder: Recorder, queue: ReadyQueue, priority: number): Lane | undefined {
  for (let lane = queue.top(priority); lane !== undefined; lane = queue.top(priority)) {
    if (isReady(recorder.state, lane.headRunId(), lane.headSlot()) && !holdReady(recorder.state, lane.headSlot())) {
      return lane;
    }
    dropStaleHeads(recorder, lane);
  }
  return undefined;
}

function dropStaleHeads(recorder: Recorder, lane: Lane): void {
  while (lane.size > 0 && !isReady(recorder.state, lane.headRunId(), lane.headSlot())) lane.pop();
  lane.queue.update(lane);
}

function claimTask(recorder: Recorder, slot: number, worker: Worker): void {
  const { state } = recorder;
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  const runId = runs.id[run] as RunId;
  state.currentRun = runId;
  const claim = {
    runId,
    taskNo: taskNoOf(state, slot),
    attemptNo: (lastAttemptNo(state, slot) + 1) as AttemptNo,
    fence: (lastFence(state, slot) + 1) as Fence,
  };
  recorder.record({
    kind: 'AttemptClaimed',
    runId,
    taskNo: claim.taskNo,
    attemptNo: claim.attemptNo,
    fence: claim.fence,
    workerId: worker.id,
    firstOfTask: !hasRow(state, slot),
    firstOfRun: !runs.has(run, CLAIMED),
    at: state.now,
    ...notesOfClaim(state, slot),
  });
  passGate(state, slot);
  beginProbe(state, slot);
  sendAssignment(recorder, slot, worker, claim);
  watchLease(state, worker);
}

/** To the worker that the task was claimed for, once that is committed. */
export function sendAssignment(recorder: Recorder, slot: number, worker: Worker, claim: ClaimRef): void {
  const { state } = recorder;
  const run = state.tasks.run[slot]!;
  const shard = state.shards.get(shardOfRun(claim.runId))!;
  recorder.send({
    kind: 'SendAssignment',
    gateway: worker.gateway!,
    workerId: worker.id,
    shard: shard.shard,
    epoch: shard.epoch,
    claim,
    runUid: state.runs.uidOf(run),
    version: state.runs.versionOf(run),
    ...visibleTo(state, run, claim.taskNo),
    memoryBytes: notesOf(state, ownerOf(state, slot)).memoryBytes ?? taskSpecOf(state, slot).memoryBytes ?? 0,
    hookEvent: hookEventFor(state, run, claim.taskNo),
    checkpoint: checkpointOf(state, run, claim.taskNo),
  });
}

type Visible = Pick<
  SendAssignment,
  'specNo' | 'map' | 'hasParams' | 'runInfo' | 'succeededUpstream' | 'failedUpstream' | 'missingUpstream'
>;

/** What a task may see of its run when it begins. */
export function visibleTo(state: State, run: number, taskNo: TaskNo): Visible {
  const version = state.runs.versionOf(run);
  const { graph } = version;
  const slot = slotOf(state, run, taskNo);
  const specNo = graph.maps === null ? taskNo : specNoOf(state, slot);
  const hasParams = state.runs.has(run, HAS_PARAMS);
  const runInfo = version.task(specNo).runInfo === true ? runInfoOf(state, run) : null;
  // In a plain graph nothing begins whose upstream has not succeeded; what is tried again may find it cleared meanwhile.
  if (graph.isPlain && state.tasks.fence[slot]! <= 1) {
    const succeededUpstream = graph.needs[specNo]!;
    return { specNo, map: null, hasParams, runInfo, succeededUpstream, failedUpstream: NONE, missingUpstream: NONE };
  }
  const seen = graph.maps === null ? upstream(state, run, specNo) : mappedClaim(viewOf(state, run), taskNo);
  return { specNo, hasParams, runInfo, ...seen };
}

type Upstream = Pick<SendAssignment, 'map' | 'succeededUpstream' | 'failedUpstream' | 'missingUpstream'>;

const NONE: readonly number[] = [];

/** What has become of its upstream tasks. */
function upstream({ runs, tasks }: State, run: number, taskNo: number): Upstream {
  const base = runs.base[run]!;
  const needs = runs.versionOf(run).graph.seenBy(taskNo);
  const isIn = (codes: readonly number[]) => (no: number) => codes.includes(tasks.state[base + no]!);
  return {
    map: null,
    succeededUpstream: needs.filter(isIn([SUCCEEDED])),
    failedUpstream: needs.filter(isIn(AS_FAILED)),
    missingUpstream: needs.filter((no) => !isIn(AS_DECIDED)(no)),
  };
}

const AS_FAILED: readonly number[] = [FAILED, UPSTREAM_FAILED, STOPPED];
const AS_DECIDED: readonly number[] = [SUCCEEDED, ...AS_FAILED];
