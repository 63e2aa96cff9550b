/** Words of fixed lists as the numbers that tables and journal store. The engine defines the lists. */
import { WORDS, type WordList } from '@signalbox/engine';

export interface Codes<Word extends string> {
  readonly words: readonly Word[];
  code(word: Word): number;
  word(code: number): Word;
}

export function codesOf<Word extends string>({ name, words }: WordList<Word>): Codes<Word> {
  const numbers = new Map(words.map((word, code) => [word, code]));
  return {
    words,
    code(word) {
      const code = numbers.get(word);
      if (code === undefined) throw new Error(`There is no ${name} "${word}".`);
      return code;
    },
    word(code) {
      const word = words[code];
      if (word === undefined) throw new Error(`There is no ${name} with number ${code}: written by a newer version?`);
      return word;
    },
  };
}

export const priorities = codesOf(WORDS.priorities);
export const phases = codesOf(WORDS.phases);
export const runOutcomes = codesOf(WORDS.runOutcomes);
export const attemptOutcomes = codesOf(WORDS.attemptOutcomes);
export const causes = codesOf(WORDS.causes);
export const deadLetterReasons = codesOf(WORDS.deadLetterReasons);
export const deadLetterStates = codesOf(WORDS.deadLetterStates);
export const backfillStates = codesOf(WORDS.backfillStates);
export const breakerStates = codesOf(WORDS.breakerStates);
export const scheduleOrigins = codesOf(WORDS.scheduleOrigins);
export const skipReasons = codesOf(WORDS.skipReasons);
export const expiryReasons = codesOf(WORDS.expiryReasons);
export const returnReasons = codesOf(WORDS.returnReasons);
export const taskStates = codesOf(WORDS.taskStates);
