import { csvOf } from '../csv.ts';
import type { CostSums, Costs } from './costs.ts';

/** Costs as a file for spreadsheets, with a line for the total. */
export function costsCsv({ by, items, total, currency }: Costs): string {
  const head = [
    by,
    'attempts',
    'slot hours',
    'burst slot hours',
    'cpu hours',
    'GiB hours',
    `cost (${currency ?? '-'})`,
  ];
  const rowOf = (name: string | null, sums: CostSums) => [
    name,
    ...[sums.attempts, sums.slotHours, sums.burstSlotHours, sums.cpuHours, sums.gibHours, sums.cost],
  ];
  return csvOf([head, ...items.map((item) => rowOf(item.name, item)), rowOf('total', total)]);
}
