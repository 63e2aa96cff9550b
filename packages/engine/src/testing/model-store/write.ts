/**
 * Turns changes into rows, one by one, in the order in which they were decided. It shares no code with the production store,
 * so the two can be compared: this is what the conformance suite expects of a store.
 */
import { noRows } from '../../model/change/define.ts';
import { kindOf } from '../../model/change/kinds.ts';
import type { Change } from '../../model/change.ts';
import { DescribedWrites } from './described.ts';
import { type ModelTables, versionKey } from './tables.ts';
import { require } from './violation.ts';
import { type RunRowChange, writeRunChange } from './write-run.ts';
import { writeShardChange } from './write-shard.ts';
import { writeTaskChange } from './write-task.ts';

/** Writes all or throws; the caller undoes what was done so far. References are looked at when all is written. */
export function writeChanges(tables: ModelTables, changes: readonly Change[], dbNow: number): void {
  for (const change of changes) writeChange(tables, change, dbNow);
  for (const change of changes) checkReferences(tables, change);
}

function writeChange(tables: ModelTables, change: Change, dbNow: number): void {
  const kind = kindOf(change);
  kind.tables?.(change, new DescribedWrites(tables.described, change));
  // A kind may write nothing but rows of described tables.
  if (kind.tables !== undefined && kind.rows === noRows) return;
  switch (change.kind) {
    case 'DagDeployed':
    case 'DagRetired':
    case 'DagRevived':
    case 'ScheduleSet':
    case 'ScheduleRemoved':
    case 'ScheduleParked':
    case 'WindowDecided':
    case 'WindowSkipped':
    case 'DeadLetterWritten':
    case 'DeadLetterClosed':
    case 'WorkerSilenced':
    case 'WorkerHeardAgain':
      return writeShardChange(tables, change, dbNow);
    case 'AttemptClaimed':
    case 'ClaimReturned':
    case 'AttemptEnded':
    case 'SpeculativeClaimed':
    case 'SpeculativeReturned':
    case 'SpeculativeEnded':
    case 'SpeculativeTookOver':
    case 'TaskCleared':
    case 'TaskQueued':
    case 'TaskExpired':
    case 'TaskSlow':
    case 'AttemptExtended':
    case 'CheckpointSaved':
    case 'ClaimAsserted':
    case 'AttemptMeasured':
    case 'TaskMarked':
      return writeTaskChange(tables, change);
    default:
      return writeRunChange(tables, change as RunRowChange);
  }
}

function checkReferences(tables: ModelTables, change: Change): void {
  switch (change.kind) {
    case 'DagDeployed':
      return require(tables.tenants.has(change.tenantId), 'a dag has its tenant', change);
    case 'ScheduleSet':
      return require(tables.dags.has(change.dagId), 'a schedule has its dag', change);
    case 'WindowDecided':
      return require(change.runId === null || tables.runs.has(change.runId), 'a window has its run', change);
    case 'RunCreated': {
      require(tables.versions.has(versionKey(change.dagId, change.versionNo)), 'a run has its version', change);
      return require(tables.dags.get(change.dagId)?.tenantId ===
        change.tenantId, 'a run has the tenant of its dag', change);
    }
    case 'KeyStored':
      // The run of an event that waits is still to be made, and so is a delayed run.
      return require(change.operation !== 'submit' ||
        tables.runs.has(change.runId) ||
        [...tables.schedules.values()].some(({ name }) => name === change.uid), 'a key has its run', change);
    default:
      return;
  }
}
