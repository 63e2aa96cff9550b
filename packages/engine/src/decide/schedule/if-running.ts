/** What a window does while its dag has other runs, whatever created them (I7). */
import { assert } from '../../model/assert.ts';
import type { Command } from '../../model/command.ts';
import { birthShardOf } from '../../model/dag/dag-id.ts';
import type { Actor } from '../../model/ids.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { ENDED } from '../../tables/run/run-table.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { cancelRun } from '../run/cancel.ts';
import { isAnyHeld, oldestWaiting } from '../run/waiting-runs.ts';

const SCHEDULE = 'schedule' as Actor;

/** A window that depends on the other runs of its dag is decided when a takeover has loaded them all (I7). */
export function waitsForLoad(state: State, schedule: Schedule): boolean {
  const waiting = state.partial.get(schedule.dagId);
  if (waiting === undefined || (schedule.spec.ifRunning ?? 'allow') === 'allow') return false;
  waiting.add(schedule);
  return true;
}

/**
 * Commands that alter a schedule decide first what is due by it, and so do those that ask for windows of the past. After a takeover they
 * wait, as the windows themselves do, until all runs of the dag are loaded (I7).
 */
export function isTooEarly({ partial }: State, command: Command): boolean {
  if (partial.size === 0) return false;
  switch (command.kind) {
    case 'CreateSchedules':
    case 'EditSchedule':
    case 'DeleteSchedule':
    case 'SetSchedulePaused':
    case 'StartBackfill':
    case 'RetireDag':
      return partial.has(command.dagId);
    case 'SubmitRuns':
      return command.window !== undefined && partial.has(command.dagId);
    case 'DeployDag':
      // It names its dag, and has no id of it.
      return [...partial.keys()].some((dagId) => birthShardOf(dagId) === command.shard);
    default:
      return false;
  }
}

/** False: the window is skipped. Under `cancel_running` the other runs are cancelled by this. */
export function mayRunBeside(recorder: Recorder, schedule: Schedule): boolean {
  const { ifRunning = 'allow' } = schedule.spec;
  if (ifRunning === 'allow') return true;
  const dag = recorder.state.dags.get(schedule.dagId);
  assert(dag !== undefined, 'a due schedule has its dag in memory');
  // Also one that waits for its requirements: it begins as soon as they are met.
  const isWaiting =
    oldestWaiting(recorder.state, dag) !== undefined ||
    recorder.state.requires.isUsedBy(dag.id) ||
    isAnyHeld(recorder.state, dag);
  switch (ifRunning) {
    case 'skip':
      return dag.activeRuns === 0 && !isWaiting;
    case 'queue_one':
      return !isWaiting;
    case 'queue_all':
      return true;
    case 'cancel_running':
      if (dag.activeRuns > 0 || isWaiting) cancelRuns(recorder, dag);
      return true;
  }
}

/** Those that wait, too: they would come after the new one otherwise. */
function cancelRuns(recorder: Recorder, dag: Dag): void {
  const { runs } = recorder.state;
  for (const run of [...runs.rows()]) {
    if (runs.version[run]?.dag !== dag || runs.phase[run] === ENDED) continue;
    cancelRun(recorder, { kind: 'CancelRun', tenantId: dag.tenantId, runId: runs.id[run]!, actor: SCHEDULE });
  }
}
