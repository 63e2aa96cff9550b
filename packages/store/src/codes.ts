/**
 * Words of fixed lists as the numbers that stand in the tables and in the journal. Lists only grow, at their end: a number
 * that was written keeps its meaning.
 */
import {
  ATTEMPT_OUTCOMES,
  type BreakerSet,
  LETTER_REASONS,
  LETTER_STATES,
  PRIORITIES,
  type ReturnReason,
  RUN_OUTCOMES,
  RUN_PHASES,
  type RunCreated,
  type SkipReason,
  type StoredTask,
  type TaskExpired,
} from '@signalbox/engine';

export interface Codes<Word extends string> {
  readonly words: readonly Word[];
  code(word: Word): number;
  word(code: number): Word;
}

function codes<Word extends string>(list: string, words: readonly Word[]): Codes<Word> {
  const numbers = new Map(words.map((word, code) => [word, code]));
  return {
    words,
    code(word) {
      const code = numbers.get(word);
      if (code === undefined) throw new Error(`There is no ${list} "${word}".`);
      return code;
    },
    word(code) {
      const word = words[code];
      if (word === undefined) throw new Error(`There is no ${list} with number ${code}: written by a newer version?`);
      return word;
    },
  };
}

export const priorities = codes('priority', PRIORITIES);
export const phases = codes('run phase', RUN_PHASES);
export const runOutcomes = codes('run outcome', RUN_OUTCOMES);
export const attemptOutcomes = codes('attempt outcome', ATTEMPT_OUTCOMES);
export const causes = codes<RunCreated['cause']>('cause', ['api', 'schedule', 'event', 'parent']);
export const deadLetterReasons = codes('letter reason', LETTER_REASONS);
export const deadLetterStates = codes('letter state', LETTER_STATES);
export const breakerStates = codes<BreakerSet['state']>('breaker state', ['closed', 'open', 'ramping']);
export const skipReasons = codes<SkipReason>('skip reason', ['paused', 'missed', 'gap']);
export const expiryReasons = codes<TaskExpired['reason']>('expiry reason', ['queue', 'total']);
export const returnReasons = codes<ReturnReason>('return reason', ['refused', 'undelivered', 'drained']);
export const taskStates = codes<StoredTask['state']>('task state', [
  'running',
  'returned',
  'retrying',
  'succeeded',
  'failed',
  'cancelled',
  'cleared',
  'skipped',
  'stopped',
  'expired',
]);
