import { expect, test } from 'vitest';
import { JOBS, mergeJobs } from './merge-jobs.ts';

const item = (name: string | null, cost: number) => ({
  ...{ name, attempts: 1, slotHours: 2, burstSlotHours: 0, cpuHours: 1, gibHours: 3 },
  cost,
});

test('jobs are one row, in its place by cost', () => {
  const merged = mergeJobs([item('etl', 5), item('.job-1', 4), item(null, 3), item('.job-2', 2)]);
  expect(merged.map(({ name, cost }) => [name, cost])).toEqual([
    [JOBS, 6],
    ['etl', 5],
    [null, 3],
  ]);
  expect(merged[0]).toMatchObject({ attempts: 2, slotHours: 4, cpuHours: 2, gibHours: 6 });
  const plain = [item('etl', 5)];
  expect(mergeJobs(plain)).toBe(plain);
});
