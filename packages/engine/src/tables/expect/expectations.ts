/** Expectations by when somebody must look at them. There are few: those of all dags of the shards. */
import { expectations } from '../../model/change/expect.ts';
import type { StoredExpectation } from '../../model/change.ts';
import type { DagId, Instant } from '../../model/ids.ts';
import type { State } from '../state.ts';

export function expectationsOf({ rows }: State, dagId: DagId): readonly StoredExpectation[] {
  return [...rows.all(expectations)].filter((one) => one.dagId === dagId);
}

/** Wall time: people say by when something must have come. */
export function nextExpectedAt({ rows }: State): Instant | null {
  let first: Instant | null = null;
  for (const { dueAt } of rows.all(expectations))
    if (dueAt !== null && (first === null || dueAt < first)) first = dueAt;
  return first;
}

export function dueExpectations({ rows, now }: State, most: number): readonly StoredExpectation[] {
  const due: StoredExpectation[] = [];
  for (const one of rows.all(expectations)) {
    if (due.length === most) break;
    if (one.dueAt !== null && one.dueAt <= now) due.push(one);
  }
  return due;
}
