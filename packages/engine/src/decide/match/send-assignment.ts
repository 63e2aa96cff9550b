/** The assignment that a worker receives for a claimed task. */

import type { ClaimRef } from '../../model/command.ts';
import type { ClaimDecision } from '../../model/decision.ts';
import { type RunRow, shardOfRun, type TaskNo, type TaskSlot } from '../../model/ids.ts';
import type { Booking } from '../../model/placement.ts';
import { IS_FAILURE, SUCCEEDED } from '../../model/task/task-states.ts';
import { viewOf } from '../../propagate/move.ts';
import { checkpointOf } from '../../tables/run/checkpoints.ts';
import { HAS_PARAMS } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { notesOf } from '../../tables/task/task-notes.ts';
import { slotOf, specNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { slotAt } from '../../tables/task/task-table.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import type { SendAssignment } from '../effect.ts';
import { mappedClaim } from '../map/claim.ts';
import type { Recorder } from '../recorder.ts';
import { runInfoOf } from '../run/run-info.ts';
import { hookEventFor } from './hook-event.ts';

/** To the worker that the task was claimed for, once that is committed. */
export function sendAssignment(
  recorder: Recorder,
  slot: TaskSlot,
  worker: Worker,
  claim: ClaimRef,
  booking: Booking | null,
  decision: ClaimDecision | null,
): void {
  const { state } = recorder;
  const run = state.tasks.run[slot]!;
  const shard = state.shards.get(shardOfRun(claim.runId))!;
  const seen = visibleTo(state, run, claim.taskNo);
  // Field by field: a spread costs more than all else here.
  recorder.send({
    kind: 'SendAssignment',
    gateway: worker.gateway!,
    workerId: worker.id,
    shard: shard.shard,
    epoch: shard.epoch,
    claim,
    stream: worker.stream,
    runUid: state.runs.uidOf(run),
    version: state.runs.versionOf(run),
    specNo: seen.specNo,
    map: seen.map,
    hasParams: seen.hasParams,
    runInfo: seen.runInfo,
    succeededUpstream: seen.succeededUpstream,
    failedUpstream: seen.failedUpstream,
    missingUpstream: seen.missingUpstream,
    booking,
    decision,
    memoryBytes: notesOf(state, slot).memoryBytes ?? taskSpecOf(state, slot).memoryBytes ?? 0,
    hookEvent: hookEventFor(state, run, claim.taskNo),
    checkpoint: checkpointOf(state, run, claim.taskNo),
  });
}

type Visible = Pick<
  SendAssignment,
  'specNo' | 'map' | 'hasParams' | 'runInfo' | 'succeededUpstream' | 'failedUpstream' | 'missingUpstream'
>;

/** What a task may see of its run when it begins. */
export function visibleTo(state: State, run: RunRow, taskNo: TaskNo): Visible {
  const version = state.runs.versionOf(run);
  const { graph } = version;
  const slot = slotOf(state, run, taskNo);
  const specNo = graph.maps === null ? taskNo : specNoOf(state, slot);
  const hasParams = state.runs.has(run, HAS_PARAMS);
  // Of a run with a window every task is told, for any code may ask; few runs have one.
  const hasWindow = state.runs.windows.size > 0 && state.runs.windows.has(run);
  const runInfo = hasWindow || version.task(specNo).runInfo === true ? runInfoOf(state, run) : null;
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
function upstream({ runs, tasks }: State, run: RunRow, taskNo: number): Upstream {
  const base = runs.base[run]!;
  const needs = runs.versionOf(run).graph.seenBy(taskNo);
  const stateOf = (no: number) => tasks.state[slotAt(base, no)]!;
  return {
    map: null,
    succeededUpstream: needs.filter((no) => stateOf(no) === SUCCEEDED),
    failedUpstream: needs.filter((no) => IS_FAILURE[stateOf(no)] === 1),
    missingUpstream: needs.filter((no) => stateOf(no) !== SUCCEEDED && IS_FAILURE[stateOf(no)] === 0),
  };
}
