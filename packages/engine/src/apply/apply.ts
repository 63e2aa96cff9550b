/** Turns changes into state: live, on load, and in replay. Nothing else alters what is stored (I19). */

import { assert } from '../model/assert.ts';
import type { Change, KeyStored } from '../model/change.ts';
import { keyName } from '../model/key-name.ts';
import type { UnstoredChange } from '../model/unstored-change.ts';
import type { State } from '../tables/state.ts';
import { applyAdded } from './apply-added.ts';
import { applyBreaker } from './apply-breaker.ts';
import { applyDagChange } from './apply-dag.ts';
import { applyDeadLetter } from './apply-dead-letter.ts';
import { applyRunDeadline, applyTaskDeadline } from './apply-deadlines.ts';
import { applyOfHolder } from './apply-holder.ts';
import { applyManual } from './apply-manual.ts';
import { applyMapChange } from './apply-map.ts';
import { applyRunChange } from './apply-run.ts';
import { applySchedule } from './apply-schedule.ts';
import { applySecond } from './apply-speculative.ts';
import { applyTaskChange } from './apply-task.ts';
import { applyUnstored } from './apply-unstored.ts';
import { applyWorkerSilence } from './apply-worker.ts';

export function apply(state: State, change: Change | UnstoredChange): void {
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
    case 'RetryReleased':
    case 'RetryHeld':
    case 'SuccessAssumed':
      return applyUnstored(state, change);
  }
}

function applyKey(state: State, change: KeyStored): void {
  const name = keyName(change);
  assert(!state.recentKeys.has(name), `the key ${name} is stored once`);
  state.recentKeys.set(name, { stored: change, batchNo: state.batchNo });
}
