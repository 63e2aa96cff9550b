import type { MonoMs } from '@signalbox/engine';
import { job, scenario } from '@signalbox/engine/testing';
import { expect, test } from 'vitest';
import { QueueCounts } from './queues.ts';
import { StartRates } from './start-rates.ts';

test('a count is kept for a moment, and not for another owner', () => {
  let now = 1_000;
  const clock = { mono: () => now as MonoMs };
  const counts = new QueueCounts(new StartRates(clock), clock);
  const box = scenario({ dag: job() });
  const waiting = () => counts.of(box.state).reduce((sum, queue) => sum + queue.waiting, 0);
  const before = waiting();
  box.submit();
  expect(waiting()).toBe(before);
  now += 250;
  expect(waiting()).toBeGreaterThan(before);
  expect(counts.of(scenario({ runs: 0 }).state)).toEqual([]);
  expect(counts.of(null)).toEqual([]);
});
