/**
 * What someone wants. Commands of callers get an answer (see `answer.ts`); messages of workers and gateways, and ticks, do
 * not need one. The commands are in `command/`, grouped by sender.
 */
import type { NoteAssetTold, ProduceAsset, TakeAsset } from './command/asset.ts';
import type {
  AddTasks,
  AssertOwned,
  ExtendAttempt,
  RefuseClaim,
  ReportAttempt,
  SaveCheckpoint,
} from './command/attempt.ts';
import type { SetBackfill, StartBackfill } from './command/backfill.ts';
import type { CrossBudget } from './command/budget.ts';
import type { AskChild, BeginChild, ChildEnded } from './command/child.ts';
import type { NoteEvent } from './command/expect.ts';
import type { StrikeRun, StrikeSchedule, Tick } from './command/host.ts';
import type { AskSlots, SetLimit, SetLimits, TakeSlots } from './command/limit.ts';
import type {
  ClearTasks,
  CloseDeadLetters,
  MarkTasks,
  ReplayDeadLetter,
  ResetBreaker,
  RetryTask,
  SetPaused,
  SetPriority,
} from './command/manual.ts';
import type { RaiseQuota, SetQuota, SetQuotas, TakeQuota } from './command/quota.ts';
import type { CancelRun, DeployDag, ResumeDag, RetireDag, SubmitRuns } from './command/run.ts';
import type { CreateSchedules, DeleteSchedule, EditSchedule, SetSchedulePaused } from './command/schedule.ts';
import type { HoldEvent } from './command/trigger.ts';
import type {
  GatewayLost,
  LendSlots,
  RecallSlots,
  SetFrozen,
  SetTenants,
  WorkerHeard,
  WorkerLeft,
} from './command/worker.ts';

export type * from './command/asset.ts';
export type * from './command/attempt.ts';
export type * from './command/backfill.ts';
export type * from './command/budget.ts';
export type * from './command/child.ts';
export type * from './command/expect.ts';
export type * from './command/host.ts';
export type * from './command/limit.ts';
export type * from './command/manual.ts';
export type * from './command/quota.ts';
export type * from './command/run.ts';
export type * from './command/schedule.ts';
export type * from './command/trigger.ts';
export type * from './command/worker.ts';

export type Command =
  | DeployDag
  | SubmitRuns
  | HoldEvent
  | ProduceAsset
  | TakeAsset
  | NoteAssetTold
  | SetLimit
  | CrossBudget
  | AskSlots
  | TakeSlots
  | SetLimits
  | SetQuota
  | RaiseQuota
  | TakeQuota
  | SetQuotas
  | SetFrozen
  | NoteEvent
  | CancelRun
  | RetryTask
  | ReplayDeadLetter
  | CloseDeadLetters
  | ResetBreaker
  | ClearTasks
  | MarkTasks
  | SetPaused
  | SetPriority
  | CreateSchedules
  | EditSchedule
  | DeleteSchedule
  | SetSchedulePaused
  | StartBackfill
  | SetBackfill
  | RetireDag
  | ResumeDag
  | ReportAttempt
  | ExtendAttempt
  | SaveCheckpoint
  | AssertOwned
  | AddTasks
  | RefuseClaim
  | BeginChild
  | AskChild
  | ChildEnded
  | LendSlots
  | SetTenants
  | RecallSlots
  | WorkerHeard
  | WorkerLeft
  | GatewayLost
  | StrikeRun
  | StrikeSchedule
  | Tick;
