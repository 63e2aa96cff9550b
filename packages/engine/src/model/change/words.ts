/**
 * Words of fixed lists. Tables and journal store the index of a word in its list, so lists only grow at the end. A new word
 * needs a new format of the journal.
 */
import { BACKFILL_STATES } from '../backfill.ts';
import { PRIORITIES } from '../dag/spec.ts';
import { DEAD_LETTER_REASONS, DEAD_LETTER_STATES } from '../dead-letter.ts';
import { QUOTA_LEVELS } from '../quota.ts';
import { RUN_OUTCOMES, RUN_PHASES } from '../run/phase.ts';
import { ATTEMPT_OUTCOMES, MARKS } from '../task/outcome.ts';
import { STORED_TASK_STATES } from '../task/task-states.ts';

export interface WordList<Word extends string> {
  /** What one of the words is, for errors. */
  readonly name: string;
  readonly words: readonly Word[];
}

function list<const Word extends string>(name: string, words: readonly Word[]): WordList<Word> {
  return { name, words };
}

export const WORDS = {
  priorities: list('priority', PRIORITIES),
  phases: list('run phase', RUN_PHASES),
  runOutcomes: list('run outcome', RUN_OUTCOMES),
  attemptOutcomes: list('attempt outcome', ATTEMPT_OUTCOMES),
  causes: list('cause', ['api', 'schedule', 'event', 'parent', 'backfill']),
  deadLetterReasons: list('dead letter reason', DEAD_LETTER_REASONS),
  deadLetterStates: list('dead letter state', DEAD_LETTER_STATES),
  breakerStates: list('breaker state', ['closed', 'open', 'ramping']),
  backfillStates: list('backfill state', BACKFILL_STATES),
  scheduleOrigins: list('schedule origin', ['definition', 'api']),
  skipReasons: list('skip reason', ['paused', 'missed', 'gap', 'overlap', 'deadline', 'deleted', 'unmet', 'quota']),
  expiryReasons: list('expiry reason', ['queue', 'total']),
  returnReasons: list('return reason', ['refused', 'undelivered', 'drained']),
  quotaLevels: list('quota level', QUOTA_LEVELS),
  /** What the row of a task may say: see `model/task/task-states.ts`. */
  taskStates: list('task state', STORED_TASK_STATES),
  /** The states that a person can mark a task with. */
  marks: list('mark', MARKS),
} as const;

export type WordOf<Name extends keyof typeof WORDS> = (typeof WORDS)[Name]['words'][number];
