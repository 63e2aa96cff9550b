/**
 * After a takeover the live runs of some dags are loaded in parts. Until all are there, nothing decides windows that depend on
 * the other runs of such a dag (I7): not the tick, and not a command that alters the schedule.
 */
import type { Command } from '../../model/command.ts';
import { birthShardOf } from '../../model/dag/dag-id.ts';
import { schedulesOf } from '../../model/dag/schedules-of.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import type { DagId } from '../../model/ids.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import type { State } from '../../tables/state.ts';

/** The window of a tick: it is decided when all runs of its dag are loaded. */
export function waitsForLoad(state: State, schedule: Schedule): boolean {
  const waiting = state.partial.get(schedule.dagId);
  if (waiting === undefined || !dependsOnRuns(schedule.spec)) return false;
  waiting.add(schedule);
  return true;
}

/** Whether a command is to be decided when all runs are loaded. What is due by a schedule is decided before it is altered. */
export function commandWaitsForLoad(state: State, command: Command): boolean {
  if (state.partial.size === 0) return false;
  switch (command.kind) {
    case 'DeployDag': {
      // The dag may not be in memory: any dag of the shard that is being loaded may be the one.
      const isNew = schedulesOf(command.spec).some(({ spec }) => dependsOnRuns(spec));
      return [...state.partial.keys()].some(
        (dagId) => birthShardOf(dagId) === command.shard && isAffected(state, dagId, isNew),
      );
    }
    case 'CreateSchedules':
      return isAffected(
        state,
        command.dagId,
        command.schedules.some(({ spec }) => dependsOnRuns(spec)),
      );
    case 'EditSchedule':
      return isAffected(state, command.dagId, dependsOnRuns(command.spec));
    case 'DeleteSchedule':
    case 'SetSchedulePaused':
    case 'RetireDag':
    case 'StartBackfill':
      return isAffected(state, command.dagId, false);
    case 'SubmitRuns':
      return command.window !== undefined && isAffected(state, command.dagId, false);
    default:
      return false;
  }
}

/** `isNew`: the command brings a schedule whose windows depend on other runs. */
function isAffected(state: State, dagId: DagId, isNew: boolean): boolean {
  if (!state.partial.has(dagId)) return false;
  return isNew || state.schedules.ofDag(dagId).some(({ spec }) => dependsOnRuns(spec));
}

const dependsOnRuns = ({ ifRunning = 'allow' }: ScheduleSpec): boolean => ifRunning !== 'allow';
