import { expect, test } from 'vitest';
import { matchedStarts } from './matched.ts';
import { naiveStarts } from './naive.ts';
import { resultOf } from './placement.ts';
import { LARGE, mixedTrace, type Trace } from './trace.ts';

const trace = mixedTrace(300, 0.95);

/** The most that any worker would have to have is not known from outside; the fleet as a whole never has more than it has. */
function mostUsed({ tasks }: Trace, starts: readonly number[]): number {
  const moves = tasks.flatMap(({ ask, ms }, no) => [
    { at: starts[no]! + ms, by: -ask.cpu },
    { at: starts[no]!, by: ask.cpu },
  ]);
  let [now, most] = [0, 0];
  for (const { by } of moves.sort((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

test.each([
  ['random fit', () => naiveStarts(trace, 'random')],
  ['first fit', () => naiveStarts(trace, 'first')],
  ['the engine', () => matchedStarts(trace, 60_000)],
] as const)('%s starts each task once, not before it came, and the fleet has no more than it has', (_, run) => {
  const starts = run();
  expect(starts.every((at, no) => at >= trace.tasks[no]!.at)).toBe(true);
  expect(mostUsed(trace, starts)).toBeLessThanOrEqual(trace.cpu * trace.workers);
  expect(run()).toEqual(starts);
});

test('the load has the size that was asked for, and some tasks that want a whole worker', () => {
  const { tasks, cpu, workers } = trace;
  const work = tasks.reduce((sum, { ask, ms }) => sum + ask.cpu * ms, 0);
  expect(work / (cpu * workers * tasks.at(-1)!.at)).toBeCloseTo(0.95, 2);
  expect(tasks.some(({ ask }) => ask.name === LARGE)).toBe(true);
  expect(resultOf(trace, naiveStarts(trace, 'first')).used).toBeLessThan(0.96);
});
