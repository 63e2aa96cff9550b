import { describe, expect, test } from 'vitest';
import type { AttemptSlot, TaskSlot } from '../../model/ids.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';
import { NO_ATTEMPT } from './attempt-table.ts';
import { addAttempt, removeAttempt } from './attempts.ts';
import {
  attemptsOfTask,
  attemptsOfWorker,
  attemptWith,
  besideOf,
  findAttempt,
  isLeading,
  leadingOf,
} from './find-attempt.ts';

/** A task that runs, and its slot. */
function running(): { box: Scenario; slot: TaskSlot; leading: AttemptSlot } {
  const box = scenario({ dag: job(), workers: ['w1', 'w2'] });
  box.claim('job');
  const run = box.state.runs.find(box.lastRun());
  const slot = box.state.runs.base[run]!;
  return { box, slot, leading: leadingOf(box.state, slot) };
}

describe('the attempts of a task', () => {
  test('are found by their fences, the leading one first', () => {
    const { box, slot, leading } = running();
    const other = addAttempt(box.state, slot, 2, 2);
    expect(attemptsOfTask(box.state, slot)).toEqual([leading, other]);
    expect([attemptWith(box.state, slot, 1), attemptWith(box.state, slot, 2)]).toEqual([leading, other]);
    expect(attemptWith(box.state, slot, 3)).toBe(NO_ATTEMPT);
    expect([besideOf(box.state, leading), besideOf(box.state, other)]).toEqual([other, leading]);
    expect([isLeading(box.state, leading), isLeading(box.state, other)]).toEqual([true, false]);
  });

  test.each(['leading', 'speculative'] as const)('when the %s one goes the other one leads', (which) => {
    const { box, slot, leading } = running();
    const other = addAttempt(box.state, slot, 2, 2);
    const run = box.state.tasks.run[slot]!;
    expect(box.state.speculation.countOf(run)).toBe(1);
    const [gone, left] = which === 'leading' ? [leading, other] : [other, leading];
    removeAttempt(box.state, gone);
    expect(attemptsOfTask(box.state, slot)).toEqual([left]);
    expect(isLeading(box.state, left)).toBe(true);
    expect(besideOf(box.state, left)).toBe(NO_ATTEMPT);
    expect(box.state.speculation.countOf(run)).toBe(0);
  });
});

test.each([0, 1, 2])('a worker keeps its other attempts when number %i of three ends', (no) => {
  const box = scenario({ dag: job(), workers: ['w1'] });
  box.submit();
  box.submit();
  const attempts = [0, 1, 2].map(() => box.claim('job'));
  const worker = box.state.workers.get(box.worker().id)!;
  const before = attemptsOfWorker(box.state, worker);
  const ended = findAttempt(box.state, attempts[no]!.claim)!;
  box.report(attempts[no]!, 'succeeded');
  expect(attemptsOfWorker(box.state, worker)).toEqual(before.filter((attempt) => attempt !== ended));
  expect([worker.running, box.state.attempts.count]).toEqual([2, 2]);
});
