/** The task numbers of all instances of a mapped task, in the order of the items. */
import type { TaskOutputs } from '@signalbox/engine';

type Instances = Extract<TaskOutputs, { of: 'instances' }>;

export function countOf({ ranges }: Instances): number {
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

/** Null for one whose output nobody may see. */
export function* numbersOf({ ranges, except }: Instances): Generator<number | null> {
  const left = new Set(except);
  for (const { from, step, count } of ranges) {
    for (let i = 0; i < count; i++) {
      const no = from + i * step;
      yield left.has(no) ? null : no;
    }
  }
}

/** The one at this place; null as above, or when there is none. */
export function numberAt({ ranges, except }: Instances, place: number): number | null {
  let left = place;
  for (const { from, step, count } of ranges) {
    if (left < count) return except.includes(from + left * step) ? null : from + left * step;
    left -= count;
  }
  return null;
}
