/** Turns changes into state: live, on load, and in replay. Nothing else changes the stored part of the state (I19). */

import { assert } from '../model/assert.ts';
import type { Change, KeyStored } from '../model/change.ts';
import { keyName } from '../model/key-name.ts';
import type { AnyRow } from '../model/table/define-table.ts';
import { LOADED_TABLES, type LoadedTable, type LoadedTables } from '../model/table/stored-tables.ts';
import type { UnstoredChange } from '../model/unstored-change.ts';
import type { State } from '../tables/state.ts';
import { applyAdded } from './apply-added.ts';
import { applyAsset, restoreAsset, restoreAssetTold } from './apply-asset.ts';
import { applyBackfill, restoreBackfill } from './apply-backfill.ts';
import { applyBreaker } from './apply-breaker.ts';
import { applyDagChange } from './apply-dag.ts';
import { applyDeadLetter } from './apply-dead-letter.ts';
import { applyRunDeadline, applyTaskDeadline } from './apply-deadlines.ts';
import { applyHalt } from './apply-halt.ts';
import { applyHeld, restoreHeld } from './apply-held.ts';
import { applyOfHolder } from './apply-holder.ts';
import { applyLimit, restoreGrant, restoreHold, restoreLimit } from './apply-limit.ts';
import { applyManual } from './apply-manual.ts';
import { applyMapChange } from './apply-map.ts';
import { applyPast } from './apply-past.ts';
import { applyRate, restoreRateStart } from './apply-rate.ts';
import { applyRows } from './apply-rows.ts';
import { applyRunChange } from './apply-run.ts';
import { applyRunKey, restoreRunKey } from './apply-run-key.ts';
import { applySchedule, restoreZones } from './apply-schedule.ts';
import { applySpeculative } from './apply-speculative.ts';
import { applyTaskChange } from './apply-task.ts';
import { applyUnstored } from './apply-unstored.ts';
import { applyWorkerSilence } from './apply-worker.ts';
import { restoreBreaker } from './restore-breaker.ts';

type AnyChange = Change | UnstoredChange;
type Apply<Kind> = (state: State, change: Extract<AnyChange, { readonly kind: Kind }>) => void;

/** A new kind of change has its line here. */
const APPLY: { readonly [Kind in AnyChange['kind']]: Apply<Kind> } = {
  DagDeployed: applyDagChange,
  DagRetired: applyDagChange,
  DagRevived: applyDagChange,
  ScheduleSet: applySchedule,
  ScheduleRemoved: applySchedule,
  WindowDecided: applySchedule,
  WindowSkipped: applySchedule,
  ScheduleParked: applySchedule,
  ZonesApplied: applySchedule,
  RunCreated: applyRunChange,
  RunAdmitted: applyRunChange,
  RunClosing: applyRunChange,
  RunForced: applyRunChange,
  RunEnded: applyRunChange,
  RunReopened: applyRunChange,
  RunStruck: applyRunChange,
  AttemptClaimed: applyTaskChange,
  ClaimReturned: applyTaskChange,
  AttemptEnded: applyTaskChange,
  TaskCleared: applyTaskChange,
  SpeculativeClaimed: applySpeculative,
  SpeculativeReturned: applySpeculative,
  SpeculativeEnded: applySpeculative,
  SpeculativeTookOver: applySpeculative,
  CheckpointSaved: applyOfHolder,
  ClaimAsserted: applyOfHolder,
  AttemptMeasured: applyOfHolder,
  TasksAdded: applyAdded,
  TasksDropped: applyAdded,
  MapExpanded: applyMapChange,
  MapUnfolded: applyMapChange,
  MapRemoved: applyMapChange,
  /** Nothing here depends on it: it is for the code that makes the calls. */
  CallbackDue: () => {},
  DeadLetterWritten: applyDeadLetter,
  DeadLetterClosed: applyDeadLetter,
  BreakerSet: applyBreaker,
  EventHeld: applyHeld,
  EventsReleased: applyHeld,
  BackfillStarted: applyBackfill,
  BackfillMoved: applyBackfill,
  BackfillSet: applyBackfill,
  AssetProduced: applyAsset,
  AssetTold: applyAsset,
  AssetTaken: applyAsset,
  LimitSet: applyLimit,
  SlotsGranted: applyLimit,
  SlotsHeld: applyLimit,
  QuotaSet: applyRows,
  QuotaPassed: applyRows,
  /** Nothing here depends on it: it is for people. */
  DagQuotaPassed: () => {},
  DagHalted: applyHalt,
  DagResumed: applyHalt,
  RunKeySet: applyRunKey,
  RateUsed: applyRate,
  RateFreed: applyRate,
  ExpectationSet: applyRows,
  BudgetCrossed: applyRows,
  ExpectationRemoved: applyRows,
  /** Nothing here depends on it: it is for the code that sends the event. */
  EventMissed: () => {},
  TaskMarked: applyManual,
  PauseSet: applyManual,
  PrioritySet: applyManual,
  TaskQueued: applyTaskDeadline,
  TaskExpired: applyTaskDeadline,
  TaskSlow: applyTaskDeadline,
  AttemptExtended: applyTaskDeadline,
  RunSlow: applyRunDeadline,
  RunTimedOut: applyRunDeadline,
  PastChecked: applyPast,
  RunYielded: applyPast,
  RequirementsChecked: applyPast,
  KeyStored: applyKey,
  WorkerSilenced: applyWorkerSilence,
  WorkerHeardAgain: applyWorkerSilence,
  RetryReleased: applyUnstored,
  RetryHeld: applyUnstored,
  SuccessAssumed: applyUnstored,
};

/** How rows that are loaded at a takeover become state, where they are more in memory than rows. They come in the order of their key. */
const RESTORE: { readonly [Name in LoadedTable]?: (state: State, row: LoadedTables[Name][number]) => void } = {
  breakers: restoreBreaker,
  heldEvents: restoreHeld,
  backfills: restoreBackfill,
  scheduleZones: restoreZones,
  assets: restoreAsset,
  assetsTold: restoreAssetTold,
  limits: restoreLimit,
  grants: restoreGrant,
  holds: restoreHold,
  runKeys: restoreRunKey,
  rateStarts: restoreRateStart,
};

export function restoreTables(state: State, tables: LoadedTables): void {
  for (const [name, table] of LOADED_TABLES) {
    const restore = RESTORE[name] as ((state: State, row: AnyRow) => void) | undefined;
    for (const row of tables[name]) {
      if (restore === undefined) state.rows.keep(table, row);
      else restore(state, row);
    }
  }
}

export function apply(state: State, change: AnyChange): void {
  const applyKind = APPLY[change.kind] as (state: State, change: AnyChange) => void;
  applyKind(state, change);
}

function applyKey(state: State, change: KeyStored): void {
  const name = keyName(change);
  assert(!state.recentKeys.has(name), `the key ${name} is stored once`);
  state.recentKeys.set(name, { stored: change, batchNo: state.batchNo });
}
