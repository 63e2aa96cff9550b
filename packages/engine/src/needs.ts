/** What a command must see and the working set lacks. The host fetches it for a whole batch at once (D1). */

import { windowsToSee } from './decide/backfill/advance.ts';
import { pastNeeds } from './decide/past/check-past.ts';
import { requirementNeeds } from './decide/requires/check-requires.ts';
import { parkedNeeds } from './decide/schedule/park.ts';
import { MAX_TOGETHER } from './decide/schedule/pause-schedule.ts';
import { dueSchedules } from './decide/timer/tick.ts';
import { HELD } from './decide/trigger/hold-event.ts';
import type { Command, StartBackfill, SubmitRuns } from './model/command.ts';
import { schedulesOf } from './model/dag/schedules-of.ts';
import {
  type DagId,
  isOwnRunId,
  type RunId,
  type ScheduleNo,
  type ShardNo,
  scheduleIdOf,
  shardOfRun,
} from './model/ids.ts';
import { keyName } from './model/key-name.ts';
import type { Need } from './model/stored.ts';
import type { KeyOf } from './model/table/define-table.ts';
import type { TableName, TableNamed } from './model/table/stored-tables.ts';
import type { State } from './tables/state.ts';

export function needs(state: State, command: Command): readonly Need[] {
  switch (command.kind) {
    case 'SubmitRuns': {
      const found = [...dagNeeds(state, command.shard, command.dagId)];
      if (command.key !== null) {
        const { shard, tenantId, dagId: target } = command;
        const key = { tenantId, operation: 'submit', target, key: command.key.key };
        if (!state.recentKeys.has(keyName(key))) found.push(row('keys', { shard, ...key }));
      }
      if (command.replays !== undefined) found.push({ kind: 'deadLetter', ...command.replays });
      const { versionNo, shard, dagId } = command;
      if (versionNo !== undefined && state.dags.get(dagId)?.versions.has(versionNo) !== true) {
        found.push({ kind: 'version', shard, dagId, versionNo });
      }
      found.push(...windowNeeds(state, command), ...ownDelayedNeeds(state, command));
      if (command.mayRepeat) found.push({ kind: 'run_uid', shard: command.shard, uid: command.uid });
      return found;
    }
    case 'HoldEvent': {
      const { shard, tenantId, dagId: target } = command;
      const key = { tenantId, operation: HELD, target, key: command.key.key };
      const found = [...dagNeeds(state, shard, target)];
      if (!state.recentKeys.has(keyName(key))) found.push(row('keys', { shard, ...key }));
      return found;
    }
    case 'TakeAsset':
    case 'ResumeDag':
      return dagNeeds(state, command.shard, command.dagId);
    case 'DeployDag': {
      const { shard, tenantId, name } = command;
      const schedules = schedulesOf(command.spec).map((schedule) => schedule.name);
      const dag = state.dags.named(tenantId, name);
      // A task that depends on the past asks something of all schedules.
      const all = command.spec.tasks.some(({ past }) => past !== undefined) ? { first: MAX_TOGETHER + 1 } : {};
      if (dag === undefined) return [{ kind: 'dag_name', shard, tenantId, name, schedules, ...all }];
      return [{ kind: 'schedules', shard, dagId: dag.id, names: schedules, ofDefinition: true, ...all }];
    }
    case 'ReplayDeadLetter':
      return [{ kind: 'deadLetter', ...command.deadLetter }, ...runNeeds(state, command.deadLetter.runId)];
    case 'CloseDeadLetters':
      return command.deadLetters.map((deadLetter) => ({ kind: 'deadLetter', ...deadLetter }) as const);
    case 'StartBackfill':
      return [
        ...dagNeeds(state, command.shard, command.dagId),
        ...ofBackfill(state, command),
        ...numberNeeds(state, command, command.spec.scheduleNo),
      ];
    case 'SetBackfill':
      return ofBackfill(state, command);
    case 'CreateSchedules': {
      const names = command.schedules.map(({ name }) => name);
      return [...dagNeeds(state, command.shard, command.dagId), ...nameNeeds(state, command, names)];
    }
    case 'EditSchedule':
    case 'DeleteSchedule':
      return [...dagNeeds(state, command.shard, command.dagId), ...nameNeeds(state, command, [command.name])];
    case 'SetSchedulePaused': {
      const { shard, dagId, name } = command;
      return [
        ...dagNeeds(state, shard, dagId),
        ...(name === undefined ? allOf(command) : nameNeeds(state, command, [name])),
      ];
    }
    case 'RetireDag':
      return [...dagNeeds(state, command.shard, command.dagId), ...allOf(command)];
    case 'StrikeSchedule': {
      const [dagId, scheduleNo] = command.scheduleId.split('/').map(Number) as [DagId, ScheduleNo];
      return numberNeeds(state, { shard: command.shard, dagId }, scheduleNo);
    }
    case 'ClearTasks':
    case 'MarkTasks':
      // A dry run is of the run as it is stored, also of one in memory.
      return command.dryRun ? [{ kind: 'run', runId: command.runId }] : runNeeds(state, command.runId);
    case 'CancelRun':
      return command.dryRun ? [{ kind: 'run', runId: command.runId }] : runNeeds(state, command.runId);
    case 'RetryTask':
    case 'SetPaused':
    case 'SetPriority':
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
      return [
        ...[...scheduleNeeds(state), ...parkedNeeds(state), ...backfillNeeds(state)],
        ...[...pastNeeds(state), ...requirementNeeds(state)],
      ];
    case 'ProduceAsset':
    case 'NoteAssetTold':
    case 'SetLimit':
    case 'CrossBudget':
    case 'AskSlots':
    case 'TakeSlots':
    case 'SetLimits':
    case 'SetQuota':
    case 'RaiseQuota':
    case 'TakeQuota':
    case 'SetQuotas':
    case 'SetFrozen':
    case 'NoteEvent':
    case 'ResetBreaker':
    case 'RefuseClaim':
    case 'ChildEnded':
    case 'LendSlots':
    case 'SetTenants':
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
    case 'ProduceAsset':
    case 'TakeAsset':
    case 'NoteAssetTold':
    case 'SetLimit':
    case 'CrossBudget':
    case 'AskSlots':
    case 'TakeSlots':
    case 'SetQuota':
    case 'RaiseQuota':
    case 'TakeQuota':
    case 'NoteEvent':
    case 'DeployDag':
    case 'CreateSchedules':
    case 'EditSchedule':
    case 'DeleteSchedule':
    case 'SetSchedulePaused':
    case 'StartBackfill':
    case 'SetBackfill':
    case 'RetireDag':
    case 'ResumeDag':
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
    case 'SetPriority':
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

/** A row of a described table. */
function row<Name extends TableName>(table: Name, key: KeyOf<TableNamed<Name>>): Need {
  return { kind: 'row', table, key } as Need;
}

function dagNeeds(state: State, shard: ShardNo, dagId: DagId): readonly Need[] {
  return state.dags.get(dagId) === undefined ? [{ kind: 'dag', shard, dagId }] : [];
}

function runNeeds(state: State, runId: RunId): readonly Need[] {
  return state.runs.find(runId) < 0 ? [{ kind: 'run', runId }] : [];
}

function scheduleNeeds(state: State): readonly Need[] {
  const dags = new Map(dueSchedules({ state }).map(({ dagId, shard }) => [dagId, shard]));
  return [...dags].flatMap(([dagId, shard]) => dagNeeds(state, shard, dagId));
}

function windowNeeds(state: State, { shard, dagId, window }: SubmitRuns): readonly Need[] {
  if (window === undefined) return [];
  const schedule = state.schedules.named(dagId, window.schedule)?.scheduleNo ?? window.schedule;
  return [
    ...nameNeeds(state, { shard, dagId }, [window.schedule]),
    { kind: 'windows', shard, dagId, schedule, at: [window.at] },
  ];
}

/** A delayed run is a schedule that is named by its uid. One that the caller chose may be the name of another. */
function ownDelayedNeeds(state: State, { shard, dagId, uid, items }: SubmitRuns): readonly Need[] {
  return isOwnRunId(uid) && items[0]?.at !== undefined ? nameNeeds(state, { shard, dagId }, [uid]) : [];
}

interface OfDag {
  readonly shard: ShardNo;
  readonly dagId: DagId;
}

/** Those with these names that are not in memory. */
function nameNeeds({ schedules }: State, { shard, dagId }: OfDag, names: readonly string[]): readonly Need[] {
  const missing = names.filter((name) => schedules.named(dagId, name) === undefined);
  return missing.length === 0 ? [] : [{ kind: 'schedules', shard, dagId, names: missing }];
}

function numberNeeds({ schedules }: State, { shard, dagId }: OfDag, scheduleNo: ScheduleNo): readonly Need[] {
  const isHere = schedules.get(scheduleIdOf({ dagId, scheduleNo })) !== undefined;
  return isHere ? [] : [{ kind: 'schedules', shard, dagId, numbers: [scheduleNo] }];
}

/** All of a dag, and one more than may be altered together. */
function allOf({ shard, dagId }: OfDag): readonly Need[] {
  return [{ kind: 'schedules', shard, dagId, first: MAX_TOGETHER + 1 }];
}

/** What runs the windows have that backfills decide next. */
function backfillNeeds(state: State): readonly Need[] {
  if (state.backfills.size === 0) return [];
  const found: Need[] = [];
  for (const { backfill, at } of windowsToSee(state)) {
    const { shard, dagId, spec } = backfill;
    found.push(...dagNeeds(state, shard, dagId));
    if (at.length > 0) found.push({ kind: 'windows', shard, dagId, schedule: spec.scheduleNo, at });
  }
  return found;
}

function ofBackfill(state: State, { shard, uid }: Pick<StartBackfill, 'shard' | 'uid'>): readonly Need[] {
  return state.backfills.has(uid) ? [] : [row('backfills', { shard, uid })];
}
