import type { TaskView } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { sentenceOf, splitSuggestion } from './why.ts';

const task = (more: Partial<TaskView>): TaskView =>
  ({
    state: 'failed',
    attempt: 0,
    why: null,
    marked: null,
    reason: null,
    attempts: [],
    instances: null,
    ...more,
  }) as never;

test.each([
  [{ instances: { total: 240, states: { succeeded: 228, failed: 12 } } }, '12 of 240 items failed, 228 succeeded.'],
  [{ state: 'succeeded', instances: { total: 1, states: { succeeded: 1 } } }, '1 of 1 item succeeded.'],
  [{ state: 'succeeded', instances: { total: 0, states: {} } }, 'Its list had no items.'],
  [{ reason: 'Its condition cannot be evaluated.' }, 'Its condition cannot be evaluated.'],
  [{ attempt: 2 }, 'Attempt 2 failed.'],
] as const)('%j reads "%s"', (more, text) => {
  expect(sentenceOf(task(more as never), 0)).toBe(text);
});

test.each([
  ['Add workers, or slots to workers.', 'Add workers, or slots to workers.', null],
  ['Resume it: signalbox runs resume 7', 'Resume it:', 'signalbox runs resume 7'],
])('"%s" is advice and a command', (text, advice, command) => {
  expect(splitSuggestion(text)).toEqual({ advice, command });
});
