export { MAX_ADDED_EDGES } from './add/add-tasks.ts';
export { type AddedTask, growSpec, roomOf } from './add/added.ts';
export { apply } from './apply.ts';
export { BrokenInvariant } from './assert.ts';
export { bitsOf, chanceOf } from './chance.ts';
export type * from './change.ts';
export { MAX_LIVE_CHILDREN } from './child/begin-child.ts';
export { childUid } from './child/child-uid.ts';
export { MAX_DEPTH } from './child/park-calls.ts';
export type * from './command.ts';
export type { Comparison, Expression, FunctionName } from './dag/expression.ts';
export { Graph } from './dag/graph.ts';
export * from './dag/spec.ts';
export { limitSpec } from './dag/until.ts';
export type { Version } from './dag/version.ts';
export {
  type DeadLetterReason,
  type DeadLetterRef,
  type DeadLetterState,
  deadLetterName,
  LETTER_REASONS,
  LETTER_STATES,
} from './dead-letter/dead-letter.ts';
export { describeShard } from './describe.ts';
export type * from './effect.ts';
export { type StepInput, type StepResult, step } from './engine.ts';
export * from './ids.ts';
export { type NamedPlace, TaskNames } from './map/task-names.ts';
export { type Demand, demandOf } from './match/demand.ts';
export type { HookEventDetails } from './match/hook-event.ts';
export { type QueueKey, queueKey } from './match/ready-queue.ts';
export { needs, shardOfCommand } from './needs.ts';
export { adoptShards, dropShards, type Heads, restoreRuns } from './restore.ts';
export { MAX_GRACE_MS } from './run/cancel.ts';
export * from './run/phase.ts';
export { notesCreated, type RunNotes, readRunNotes } from './run/run-notes.ts';
export { parseCron } from './schedule/cron.ts';
export { type ScheduleFault, scheduleFault } from './schedule/schedule-fault.ts';
export { noteLook } from './schedule/service.ts';
export { windowAfter, type ZoneSource } from './schedule/window-after.ts';
export type { ZoneData } from './schedule/zone.ts';
export { DEFAULT_SETTINGS, type EngineSettings, State } from './state.ts';
export type * from './stored.ts';
export type { CheckpointRef } from './task/checkpoint.ts';
export { deriveFaults, deriveTaskStates } from './task/derive.ts';
export { type ReadFacts, readTaskFacts } from './task/facts.ts';
export { type Fingerprint, fingerprintOf, fingerprintText, firstLineOf, parseFingerprint } from './task/fingerprint.ts';
export type { TaskNotes } from './task/notes.ts';
export * from './task/outcome.ts';
export { type InstanceCounts, readTasks, type TasksRead } from './task/read-tasks.ts';
export { TRIGGER_RULES, type TriggerRule } from './task/trigger.ts';
export { nextDue } from './timer/tick.ts';
