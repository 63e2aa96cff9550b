/**
 * Dead letters: what failed for good and waits for a person (I43). One is written in the commit that ends its task, and is
 * open until the task is tried again, by its replay or otherwise, or somebody discards it, or it expires.
 */
import type { DeadLetterWritten } from '../change.ts';
import type { AttemptNo, RunId } from '../ids.ts';
import { instanceName } from '../map/task-names.ts';
import type { Recorder } from '../recorder.ts';
import { taskNoOf, taskSpecOf } from '../run/task-slots.ts';
import { shownCause } from '../task/cause-of-failure.ts';
import type { Fingerprint } from '../task/fingerprint.ts';
import type { AttemptOutcome } from '../task/outcome.ts';

/** Why the task was given up. */
export const LETTER_REASONS = ['retries', 'permanent', 'poison', 'lost', 'timeout'] as const;
export type DeadLetterReason = (typeof LETTER_REASONS)[number];

export const LETTER_STATES = ['open', 'replayed', 'discarded', 'expired'] as const;
export type DeadLetterState = (typeof LETTER_STATES)[number];

/** Names a dead letter: the attempt that was the task's last. */
export interface DeadLetterRef {
  readonly runId: RunId;
  readonly taskNo: DeadLetterWritten['taskNo'];
  readonly attemptNo: AttemptNo;
}

export interface LastFailure {
  readonly reason: DeadLetterReason;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly error: string | null;
  readonly fingerprint: Fingerprint;
}

/** The task in this slot has just failed for good. */
export function writeDeadLetter(recorder: Recorder, slot: number, failure: LastFailure): void {
  const { state } = recorder;
  const run = state.tasks.run[slot]!;
  const version = state.runs.versionOf(run);
  recorder.record({
    kind: 'DeadLetterWritten',
    runId: state.runs.id[run] as RunId,
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

export function deadLetterName({ runId, taskNo, attemptNo }: DeadLetterRef): string {
  return `${runId}/${taskNo}/${attemptNo}`;
}
