/**
 * What all manual actions share: the run is found, loaded if it has ended, and the result is reported task by task.
 *
 * A dry run makes the same decision on a copy of the run, which is built from its rows as in a load and then thrown away. So
 * it reports exactly what would happen, and changes nothing.
 */

import { forgetRun } from '../../apply/forget-run.ts';
import { type Answer, refuse, type TouchedTask } from '../../model/answer.ts';
import type { Change } from '../../model/change.ts';
import type { RunId, RunRow, ShardNo, TaskNo, TenantId } from '../../model/ids.ts';
import { shardOfRun } from '../../model/ids.ts';
import { RUN_OUTCOMES } from '../../model/run/phase.ts';
import { TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { CLOSING, SET_ASIDE } from '../../tables/run/run-table.ts';
import { State } from '../../tables/state.ts';
import { forEachSlot, slotOf, taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { absorbSeen } from '../absorb-seen.ts';
import { Recorder } from '../recorder.ts';
import { finishRun } from '../run/finish.ts';
import { bringBack } from '../run/reopen.ts';

interface ManualAction {
  readonly tenantId: TenantId;
  readonly runId: RunId;
  readonly dryRun: boolean;
}

/** Makes the decision of `act`, unless it refuses, and returns the resulting states of the tasks. */
export function manually(
  recorder: Recorder,
  action: ManualAction,
  act: (recorder: Recorder, run: RunRow) => Answer | null,
): Answer {
  const on = action.dryRun ? copyFor(recorder, action.runId) : recorder;
  const run = findRun(on, action);
  if (typeof run !== 'number') return run;
  const { state } = on;
  // Its outcome was fixed in an earlier commit, its end is not stored yet: first things first.
  if (state.runs.phase[run] === CLOSING) finishRun(on, run);
  if (state.runs.phase[run] === CLOSING) return refuse('RUN_CLOSING');
  const [before, begin] = [statesOf(state, run), on.changes.length];
  const refusal = act(on, run);
  if (refusal !== null) return refusal;
  const done = on.changes.slice(begin).filter((change) => 'runId' in change && change.runId === action.runId);
  const reopened = done.some(({ kind }) => kind === 'RunReopened');
  const nameOf = (taskNo: TaskNo) => taskSpecOf(state, slotOf(state, run, taskNo)).name;
  const touched = touchedTasks(before, statesOf(state, run), done, nameOf);
  if (action.dryRun) forgetRun(state, run);
  return { ok: true, kind: 'touched', dryRun: action.dryRun, reopened, tasks: touched };
}

/** The run in memory, brought there if it has ended; or the refusal. */
export function findRun(
  recorder: Recorder,
  { runId, tenantId }: Pick<ManualAction, 'runId' | 'tenantId'>,
  { cancelledToo = false } = {},
): RunRow | Answer {
  const { runs } = recorder.state;
  const known = runs.find(runId);
  if (known >= 0) {
    if (runs.versionOf(known).dag.tenantId !== tenantId) return refuse('RUN_NOT_FOUND');
    if (runs.has(known, SET_ASIDE)) return refuse('RUN_SET_ASIDE');
    if (!cancelledToo && RUN_OUTCOMES[runs.outcome[known]! - 1] === 'cancelled')
      return refuse('RUN_ENDED', 'cancelled');
    return known;
  }
  const stored = recorder.endedRuns.get(runId);
  if (stored === undefined || stored.tenantId !== tenantId) return refuse('RUN_NOT_FOUND');
  // Live, and yet not in memory: it can't be loaded, and is about to be set aside.
  if (stored.setAside || stored.phase !== 'ended') return refuse('RUN_SET_ASIDE');
  if (!cancelledToo && stored.outcome === 'cancelled') return refuse('RUN_ENDED', 'cancelled');
  return bringBack(recorder, stored);
}

/** A world with this run alone, as it is stored. */
export function copyFor({ state, seen }: Recorder, runId: RunId): Recorder {
  const copy = new State(state.settings);
  copy.now = state.now;
  copy.mono = state.mono;
  copy.seed = state.seed;
  copy.batchNo = state.batchNo;
  const shard: ShardNo = shardOfRun(runId);
  const own = state.shards.get(shard);
  if (own !== undefined) copy.shards.set(shard, { ...own });
  const recorder = new Recorder(copy);
  if (seen !== null) absorbSeen(recorder, { ...seen, runs: seen.runs.filter((run) => run.runId === runId) });
  return recorder;
}

export function statesOf(state: State, run: RunRow): Map<TaskNo, number> {
  const states = new Map<TaskNo, number>();
  forEachSlot(state, run, (slot) => states.set(taskNoOf(state, slot), state.tasks.state[slot]!));
  return states;
}

function touchedTasks(
  before: ReadonlyMap<TaskNo, number>,
  after: ReadonlyMap<TaskNo, number>,
  changes: readonly Change[],
  nameOf: (taskNo: TaskNo) => string,
): TouchedTask[] {
  const how = new Map<TaskNo, TouchedTask['how']>();
  const stopped = new Map<TaskNo, number>();
  for (const change of changes) {
    if (change.kind === 'TaskCleared') how.set(change.taskNo, 'cleared');
    if (change.kind === 'TaskMarked') how.set(change.taskNo, change.state === 'cancelled' ? 'cancelled' : 'marked');
    if (change.kind === 'AttemptEnded') stopped.set(change.taskNo, change.attemptNo);
  }
  const touched: TouchedTask[] = [];
  for (const [taskNo, code] of after) {
    const was = before.get(taskNo) ?? code;
    if (code === was && !how.has(taskNo)) continue;
    touched.push({
      taskNo,
      name: nameOf(taskNo),
      before: TASK_STATE_NAMES[was]!,
      after: TASK_STATE_NAMES[code]!,
      how: how.get(taskNo) ?? 'decided',
      stopped: stopped.get(taskNo) ?? 0,
    });
  }
  return touched;
}
