/** Which tasks are one gang, by the definition and the journal alone. */
import type { GangSpec } from '@signalbox/engine';
import type { RunBook } from './books.ts';
import { specNoOf, taskSpecOf } from './map-book.ts';

export interface GangBook extends GangSpec {
  /** The numbers of its members, by rank. */
  readonly members: readonly number[];
}

/** The gang that the task is a member of; null for any other task. */
export function gangOf(run: RunBook, taskNo: number): GangBook | null {
  if (taskNo < run.spec.tasks.length) return null;
  const map = run.maps.findLast(({ firstNo }) => firstNo <= taskNo);
  const gang = taskSpecOf(run, taskNo).placement?.gang;
  if (map === undefined || gang === undefined) return null;
  const place = map.members.indexOf(specNoOf(run, taskNo));
  const members = Array.from({ length: map.total }, (_, rank) => map.firstNo + rank * map.members.length + place);
  return { ...gang, members };
}
