/**
 * What the journal says of the maps of a run, and which task a number stands for: reckoned here once more, from the definition and
 * the journal alone.
 */
import type { DagSpec, MapExpanded, TaskSpec } from '@signalbox/engine';
import { naiveName } from '@signalbox/engine/testing';

export interface MapBook extends Pick<MapExpanded, 'group' | 'scope' | 'firstNo' | 'total'> {
  readonly members: readonly number[];
  unfolded: number;
  isRemoved: boolean;
}

export function mapBook({ group, scope, firstNo, total }: MapExpanded, { tasks, groups = [] }: DagSpec): MapBook {
  const isIn = (of: number | null | undefined): boolean => of != null && (of === group || isIn(groups[of]!.parent));
  const members = tasks.flatMap((task, no) => (isIn(task.group) ? [no] : []));
  return { group, scope, firstNo, total, members, unfolded: 0, isRemoved: false };
}

interface Books {
  readonly spec: DagSpec;
  readonly maps: readonly MapBook[];
}

/** The task of the spec, whatever has become of its map since. */
export function specNoOf({ spec, maps }: Books, no: number): number {
  if (no < spec.tasks.length) return no;
  const { firstNo, members } = mapOf(maps, no)!;
  return members[(no - firstNo) % members.length]!;
}

export function taskSpecOf(books: Books, no: number): TaskSpec {
  return books.spec.tasks[specNoOf(books, no)]!;
}

/** Which instance of each map around it; null when it is not part of the run any more. */
export function pathOf({ spec, maps }: Books, no: number): number[] | null {
  if (no < spec.tasks.length) return [];
  const map = mapOf(maps, no);
  if (map === undefined || map.isRemoved) return null;
  const around = map.scope === null ? [] : pathOf({ spec, maps }, map.scope);
  return around === null ? null : [...around, Math.floor((no - map.firstNo) / map.members.length)];
}

export function nameOf(books: Books, no: number): string | null {
  const path = pathOf(books, no);
  return path === null ? null : naiveName(specNoOf(books, no), path);
}

/** What has become of a task of a mapped group, by the journal; null when it has not expanded. */
export function expansionOf(books: Books, no: number): MapBook | null {
  const path = pathOf(books, no)?.join() ?? null;
  const isOf = (map: MapBook) =>
    !map.isRemoved &&
    map.members.includes(specNoOf(books, no)) &&
    pathOf(books, map.firstNo)?.slice(0, -1).join() === path;
  return books.maps.find(isOf) ?? null;
}

/** Task `spec` as this one sees it, by its number: in the innermost instance around both. Null for one in a map of its own. */
export function numberNear(books: Books, no: number, spec: number): number | null {
  const [ours, theirs] = [chainOf(books.spec, specNoOf(books, no)), chainOf(books.spec, spec)];
  const path = pathOf(books, no);
  if (path === null || theirs.some((group, depth) => ours[depth] !== group)) return null;
  return numbersOf(books).get(naiveName(spec, path.slice(0, theirs.length))) ?? null;
}

/** The mapped groups around a task, the outermost first. */
function chainOf({ tasks, groups = [] }: DagSpec, no: number): number[] {
  const chain: number[] = [];
  for (let group = tasks[no]!.group ?? null; group !== null; group = groups[group]!.parent) {
    if (groups[group]!.map !== undefined) chain.unshift(group);
  }
  return chain;
}

/** The numbers of all tasks that are there, by their names. */
export function numbersOf(books: Books): ReadonlyMap<string, number> {
  if (books.maps.length === 0) return ownNumbers(books.spec);
  const numbers = new Map(ownNumbers(books.spec));
  for (const { firstNo, members, unfolded } of books.maps) {
    for (let no = firstNo; no < firstNo + unfolded * members.length; no++) {
      const name = nameOf(books, no);
      if (name !== null) numbers.set(name, no);
    }
  }
  return numbers;
}

/** Those of the definition, which never changes. */
const own = new WeakMap<DagSpec, ReadonlyMap<string, number>>();

function ownNumbers(spec: DagSpec): ReadonlyMap<string, number> {
  const numbers = own.get(spec) ?? new Map(spec.tasks.map((_, no) => [naiveName(no), no]));
  own.set(spec, numbers);
  return numbers;
}

function mapOf(maps: readonly MapBook[], no: number): MapBook | undefined {
  return maps.findLast(({ firstNo }) => firstNo <= no);
}
