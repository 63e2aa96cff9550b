import { expect, test } from 'vitest';
import {
  IS_TERMINAL,
  mayMove,
  STORED_TASK_STATES,
  stateOfRow,
  TASK_STATE_KEYS,
  TASK_STATE_NAMES,
  TASK_STATE_ROWS,
} from './task-states.ts';

test('the code of a state is its place in the table', () => {
  expect(TASK_STATE_ROWS.map(({ code }) => code)).toEqual(TASK_STATE_ROWS.map((_, place) => place));
});

test('every move leads to a state of the table, and only such moves are allowed', () => {
  for (const [from, { moves }] of TASK_STATE_ROWS.entries()) {
    const allowed = TASK_STATE_KEYS.filter((_, to) => mayMove(from, to));
    expect(allowed.sort()).toEqual([...moves].sort());
  }
});

test('a task holds no claim, slot or place in a queue once it has ended', () => {
  for (const { isTerminal, holdsClaim, holdsSlot, awaitsAttempt, countsAs } of TASK_STATE_ROWS) {
    if (isTerminal) expect([holdsClaim, holdsSlot, awaitsAttempt]).toEqual([false, false, false]);
    expect(countsAs === 'open').toBe(!isTerminal);
    if (holdsSlot) expect(holdsClaim).toBe(true);
  }
});

// These numbers are in databases: the list only grows, at its end.
test('the words of rows keep their numbers', () => {
  expect(STORED_TASK_STATES.slice(0, 10)).toEqual([
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
});

test('a row of a task that was cancelled alone counts as ended, and is shown as cancelled', () => {
  const code = stateOfRow('stopped');
  expect([IS_TERMINAL[code], TASK_STATE_NAMES[code]]).toEqual([1, 'cancelled']);
});
