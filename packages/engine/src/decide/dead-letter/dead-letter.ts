/**
 * Dead letters: tasks that failed for good and wait for a person (I43). A dead letter is written in the commit that ends its
 * task. It is open until the task is tried again (by replay or otherwise), somebody discards it, or it expires.
 */

import type { DeadLetterReason } from '../../model/dead-letter.ts';
import type { AttemptNo, TaskSlot } from '../../model/ids.ts';
import { shownCause } from '../../model/task/cause-of-failure.ts';
import type { Fingerprint } from '../../model/task/fingerprint.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import { instanceName } from '../../tables/map/task-names.ts';
import { taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';

interface LastFailure {
  readonly reason: DeadLetterReason;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly error: string | null;
  readonly fingerprint: Fingerprint;
}

/** The task in this slot has just failed for good. */
export function writeDeadLetter(recorder: Recorder, slot: TaskSlot, failure: LastFailure): void {
  const { state } = recorder;
  const run = state.tasks.run[slot]!;
  const version = state.runs.versionOf(run);
  recorder.record({
    kind: 'DeadLetterWritten',
    runId: state.runs.id[run]!,
    taskNo: taskNoOf(state, slot),
    attemptNo: state.tasks.attemptNo[slot] as AttemptNo,
    uid: state.runs.uidOf(run),
    taskName: instanceName(taskSpecOf(state, slot).name, state.runs.mapsOf(run), taskNoOf(state, slot)),
    tenantId: version.dag.tenantId,
    dagId: version.dag.id,
    versionNo: version.no,
    reason: failure.reason,
    outcome: failure.outcome,
    code: failure.code,
    fingerprint: failure.fingerprint,
    error: shownCause(failure),
    at: state.now,
  });
}
