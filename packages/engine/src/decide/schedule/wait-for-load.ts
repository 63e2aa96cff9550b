/**
 * After a takeover the live runs of some dags are loaded in parts. Until all are there, nothing decides windows that depend on
 * the other runs of such a dag (I7): not the tick, and not a command that alters the schedule.
 */
import type { Command } from '../../model/command.ts';
import { birthShardOf } from '../../model/dag/dag-id.ts';
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

type Rule<C> = (state: State, command: C) => boolean;
/** For commands that decide no window and no run of one. */
const NEVER = null;

/**
 * Which commands are to be decided when all runs are loaded. What is due by a schedule is decided before it is altered. Each kind has its
 * line here: a new one does not compile without.
 */
const RULES: { readonly [Kind in Command['kind']]: Rule<Extract<Command, { kind: Kind }>> | typeof NEVER } = {
  // The dag may not be in memory: then any dag of the shard that is being loaded may be the one.
  DeployDag: ({ partial, dags }, { shard, tenantId, name }) =>
    [...partial.keys()].some((dagId) => {
      const dag = dags.get(dagId);
      if (dag === undefined) return birthShardOf(dagId) === shard;
      return dag.tenantId === tenantId && dag.name === name;
    }),
  // One that is there already is left as it is.
  CreateSchedules: (state, { dagId, schedules }) =>
    isAffected(
      state,
      dagId,
      [],
      schedules.some(({ spec }) => dependsOnRuns(spec)),
    ),
  EditSchedule: (state, { dagId, name, spec }) => isAffected(state, dagId, [name], dependsOnRuns(spec)),
  DeleteSchedule: (state, { dagId, name }) => isAffected(state, dagId, [name]),
  SetSchedulePaused: (state, { dagId, name }) => isAffected(state, dagId, name === undefined ? null : [name]),
  RetireDag: (state, { dagId }) => isAffected(state, dagId, null),
  StartBackfill: (state, { dagId }) => isAffected(state, dagId, null),
  SubmitRuns: (state, { dagId, window }) => window !== undefined && isAffected(state, dagId, [window.schedule]),
  // These need no schedule: what they alter or create is no window.
  HoldEvent: NEVER,
  ProduceAsset: NEVER,
  TakeAsset: NEVER,
  NoteAssetTold: NEVER,
  SetLimit: NEVER,
  AskSlots: NEVER,
  TakeSlots: NEVER,
  SetLimits: NEVER,
  SetFrozen: NEVER,
  SetQuota: NEVER,
  RaiseQuota: NEVER,
  SetQuotas: NEVER,
  TakeQuota: NEVER,
  CrossBudget: NEVER,
  NoteEvent: NEVER,
  CancelRun: NEVER,
  RetryTask: NEVER,
  ReplayDeadLetter: NEVER,
  CloseDeadLetters: NEVER,
  ResetBreaker: NEVER,
  ClearTasks: NEVER,
  MarkTasks: NEVER,
  SetPaused: NEVER,
  SetPriority: NEVER,
  SetBackfill: NEVER,
  ResumeDag: NEVER,
  ReportAttempt: NEVER,
  ExtendAttempt: NEVER,
  SaveCheckpoint: NEVER,
  AssertOwned: NEVER,
  AddTasks: NEVER,
  RefuseClaim: NEVER,
  BeginChild: NEVER,
  AskChild: NEVER,
  ChildEnded: NEVER,
  LendSlots: NEVER,
  SetTenants: NEVER,
  RecallSlots: NEVER,
  WorkerHeard: NEVER,
  WorkerLeft: NEVER,
  GatewayLost: NEVER,
  StrikeRun: NEVER,
  StrikeSchedule: NEVER,
  // The tick asks for each window.
  Tick: NEVER,
};

export function commandWaitsForLoad(state: State, command: Command): boolean {
  if (state.partial.size === 0) return false;
  const rule = RULES[command.kind] as Rule<Command> | typeof NEVER;
  return rule !== NEVER && rule(state, command);
}

/**
 * Whether a command depends on runs of the dag, by the schedules that it names, or by any (`null`). One that is not in memory may
 * depend on them. `isNew`: the command brings a schedule whose windows do.
 */
function isAffected(state: State, dagId: DagId, names: readonly string[] | null, isNew = false): boolean {
  if (!state.partial.has(dagId)) return false;
  if (isNew || names === null) return true;
  return names.some((name) => {
    const known = state.schedules.named(dagId, name);
    return known === undefined || dependsOnRuns(known.spec);
  });
}

const dependsOnRuns = ({ ifRunning = 'allow' }: ScheduleSpec): boolean => ifRunning !== 'allow';
