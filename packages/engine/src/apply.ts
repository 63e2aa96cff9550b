/** Turns changes into state: live, on load, and in replay. Nothing else alters what is stored (I19). */
import { applyAdded } from './apply/apply-added.ts';
import { applyBreaker } from './apply/apply-breaker.ts';
import { applyDagChange } from './apply/apply-dag.ts';
import { applyDeadLetter } from './apply/apply-dead-letter.ts';
import { applyRunDeadline, applyTaskDeadline } from './apply/apply-deadlines.ts';
import { applyManual } from './apply/apply-manual.ts';
import { applyMapChange } from './apply/apply-map.ts';
import { applyRunChange } from './apply/apply-run.ts';
import { applySchedule } from './apply/apply-schedule.ts';
import { applyTaskChange } from './apply/apply-task.ts';
import { applyWorkerSilence } from './apply/apply-worker.ts';
import { assert } from './assert.ts';
import type { Change, KeyStored } from './change.ts';
import type { State } from './state.ts';
import { applySecond } from './straggler/apply-second.ts';
import { applyOfHolder } from './task/checkpoint.ts';

export function apply(state: State, change: Change): void {
  switch (change.kind) {
    case 'DagDeployed':
    case 'DagRetired':
    case 'DagRevived':
      return applyDagChange(state, change);
    case 'ScheduleSet':
    case 'ScheduleRemoved':
    case 'WindowDecided':
      return applySchedule(state, change);
    case 'RunCreated':
    case 'RunAdmitted':
    case 'RunClosing':
    case 'RunForced':
    case 'RunEnded':
    case 'RunReopened':
    case 'RunStruck':
      return applyRunChange(state, change);
    case 'AttemptClaimed':
    case 'ClaimReturned':
    case 'AttemptEnded':
    case 'TaskCleared':
      return applyTaskChange(state, change);
    case 'SecondClaimed':
    case 'SecondReturned':
    case 'SecondEnded':
    case 'SecondTookOver':
      return applySecond(state, change);
    case 'CheckpointSaved':
    case 'ClaimAsserted':
      return applyOfHolder(state, change);
    case 'TasksAdded':
    case 'TasksDropped':
      return applyAdded(state, change);
    case 'MapExpanded':
    case 'MapUnfolded':
    case 'MapRemoved':
      return applyMapChange(state, change);
    case 'CallbackDue':
      return; // Nothing here depends on it: it is for whoever makes the calls.
    case 'DeadLetterWritten':
    case 'DeadLetterClosed':
      return applyDeadLetter(state, change);
    case 'BreakerSet':
      return applyBreaker(state, change);
    case 'TaskMarked':
    case 'PauseSet':
      return applyManual(state, change);
    case 'TaskQueued':
    case 'TaskExpired':
    case 'TaskSlow':
    case 'AttemptExtended':
      return applyTaskDeadline(state, change);
    case 'RunSlow':
    case 'RunTimedOut':
      return applyRunDeadline(state, change);
    case 'KeyStored':
      return applyKey(state, change);
    case 'WorkerSilenced':
    case 'WorkerHeardAgain':
      return applyWorkerSilence(state, change);
  }
}

export function keyName(key: Pick<KeyStored, 'tenantId' | 'operation' | 'target' | 'key'>): string {
  return `${key.tenantId}/${key.operation}/${key.target}/${key.key}`;
}

function applyKey(state: State, change: KeyStored): void {
  const name = keyName(change);
  assert(!state.recentKeys.has(name), `the key ${name} is stored once`);
  state.recentKeys.set(name, { stored: change, batchNo: state.batchNo });
}
