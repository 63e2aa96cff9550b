/** Replaying and discarding dead letters. Each can be used once: after its commit it is no longer open (I43). */

import { type Answer, refuse } from '../../model/answer.ts';
import type { CloseDeadLetters, ReplayDeadLetter } from '../../model/command.ts';
import { type DeadLetterRef, deadLetterName } from '../../model/dead-letter.ts';
import type { TenantId } from '../../model/ids.ts';
import { IS_GIVEN_UP } from '../../model/task/task-states.ts';
import type { State } from '../../tables/state.ts';
import { slotOf } from '../../tables/task/task-slots.ts';
import { NO_TASK } from '../../tables/task/task-table.ts';
import type { Recorder } from '../recorder.ts';
import { retryTask } from '../task/retry-task.ts';

/** The task is tried again in its run, in the version that the run began with: `TaskCleared` closes the dead letter. */
export function replayDeadLetter(recorder: Recorder, { tenantId, deadLetter, actor }: ReplayDeadLetter): Answer {
  const refused = refuseUnlessOpen(recorder, tenantId, deadLetter);
  if (refused !== null) return refused;
  const { runId, taskNo } = deadLetter;
  return retryTask(recorder, { kind: 'RetryTask', tenantId, runId, taskNo, actor });
}

/** Those that are open; the others are left as they are. */
export function closeDeadLetters(recorder: Recorder, { tenantId, deadLetters, as, actor }: CloseDeadLetters): Answer {
  const { state } = recorder;
  let count = 0;
  for (const deadLetter of deadLetters) {
    if (refuseUnlessOpen(recorder, tenantId, deadLetter) !== null) continue;
    recorder.record({ kind: 'DeadLetterClosed', ...deadLetter, as, newUid: null, actor, at: state.now });
    count += 1;
  }
  return { ok: true, kind: 'closed', count };
}

/** Null when the dead letter is there, this tenant's, and open, as far as anybody knows. */
export function refuseUnlessOpen(
  recorder: Recorder,
  tenantId: TenantId | null,
  deadLetter: DeadLetterRef,
): Answer | null {
  const name = deadLetterName(deadLetter);
  const stored = recorder.deadLetters.get(name);
  if (stored === undefined || (tenantId !== null && stored.tenantId !== tenantId))
    return refuse('DEAD_LETTER_NOT_FOUND');
  if (stored.state !== 'open') return refuse('DEAD_LETTER_CLOSED', stored.state);
  if (recorder.state.recentDeadLetters.has(name) || !isStillLast(recorder.state, deadLetter))
    return refuse('DEAD_LETTER_CLOSED', 'replayed');
  return null;
}

/** A task in memory includes changes that are not committed yet. */
function isStillLast(state: State, { runId, taskNo, attemptNo }: DeadLetterRef): boolean {
  const run = state.runs.find(runId);
  const slot = run < 0 ? NO_TASK : slotOf(state, run, taskNo);
  return slot < 0 || (IS_GIVEN_UP[state.tasks.state[slot]!] === 1 && state.tasks.attemptNo[slot] === attemptNo);
}
