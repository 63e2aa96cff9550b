/** How the mapped groups of a dag are nested. Computed once for all runs. */
import type { DagSpec, GroupSpec, MapSpec, TaskSpec } from '../dag/spec.ts';
import { DEFAULT_MAP_SIZE } from '../dag/spec.ts';

export interface MappedGroup {
  /** Index in `groups` of the dag. */
  readonly no: number;
  readonly name: string;
  readonly map: MapSpec;
  /** How many mapped groups are around it. */
  readonly depth: number;
  /** All tasks in it, also those of groups in it, in the order of their numbers: each instance has them in this order. */
  readonly members: readonly number[];
  /** Place of a task among the members. */
  readonly placeOf: ReadonlyMap<number, number>;
}

type Groups = Pick<DagSpec, 'groups' | 'maxMapSize'> & {
  readonly tasks: readonly Pick<TaskSpec, 'group'>[];
};

export class MapShape {
  readonly groups: readonly (MappedGroup | undefined)[];
  readonly maxMapSize: number;
  /** For each task the mapped groups around it, the outermost first. */
  readonly chains: readonly (readonly number[])[];
  /** Tasks whose map waits for no task. */
  readonly knownAtStart: readonly number[];
  /** For a task that maps run over: the members of those maps. */
  readonly fed: ReadonlyMap<number, readonly number[]>;
  /** The same by group. */
  readonly fedGroups: ReadonlyMap<number, readonly number[]>;

  /** Null for a dag without maps. */
  static of(spec: Groups): MapShape | null {
    return spec.groups?.some(({ map }) => map !== undefined) === true ? new MapShape(spec, spec.groups) : null;
  }

  private constructor({ tasks, maxMapSize = DEFAULT_MAP_SIZE }: Groups, groups: readonly GroupSpec[]) {
    this.maxMapSize = maxMapSize;
    const chainOfGroup: number[][] = [];
    groups.forEach(({ parent, map }, no) => {
      const around = parent === null ? [] : chainOfGroup[parent]!;
      chainOfGroup.push(map === undefined ? around : [...around, no]);
    });
    this.chains = tasks.map(({ group }) => (group === undefined ? [] : chainOfGroup[group]!));
    this.groups = groups.map(({ name, map }, no) => {
      if (map === undefined) return undefined;
      const members = this.chains.flatMap((chain, task) => (chain.includes(no) ? [task] : []));
      const placeOf = new Map(members.map((task, place) => [task, place]));
      return { no, name, map, depth: chainOfGroup[no]!.length - 1, members, placeOf };
    });
    const [fed, fedGroups] = [new Map<number, number[]>(), new Map<number, number[]>()];
    for (const group of this.groups) {
      for (const task of new Set(group?.map.over.flatMap((source) => (source.from === 'task' ? [source.task] : [])))) {
        fed.set(task, [...(fed.get(task) ?? []), ...group!.members]);
        fedGroups.set(task, [...(fedGroups.get(task) ?? []), group!.no]);
      }
    }
    this.knownAtStart = tasks.flatMap((_, task) =>
      this.groupBelow(task, 0)?.map.over.every(({ from }) => from !== 'task') === true ? [task] : [],
    );
    this.fed = fed;
    this.fedGroups = fedGroups;
  }

  /** Each instance of the second has one of the first that it sees. */
  isAround(first: number, second: number): boolean {
    return this.commonDepth(first, second) === this.chains[first]!.length;
  }

  /** How many mapped groups are around both. */
  commonDepth(a: number, b: number): number {
    const [ours, theirs] = [this.chains[a]!, this.chains[b]!];
    let depth = 0;
    while (depth < ours.length && depth < theirs.length && ours[depth] === theirs[depth]) depth += 1;
    return depth;
  }

  /** The group whose expansion makes more of a task that stands at this depth; undefined for one that is what it is. */
  groupBelow(task: number, depth: number): MappedGroup | undefined {
    const no = this.chains[task]![depth];
    return no === undefined ? undefined : this.groups[no];
  }
}
