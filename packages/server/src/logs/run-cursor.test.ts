import type { LogAttemptView } from '@signalbox/store';
import { expect, test } from 'vitest';
import type { NumberedLine } from './frame.ts';
import { advance, readCursor, START, writeCursor } from './run-cursor.ts';

const TASKS = 20;
const LINES = 500;
const BURST = 100;

const attempts = Array.from({ length: TASKS }, (_, taskNo) => ({
  ...{ taskNo, attemptNo: 1, claimedAt: taskNo, endedAt: 1e9, fence: 1 },
})) as unknown as LogAttemptView[];

/** Each task says a hundred lines at once, then others do: the page of a fair share each would be a few lines long. */
const linesOf = (taskNo: number): NumberedLine[] =>
  Array.from({ length: LINES }, (_, no) => ({
    ...{ no, stream: 'stdout', text: `${taskNo} ${no}`, at: Math.floor(no / BURST) * 1_000 + taskNo },
  })) as NumberedLine[];

test('tasks that say much at a time fill whole pages, in order of time, each line once', async () => {
  const limit = 1_000;
  const shown: { at: number; text: string }[] = [];
  let cursor = START;
  let read = 0;
  for (let pages = 1; ; pages++) {
    const page = await advance({
      cursor,
      limit,
      attempts,
      isSettled: () => true,
      now: 2e9,
      read: async (wanted) => ({
        missing: [],
        pages: wanted.map(({ attempt, from, limit: most }) => {
          const lines = linesOf(attempt.taskNo).slice(from, from + most);
          read += lines.length;
          return { lines, hasMore: from + most < LINES };
        }),
      }),
    });
    shown.push(...page.lines.map(({ line }) => line));
    cursor = readCursor(writeCursor(page.next));
    if (page.isAll) {
      expect(pages).toBeLessThanOrEqual((TASKS * LINES) / limit + 1);
      break;
    }
  }
  expect(new Set(shown.map(({ text }) => text)).size).toBe(TASKS * LINES);
  expect(shown).toHaveLength(TASKS * LINES);
  expect(shown.map(({ at }) => at)).toEqual(shown.map(({ at }) => at).sort((a, b) => a - b));
  // What is read and not shown is read again with the next page: little.
  expect(read).toBeLessThan(4 * TASKS * LINES);
});
