export { apply } from './apply/apply.ts';
export {
  adoptShards,
  dropShards,
  type Heads,
  NOTHING_NEAR,
  noteAllLoaded,
  restoreRuns,
  restoreSchedule,
} from './apply/restore.ts';
export { noteLook } from './apply/service.ts';
export { MAX_ADDED_EDGES } from './decide/add/add-tasks.ts';
export { MAX_LIVE_CHILDREN } from './decide/child/begin-child.ts';
export { MAX_DEPTH } from './decide/child/park-calls.ts';
export type * from './decide/effect.ts';
export type { HookEventDetails } from './decide/effect.ts';
export { type Demand, demandOf } from './decide/match/demand.ts';
export { MAX_GRACE_MS } from './decide/run/cancel.ts';
export { uidOfWindow } from './decide/run/window-uid.ts';
export { commandWaitsForLoad } from './decide/schedule/wait-for-load.ts';
export { nextDue } from './decide/timer/tick.ts';
export { type StepInput, type StepResult, step } from './engine.ts';
export type * from './model/answer.ts';
export { BrokenInvariant } from './model/assert.ts';
export { type AssetInputs, type AssetSource, type AssetState, assetKey } from './model/asset.ts';
export {
  BACKFILL_CHOICES,
  BACKFILL_STATES,
  type BackfillChoice,
  type BackfillOrder,
  type BackfillSpec,
  type BackfillState,
  DEFAULT_SHARE,
  isLiveBackfill,
  MAX_ACTIVE_LIMIT,
} from './model/backfill.ts';
export { bitsOf, chanceOf } from './model/chance.ts';
export { type ToldChange, tellChange } from './model/change/event.ts';
export type { Coding, Field, Fields } from './model/change/fields.ts';
export { foldRows, partsOf, shardOfChange } from './model/change/fold.ts';
export { CHANGE_KINDS, kindOf, TABLES } from './model/change/kinds.ts';
export { FoldedRows } from './model/change/rows.ts';
export { WAITS_SINCE } from './model/change/run.ts';
export { DEFAULT_SCHEDULE, RESIDENT } from './model/change/schedule.ts';
export { WORDS, type WordList } from './model/change/words.ts';
export type * from './model/change.ts';
export type * from './model/command.ts';
export { type AddedTask, growSpec, roomOf } from './model/dag/added.ts';
export type { Comparison, Expression, FunctionName } from './model/dag/expression.ts';
export { Graph } from './model/dag/graph.ts';
export { schedulesOf } from './model/dag/schedules-of.ts';
export * from './model/dag/spec.ts';
export { limitSpec } from './model/dag/until.ts';
export {
  DEAD_LETTER_REASONS,
  DEAD_LETTER_STATES,
  type DeadLetterReason,
  type DeadLetterRef,
  type DeadLetterState,
  deadLetterName,
} from './model/dead-letter.ts';
export * from './model/decision.ts';
export type { ExpectSpec } from './model/expect.ts';
export * from './model/halt.ts';
export * from './model/ids.ts';
export * from './model/limit.ts';
export { type PayloadKey, payloadName } from './model/payload-name.ts';
export * from './model/placement.ts';
export * from './model/quota.ts';
export { childUid } from './model/run/child-uid.ts';
export * from './model/run/phase.ts';
export { notesCreated, type PastNote, type RunNotes, readRunNotes } from './model/run/run-notes.ts';
export { parseCron } from './model/schedule/cron.ts';
export { describeTiming, showPoint, span } from './model/schedule/describe-timing.ts';
export {
  type Firing,
  localTime,
  previewFirings,
  previewSchedule,
  type SchedulePreview,
} from './model/schedule/preview.ts';
export { type RequiresNote, UNMET_POLICIES } from './model/schedule/requirement.ts';
export { isSameTiming } from './model/schedule/same-timing.ts';
export { type ScheduleFault, scheduleFault } from './model/schedule/schedule-fault.ts';
export { missedPolicyOf, OVERLAP_POLICIES, type OverlapPolicy } from './model/schedule/schedule-policy.ts';
export type { CalendarSpec, DayRepeat, DayRule, TimePoint } from './model/schedule/schedule-spec.ts';
export { compileTimetable, type Timetable, type TimetableSpec } from './model/schedule/timetable.ts';
export {
  previousWindow,
  type Window,
  type WindowOptions,
  windowAfter,
  windowsBetween,
  type ZoneSource,
} from './model/schedule/window-after.ts';
export type { ZoneData } from './model/schedule/zone.ts';
export { zoneOf } from './model/schedule/zone-of.ts';
export type * from './model/stored.ts';
export type { Column, Columns } from './model/table/column.ts';
export {
  type AnyRow,
  type AnyTable,
  type KeyOf,
  keyTextOf,
  type RowOf,
  type TableWrites,
} from './model/table/define-table.ts';
export type { FoldedTables, TableFold } from './model/table/fold-tables.ts';
export {
  FETCHED_TABLES,
  type FetchedTables,
  LOADED_TABLES,
  type LoadedTable,
  type LoadedTables,
  noTables,
  type RowNeed,
  type TableName,
} from './model/table/stored-tables.ts';
export type { CheckpointRef } from './model/task/checkpoint-ref.ts';
export { type ReadFacts, readTaskFacts } from './model/task/facts.ts';
export {
  type Fingerprint,
  fingerprintOf,
  fingerprintText,
  firstLineOf,
  parseFingerprint,
} from './model/task/fingerprint.ts';
export { notesWith, readNotes, type TaskNotes } from './model/task/notes.ts';
export * from './model/task/outcome.ts';
export {
  isTerminal,
  STORED_TASK_STATES,
  type StoredTaskState,
  TASK_STATES,
  type TaskOutcome,
  type TaskState,
} from './model/task/task-states.ts';
export { TRIGGER_RULES, type TriggerRule } from './model/task/trigger.ts';
export {
  type EventTrigger,
  type OnSpec,
  patternsOf,
  triggersByType,
  triggersOf,
} from './model/trigger/event-trigger.ts';
export { whyUnmatched } from './model/trigger/match-event.ts';
export { needs, shardOfCommand } from './needs.ts';
export { deriveFaults, deriveTaskStates } from './propagate/derive.ts';
export { type InstanceCounts, readTasks, type TasksRead } from './propagate/read-tasks.ts';
export type { Version } from './tables/dag/dag.ts';
export { describeShard } from './tables/describe.ts';
export { type SlotHolder, type SlotsSeen, slotsOf } from './tables/limit/holders.ts';
export { type NamedPlace, TaskNames } from './tables/map/task-names.ts';
export { addBlocker, type Blocker, type BlockerCode, blockersOf, type LaneBlocker } from './tables/queue/blockers.ts';
export { type QueueKey, queueKey } from './tables/queue/queue-key.ts';
export { type QueueLoad, queueLoads } from './tables/queue/queue-loads.ts';
export { QueueTurns, type QueueWeights } from './tables/queue/queue-turns.ts';
export { MOST_AHEAD, type WaitingTask, type WaitSeen, waitOf } from './tables/queue/wait.ts';
export { spreadSeedOf } from './tables/schedule/schedule.ts';
export { DEFAULT_SETTINGS, type EngineSettings, State } from './tables/state.ts';
