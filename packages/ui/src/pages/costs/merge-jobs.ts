import type { Costs } from '@signalbox/protocol';
import { isJobDag } from '../../parts/dag-link.tsx';

/** The row of all jobs together. No dag has such a name. */
export const JOBS = '.jobs';

/** Each kind of job has a hidden dag, whose name tells nobody anything: they are one row. */
export function mergeJobs(items: Costs['items']): Costs['items'] {
  const jobs = items.filter(({ name }) => name !== null && isJobDag(name));
  if (jobs.length === 0) return items;
  const sum = (of: (item: Costs['items'][number]) => number) => jobs.reduce((total, item) => total + of(item), 0);
  const merged = {
    name: JOBS,
    attempts: sum(({ attempts }) => attempts),
    slotHours: sum(({ slotHours }) => slotHours),
    burstSlotHours: sum(({ burstSlotHours }) => burstSlotHours),
    cpuHours: sum(({ cpuHours }) => cpuHours),
    gibHours: sum(({ gibHours }) => gibHours),
    cost: sum(({ cost }) => cost),
  };
  return [...items.filter((item) => !jobs.includes(item)), merged].sort((a, b) => b.cost - a.cost);
}
