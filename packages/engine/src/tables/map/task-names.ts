/** The names of tasks that people use: `load`, and `load[3]` or `part[2][5]` for one instance of a mapped task. */
import { roomOf } from '../../model/dag/added.ts';
import { type DagSpec } from '../../model/dag/spec.ts';
import { MapShape } from '../../model/map/shape.ts';
import type { StoredMap } from '../../model/stored.ts';
import { numberIn, RUN_SCOPE, RunMaps } from './run-maps.ts';

const NAME = /^(.*?)((?:\[\d{1,9}\])*)$/s;

/** Which item of a mapped group a task is for. */
export interface NamedPlace {
  readonly group: string;
  readonly index: number;
}

export class TaskNames {
  private readonly spec: DagSpec;
  private readonly maps: RunMaps | null;
  /** Made when a name is first looked up: most readers only ask for names. */
  private numbers: Map<string, number> | null = null;

  constructor(spec: DagSpec, stored: readonly StoredMap[]) {
    this.spec = spec;
    const shape = MapShape.of(spec);
    this.maps = shape === null ? null : mapsOf(new RunMaps(shape, roomOf(spec)), stored);
  }

  /** Null for a number that stands for no task of the run, or no longer. */
  nameOf(no: number): string | null {
    const spec = this.specOf(no);
    if (spec === null) return null;
    const { name } = this.spec.tasks[spec]!;
    const places = this.placesOf(no);
    return places.length === 0 ? name : `${name}${places.map(({ index }) => `[${index}]`).join('')}`;
  }

  /** Null when there is no such task, or not yet. */
  numberOf(name: string): number | null {
    const [, plain = '', indices = ''] = NAME.exec(name) ?? [];
    this.numbers ??= new Map(this.spec.tasks.map((task, no) => [task.name, no]));
    const spec = this.numbers.get(plain);
    if (spec === undefined) return null;
    let no: number = spec;
    for (const index of indices.match(/\d+/g) ?? []) {
      const expansion =
        this.maps === null || this.maps.waitsFor(no) === undefined ? undefined : this.maps.expansionOf(no);
      if (expansion === undefined || Number(index) >= expansion.unfolded) return null;
      no = numberIn(expansion, Number(index), spec);
    }
    return no;
  }

  /** Its number in the spec. */
  specOf(no: number): number | null {
    if (no < this.spec.tasks.length) return no;
    return this.maps?.holding(no) === undefined ? null : this.maps.specOf(no);
  }

  /** Outermost first. Of a placeholder, those around it. */
  placesOf(no: number): NamedPlace[] {
    const places: NamedPlace[] = [];
    if (no < this.spec.tasks.length || this.maps === null) return places;
    let at = this.maps.holding(no);
    let index = at === undefined ? 0 : Math.floor((no - at.firstNo) / at.group.members.length);
    while (at !== undefined) {
      places.unshift({ group: at.group.name, index });
      index = at.parentIndex;
      at = at.parent ?? undefined;
    }
    return places;
  }

  /** Whether a map makes, or would make, more of it. */
  isMapped(no: number): boolean {
    return this.maps?.waitsFor(no) !== undefined;
  }

  /** Numbers from this one on, in order: tasks of the spec first, then what their maps have made. */
  *from(first: number): Generator<number> {
    const { length } = this.spec.tasks;
    for (let no = first; no < length; no++) yield no;
    for (const { firstNo, unfolded, group } of this.maps?.expansions ?? []) {
      const end = firstNo + unfolded * group.members.length;
      for (let no = Math.max(first, firstNo); no < end; no++) yield no;
    }
  }

  /** Whether it is in a group, or in one that is in it. */
  isIn(no: number, group: string): boolean {
    const spec = this.specOf(no);
    let at: number | null = (spec === null ? undefined : this.spec.tasks[spec]?.group) ?? null;
    while (at !== null) {
      if (this.spec.groups?.[at]?.name === group) return true;
      at = this.spec.groups?.[at]?.parent ?? null;
    }
    return false;
  }
}

/** The same for a run in memory: the name of its task, with the indices of the instance that it is. */
export function instanceName(name: string, maps: RunMaps | null, no: number): string {
  const indices: number[] = [];
  let at = maps?.holding(no);
  let index = at === undefined ? 0 : Math.floor((no - at.firstNo) / at.group.members.length);
  while (at !== undefined) {
    indices.unshift(index);
    index = at.parentIndex;
    at = at.parent ?? undefined;
  }
  return name + indices.map((each) => `[${each}]`).join('');
}

function mapsOf(maps: RunMaps, stored: readonly StoredMap[]): RunMaps {
  for (const { group, scope, firstNo, total, unfolded, isRemoved } of stored) {
    if (isRemoved || (scope !== null && maps.holding(scope) === undefined)) maps.reserve(firstNo, group, total);
    else maps.add(group, scope ?? RUN_SCOPE, firstNo, total).unfolded = unfolded;
  }
  return maps;
}
