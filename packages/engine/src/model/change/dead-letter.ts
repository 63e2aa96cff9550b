/** Dead letters: tasks that failed for good and wait for a person (I43). */
import type { DeadLetterState } from '../dead-letter.ts';
import type { Actor, AttemptNo, DagId, RunUid, TenantId, VersionNo } from '../ids.ts';
import { type Fingerprint, fingerprintText } from '../task/fingerprint.ts';
import { type ChangeOf, defineChange } from './define.ts';
import { f } from './fields.ts';
import { taskFields } from './task-fields.ts';
import { WORDS } from './words.ts';

/** A task has failed for good, and a person may want to know of it. In the same commit as the end of its last attempt. */
const deadLetterWritten = defineChange('DeadLetterWritten', {
  no: 25,
  fields: {
    ...taskFields,
    /** The task's last attempt: how many it had. */
    attemptNo: f.uint<AttemptNo>(),
    uid: f.uuid<RunUid>(),
    taskName: f.text(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    versionNo: f.uint<VersionNo>(),
    reason: f.word(WORDS.deadLetterReasons),
    outcome: f.word(WORDS.attemptOutcomes),
    code: f.nullable(f.text()),
    fingerprint: f.uint<Fingerprint>(),
    /** The first line. */
    error: f.trace,
    at: f.instant,
  },
  rows(change, rows: DeadLetterRows) {
    rows.deadLetters.push(change);
  },
  event: ({ attemptNo: attempt, reason, outcome, code, fingerprint }) => ({
    kind: 'dead_letter.written',
    details: { attempt, reason, outcome, code, fingerprint: fingerprintText(fingerprint) },
  }),
});

/** Somebody discarded a dead letter, or replayed it as a new run, or it expired. `TaskCleared` closes that of its task too. */
const deadLetterClosed = defineChange('DeadLetterClosed', {
  no: 26,
  fields: {
    ...taskFields,
    attemptNo: f.uint<AttemptNo>(),
    as: f.word<DeadLetterState, Exclude<DeadLetterState, 'open'>>(WORDS.deadLetterStates),
    /** The run that was made of it. */
    newUid: f.nullable(f.uuid<RunUid>()),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: DeadLetterRows) {
    rows.closedDeadLetters.push(change);
  },
  event: ({ attemptNo: attempt, as: state, newUid: newRun, actor }) => ({
    kind: 'dead_letter.closed',
    details: { attempt, state, newRun, actor },
  }),
});

export interface DeadLetterRows {
  readonly deadLetters: DeadLetterWritten[];
  readonly closedDeadLetters: DeadLetterClosed[];
}

export interface DeadLetterWritten extends ChangeOf<typeof deadLetterWritten> {}
export interface DeadLetterClosed extends ChangeOf<typeof deadLetterClosed> {}
export type DeadLetterChange = DeadLetterWritten | DeadLetterClosed;

export const deadLetterChanges = [deadLetterWritten, deadLetterClosed] as const;
