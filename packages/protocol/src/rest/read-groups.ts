/**
 * Which group each task is in, and what the mapped ones go over. A mapped task is a mapped group with that task alone in it.
 * A task sees what its own instance, or something further out, has returned; what lies in a map that it is not in, it sees as a list.
 */
import type { Problem } from '../errors.ts';
import { DEFAULT_MAP_SIZE, MAX_MAP_DEPTH } from '../limits.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import { type Facts, tooManyFacts } from './facts.ts';
import type { MapMode } from './groups.ts';
import { gangShape } from './placement-fields.ts';
import { readReference } from './references.ts';
import { unknownTask } from './unknown-task.ts';

/** `name`: that the item has for what comes from this list, where a map goes over several. */
export type MapSourceShape = { readonly name?: string } & (
  | { readonly from: 'task'; readonly task: number; readonly fact: number }
  | { readonly from: 'params'; readonly fact: number }
  | { readonly from: 'list'; readonly length: number; readonly items: readonly unknown[] }
);

export interface MapSpecShape {
  readonly over: readonly MapSourceShape[];
  readonly mode: MapMode;
}

export interface GroupSpecShape {
  readonly name: string;
  readonly parent: number | null;
  readonly map?: MapSpecShape;
}

export interface ReadGroups {
  readonly specs: readonly GroupSpecShape[];
  /** Of the spec of a task. */
  fieldsOf(task: number): { readonly group?: number };
  /** The maps that a task is in, outermost first. */
  mapsOf(task: number): readonly { readonly name: string; readonly group: number }[];
  /** Whether what `from` returns is a list of the outputs of many instances, as `seenBy` sees it. */
  isList(from: number, seenBy: number): boolean;
  /** The tasks that come before each one: what it needs, and what the maps that it is in go over. */
  withSources(needs: readonly (readonly number[])[]): readonly (readonly number[])[];
  /** Where the map is written that makes the first task wait for the second. */
  placeOfMap(task: number, source: number): string | null;
}

type MapDefinition = NonNullable<ParsedDagDefinition['tasks'][number]['map']>;
type SourceDefinition = Extract<MapDefinition, string | unknown[]>;

interface Group {
  readonly name: string;
  readonly path: string;
  readonly parentName: string | undefined;
  readonly map: MapDefinition | undefined;
  parent: number | null;
  isUsed: boolean;
}

export function readGroups(
  definition: ParsedDagDefinition,
  numbers: ReadonlyMap<string, number>,
  facts: Facts,
  problems: Problem[],
): ReadGroups {
  const { tasks } = definition;
  const groups: Group[] = (definition.groups ?? []).map(({ name, group, map }, no) => {
    return { name, path: `groups[${no}]`, parentName: group, map, parent: null, isUsed: false };
  });
  const byName = nameGroups(groups, numbers, problems);
  const groupOf = tasks.map(({ name, group: parentName, map: over, gang }, no): number | null => {
    const path = `tasks[${no}]`;
    // The members of a gang are the instances of a map over their ranks.
    const map = over ?? (gang === undefined ? undefined : ranksOf(gangShape(gang).size));
    if (map === undefined) return parentName === undefined ? null : find(parentName, `${path}.group`);
    return groups.push({ name, path, parentName, map, parent: null, isUsed: true }) - 1;
  });
  for (const group of groups) {
    if (group.parentName !== undefined) group.parent = find(group.parentName, `${group.path}.group`);
  }
  const isSound = checkTree(groups, problems);
  const order = isSound ? outerFirst(groups) : groups.map((_, no) => no);

  function find(name: string, path: string): number | null {
    const no = byName.get(name);
    if (no === undefined)
      problems.push({
        path,
        message: `there is no group ${name}: list it under groups`,
        cause: { code: 'unknown_group', name },
      });
    else (groups[no] as Group).isUsed = true;
    return no ?? null;
  }

  const mapsAbove = groups.map((_, no) => (isSound ? mapsFrom(groups, no) : []));
  const mapsOfTask = groupOf.map((no) => (no === null ? [] : (mapsAbove[no] ?? [])));
  checkDepth(groups, mapsAbove, problems);
  const placeIn = new Map(order.map((no, place) => [no, place]));
  const specs = order.map((no): GroupSpecShape => {
    const group = groups[no] as Group;
    const { name, map } = group;
    const parent = group.parent === null ? null : (placeIn.get(group.parent) ?? null);
    if (map === undefined) return { name, parent };
    const outside = (mapsAbove[no] ?? []).slice(0, -1);
    const isOne = (task: number) => isPrefix(mapsOfTask[task] ?? [], outside);
    return { name, parent, map: readMap(group, map, { numbers, facts, isOne }, problems) };
  });
  checkSizes(
    order.map((no) => groups[no]?.path ?? ''),
    specs,
    definition.maxMapSize ?? DEFAULT_MAP_SIZE,
    problems,
  );

  const sourcesOf = (task: number): { readonly group: number; readonly source: number }[] =>
    (mapsOfTask[task] ?? []).flatMap((group) =>
      (specs[placeIn.get(group) ?? -1]?.map?.over ?? []).flatMap((each) =>
        each.from === 'task' ? [{ group, source: each.task }] : [],
      ),
    );
  return {
    specs,
    fieldsOf(task) {
      const group = groupOf[task] ?? null;
      return group === null ? {} : { group: placeIn.get(group) ?? group };
    },
    mapsOf: (task) => (mapsOfTask[task] ?? []).map((group) => ({ name: groups[group]?.name ?? '', group })),
    isList: (from, seenBy) => !isPrefix(mapsOfTask[from] ?? [], mapsOfTask[seenBy] ?? []),
    withSources: (needs) =>
      needs.map((of, task) => {
        const sources = sourcesOf(task);
        return sources.length === 0 ? of : [...new Set([...of, ...sources.map(({ source }) => source)])];
      }),
    placeOfMap(task, source) {
      const found = sourcesOf(task).find((each) => each.source === source);
      return found === undefined ? null : `${groups[found.group]?.path}.map`;
    },
  };
}

const ranksOf = (size: number): number[] => Array.from({ length: size }, (_, rank) => rank);

/** A name stands for one thing: instances and references are named by it. */
function nameGroups(
  groups: readonly Group[],
  tasks: ReadonlyMap<string, number>,
  problems: Problem[],
): Map<string, number> {
  const byName = new Map<string, number>();
  groups.forEach(({ name, path }, no) => {
    const [first, task] = [byName.get(name), tasks.get(name)];
    if (first !== undefined)
      problems.push({ path: `${path}.name`, message: `${name} is the name of groups[${first}] too` });
    else byName.set(name, no);
    if (task !== undefined)
      problems.push({
        path: `${path}.name`,
        message: `${name} is the name of tasks[${task}] too: give the group another`,
      });
  });
  return byName;
}

/** False where the parents form a cycle: then nothing can be said of who is in which map. */
function checkTree(groups: readonly Group[], problems: Problem[]): boolean {
  groups.forEach(({ isUsed, path }) => {
    if (!isUsed) problems.push({ path, message: 'has nothing in it: name it as the group of a task' });
  });
  const isClear = new Set<number>();
  for (let no = 0; no < groups.length; no++) {
    const way = new Set<number>();
    for (let at: number | null = no; at !== null && !isClear.has(at); at = groups[at]?.parent ?? null) {
      if (way.has(at)) {
        const names = [...way].slice([...way].indexOf(at)).map((each) => groups[each]?.name);
        const message = `groups form a cycle: ${[...names, names[0]].join(' is in ')}`;
        problems.push({ path: `${groups[at]?.path}.group`, message });
        return false;
      }
      way.add(at);
    }
    for (const at of way) isClear.add(at);
  }
  return true;
}

/** Each after the group that it is in; otherwise as they were written. */
function outerFirst(groups: readonly Group[]): number[] {
  const depths = groups.map((group) => {
    let depth = 0;
    for (let at = group.parent; at !== null; at = groups[at]?.parent ?? null) depth += 1;
    return depth;
  });
  return groups.map((_, no) => no).sort((a, b) => (depths[a] ?? 0) - (depths[b] ?? 0) || a - b);
}

/** The mapped groups from the outermost down to this one. */
function mapsFrom(groups: readonly Group[], no: number): number[] {
  const maps: number[] = [];
  for (let at: number | null = no; at !== null; at = groups[at]?.parent ?? null) {
    if (groups[at]?.map !== undefined) maps.push(at);
  }
  return maps.reverse();
}

function checkDepth(groups: readonly Group[], maps: readonly (readonly number[])[], problems: Problem[]): void {
  groups.forEach(({ path, map }, no) => {
    const depth = maps[no]?.length ?? 0;
    if (map === undefined || depth <= MAX_MAP_DEPTH) return;
    problems.push({ path: `${path}.map`, message: `is ${depth} maps deep; ${MAX_MAP_DEPTH} are allowed` });
  });
}

const isPrefix = (some: readonly number[], of: readonly number[]): boolean =>
  some.length <= of.length && some.every((each, i) => of[i] === each);

interface Around {
  readonly numbers: ReadonlyMap<string, number>;
  readonly facts: Facts;
  /** Whether the map finds one output of this task, and not a list of them. */
  readonly isOne: (task: number) => boolean;
}

function readMap(group: Group, map: MapDefinition, around: Around, problems: Problem[]): MapSpecShape {
  const isPlain = typeof map === 'string' || Array.isArray(map);
  const { over, mode } = isPlain ? { over: map, mode: 'product' as const } : map;
  const path = isPlain ? `${group.path}.map` : `${group.path}.map.over`;
  if (typeof over === 'string' || Array.isArray(over)) {
    const source = readSource(over, path, around, problems);
    return { over: source === null ? [] : [source], mode: 'product' };
  }
  const sources = Object.entries(over).map(([name, each]) => {
    const source = readSource(each, `${path}.${name}`, around, problems);
    return source === null ? null : { name, ...source };
  });
  return { over: sources.filter((each) => each !== null), mode };
}

const GATHER = 'only the list of all its outputs can be gone over, without a path behind it';

function readSource(over: SourceDefinition, path: string, around: Around, problems: Problem[]): MapSourceShape | null {
  const { numbers, facts, isOne } = around;
  if (Array.isArray(over)) return { from: 'list', length: over.length, items: over };
  const wrong = (message: string): null => {
    problems.push({ path, message });
    return null;
  };
  const read = readReference(over);
  if (read === null) return wrong('must be a reference such as ${{ tasks.list.output }}, or a list');
  if (!read.ok) return wrong(read.message);
  const { reference } = read;
  if (reference.from === 'params') {
    const fact = facts.ofParams(reference.path);
    return fact === null ? wrong(tooManyFacts('the params')) : { from: 'params', fact };
  }
  if (reference.from !== 'task') {
    const said = reference.from === 'secret' ? 'a secret' : `an ${reference.from}`;
    return wrong(`can't go over ${said}: let a task return the list, and map over its output`);
  }
  const task = numbers.get(reference.task);
  if (task === undefined) {
    problems.push(unknownTask(path, reference.task));
    return null;
  }
  if (!isOne(task) && reference.path.length > 0) return wrong(`${reference.task} is itself mapped: ${GATHER}`);
  const fact = facts.ofTask(task, reference.path);
  return fact === null ? wrong(tooManyFacts(`the output of ${reference.task}`)) : { from: 'task', task, fact };
}

/** What is known to be too many, or not to fit together, before anything runs. */
function checkSizes(
  paths: readonly string[],
  specs: readonly GroupSpecShape[],
  maxMapSize: number,
  problems: Problem[],
): void {
  specs.forEach(({ map }, no) => {
    if (map === undefined || map.over.length === 0) return;
    const lengths = map.over.flatMap((source) => (source.from === 'list' ? [source.length] : []));
    if (map.mode === 'zip') {
      if (new Set(lengths).size > 1)
        problems.push({ path: `${paths[no]}.map`, message: `zips lists of ${lengths.join(' and ')} items` });
    } else if (lengths.length < map.over.length) return;
    const size = map.mode === 'zip' ? (lengths[0] ?? 0) : lengths.reduce((all, each) => all * each, 1);
    if (size > maxMapSize) {
      const message = `has ${size} items; ${maxMapSize} are allowed: raise maxMapSize of the dag`;
      problems.push({ path: `${paths[no]}.map`, message });
    }
  });
}
