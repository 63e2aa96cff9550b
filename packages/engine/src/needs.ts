/** What a command must see and the working set lacks. The host fetches it for a whole batch at once (D1). */

import { windowsToSee } from './decide/backfill/advance.ts';
import { dueSchedules } from './decide/timer/tick.ts';
import { HELD } from './decide/trigger/hold-event.ts';
import type { Command, StartBackfill, SubmitRuns } from './model/command.ts';
import { type DagId, type RunId, type ShardNo, shardOfRun } from './model/ids.ts';
import { keyName } from './model/key-name.ts';
import type { Need } from './model/stored.ts';
import type { State } from './tables/state.ts';

export function needs(state: State, command: Command): readonly Need[] {
  switch (command.kind) {
    case 'SubmitRuns': {
      const found = [...dagNeeds(state, command.shard, command.dagId)];
      if (command.key !== null) {
        const { shard, tenantId, dagId: target } = command;
        const key = { tenantId, operation: 'submit', target, key: command.key.key };
        if (!state.recentKeys.has(keyName(key))) found.push({ kind: 'key', shard, ...key });
      }
      if (command.replays !== undefined) found.push({ kind: 'deadLetter', ...command.replays });
      const { versionNo, shard, dagId } = command;
      if (versionNo !== undefined && state.dags.get(dagId)?.versions.has(versionNo) !== true) {
        found.push({ kind: 'version', shard, dagId, versionNo });
      }
      found.push(...windowNeeds(state, command));
      if (command.mayRepeat) found.push({ kind: 'run_uid', shard: command.shard, uid: command.uid });
      return found;
    }
    case 'HoldEvent': {
      const { shard, tenantId, dagId: target } = command;
      const key = { tenantId, operation: HELD, target, key: command.key.key };
      const found = [...dagNeeds(state, shard, target)];
      if (!state.recentKeys.has(keyName(key))) found.push({ kind: 'key', shard, ...key });
      return found;
    }
    case 'DeployDag': {
      const { shard, tenantId, name } = command;
      return state.dags.named(tenantId, name) === undefined ? [{ kind: 'dag_name', shard, tenantId, name }] : [];
    }
    case 'ReplayDeadLetter':
      return [{ kind: 'deadLetter', ...command.deadLetter }, ...runNeeds(state, command.deadLetter.runId)];
    case 'CloseDeadLetters':
      return command.deadLetters.map((deadLetter) => ({ kind: 'deadLetter', ...deadLetter }) as const);
    case 'StartBackfill':
      return [...dagNeeds(state, command.shard, command.dagId), ...ofBackfill(state, command)];
    case 'SetBackfill':
      return ofBackfill(state, command);
    case 'CreateSchedules':
    case 'EditSchedule':
    case 'DeleteSchedule':
    case 'SetSchedulePaused':
    case 'RetireDag':
      return dagNeeds(state, command.shard, command.dagId);
    case 'ClearTasks':
    case 'MarkTasks':
      // A dry run is of the run as it is stored, also of one in memory.
      return command.dryRun ? [{ kind: 'run', runId: command.runId }] : runNeeds(state, command.runId);
    case 'CancelRun':
      return command.dryRun ? [{ kind: 'run', runId: command.runId }] : runNeeds(state, command.runId);
    case 'RetryTask':
    case 'SetPaused':
    case 'StrikeRun':
      return runNeeds(state, command.runId);
    case 'ReportAttempt':
    case 'SaveCheckpoint':
    case 'AssertOwned':
    case 'AddTasks':
    case 'ExtendAttempt':
      return runNeeds(state, command.claim.runId);
    case 'BeginChild':
    case 'AskChild': {
      const { shard, dagId, uid } = command;
      const found = [...dagNeeds(state, shard, dagId)];
      if (!state.runs.children.has(uid)) found.push({ kind: 'run_uid', shard, uid });
      return found;
    }
    case 'Tick':
      return [...scheduleNeeds(state), ...backfillNeeds(state)];
    case 'ResetBreaker':
    case 'StrikeSchedule':
    case 'RefuseClaim':
    case 'ChildEnded':
    case 'LendSlots':
    case 'RecallSlots':
    case 'WorkerHeard':
    case 'WorkerLeft':
    case 'GatewayLost':
      return [];
  }
}

/** The shard whose owner must decide on this; null when any node may. */
export function shardOfCommand(command: Command): ShardNo | null {
  switch (command.kind) {
    case 'SubmitRuns':
    case 'HoldEvent':
    case 'DeployDag':
    case 'CreateSchedules':
    case 'EditSchedule':
    case 'DeleteSchedule':
    case 'SetSchedulePaused':
    case 'StartBackfill':
    case 'SetBackfill':
    case 'RetireDag':
    case 'CloseDeadLetters':
    case 'ResetBreaker':
    case 'StrikeSchedule':
    case 'BeginChild':
    case 'AskChild':
      return command.shard;
    case 'ReplayDeadLetter':
      return shardOfRun(command.deadLetter.runId);
    case 'CancelRun':
    case 'RetryTask':
    case 'ClearTasks':
    case 'MarkTasks':
    case 'SetPaused':
    case 'StrikeRun':
      return shardOfRun(command.runId);
    case 'ReportAttempt':
    case 'SaveCheckpoint':
    case 'AssertOwned':
    case 'AddTasks':
    case 'ExtendAttempt':
    case 'RefuseClaim':
    case 'ChildEnded':
      return shardOfRun(command.claim.runId);
    default:
      return null;
  }
}

function dagNeeds(state: State, shard: ShardNo, dagId: DagId): readonly Need[] {
  return state.dags.get(dagId) === undefined ? [{ kind: 'dag', shard, dagId }] : [];
}

function runNeeds(state: State, runId: RunId): readonly Need[] {
  return state.runs.find(runId) < 0 ? [{ kind: 'run', runId }] : [];
}

function scheduleNeeds(state: State): readonly Need[] {
  return dueSchedules({ state }).flatMap((id) => {
    const schedule = state.schedules.get(id);
    return schedule === undefined ? [] : dagNeeds(state, schedule.shard, schedule.dagId);
  });
}

function windowNeeds(state: State, { shard, dagId, window }: SubmitRuns): readonly Need[] {
  const schedule = window === undefined ? undefined : state.schedules.named(dagId, window.schedule);
  if (window === undefined || schedule === undefined) return [];
  return [{ kind: 'windows', shard, dagId, scheduleNo: schedule.scheduleNo, at: [window.at] }];
}

/** What runs the windows have that backfills decide next. */
function backfillNeeds(state: State): readonly Need[] {
  if (state.backfills.size === 0) return [];
  const found: Need[] = [];
  for (const { backfill, at } of windowsToSee(state)) {
    const { shard, dagId, spec } = backfill;
    found.push(...dagNeeds(state, shard, dagId));
    if (at.length > 0) found.push({ kind: 'windows', shard, dagId, scheduleNo: spec.scheduleNo, at });
  }
  return found;
}

function ofBackfill(state: State, { shard, uid }: Pick<StartBackfill, 'shard' | 'uid'>): readonly Need[] {
  return state.backfills.has(uid) ? [] : [{ kind: 'backfill', shard, uid }];
}
