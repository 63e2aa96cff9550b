/**
 * What a task was given: its inputs with their references resolved, from the params of the run and what the tasks before it returned
 * last. Secrets are no inputs. What cannot be told from stored rows alone is named, with its reference.
 */
import type { DagSpec } from '@signalbox/engine';
import {
  type ChildWork,
  describeInput,
  findInput,
  type InputRoots,
  type InputSource,
  type MapItem,
  type MapSourceShape,
  missingIn,
  sourcesIn,
  type TaskView,
} from '@signalbox/protocol';

type Inputs = NonNullable<TaskView['inputs']>;
type Reference = Exclude<InputSource, { from: 'value' | 'template' }>;

/** What the rows of a run say. */
export interface Known {
  readonly spec: DagSpec;
  readonly task: Pick<TaskView, 'name' | 'map'>;
  readonly run: InputRoots['run'];
  readonly params: unknown;
  /** By name of the task or instance; those that did not succeed are null, those that are too large to look into are left out. */
  readonly outputs: ReadonlyMap<string, { readonly output: unknown } | null>;
}

const plainName = (name: string): string => name.replace(/(\[\d+\])+$/, '');

export function sourcesOf(spec: DagSpec, task: string): Readonly<Record<string, InputSource>> {
  const found = spec.tasks.find(({ name }) => name === plainName(task));
  // Work of every kind has its inputs in the same place.
  return (found?.work as ChildWork | undefined)?.inputs ?? {};
}

function referencesIn(source: InputSource): Reference[] {
  if (source.from === 'value') return [];
  if (source.from !== 'template') return [source];
  return [...sourcesIn(source.template)].flatMap((inner) => (inner.from === 'secret' ? [] : referencesIn(inner)));
}

/** The tasks or instances whose outputs are needed, the lists of its maps included. */
export function outputsNeeded(spec: DagSpec, task: Pick<TaskView, 'name' | 'map'>): string[] {
  const direct = Object.values(sourcesOf(spec, task.name))
    .flatMap(referencesIn)
    .flatMap((source) => (source.from === 'task' && source.each !== true ? [source.task] : []));
  const lists = task.map.flatMap(({ group }) => {
    const [list] = listsOf(spec, group);
    return list?.from === 'task' ? [spec.tasks[list.task]?.name ?? ''] : [];
  });
  const names = [...new Set([...direct, ...lists])].map((name) => instanceName(spec, name, task.map));
  return names.filter((name): name is string => name !== null);
}

const listsOf = (spec: DagSpec, group: string): readonly MapSourceShape[] =>
  (spec.groups?.find(({ name }) => name === group)?.map?.over ?? []) as readonly MapSourceShape[];

/** Within the same maps an instance sees that of its own items; null for a task in a map that this one is not in. */
function instanceName(spec: DagSpec, name: string, map: TaskView['map']): string | null {
  let place = '';
  const { groups = [] } = spec;
  const around: number[] = [];
  let no: number | null = spec.tasks.find((task) => task.name === name)?.group ?? null;
  for (; no !== null; no = groups[no]?.parent ?? null) around.unshift(no);
  for (const at of around) {
    const group = groups[at];
    if (group?.map === undefined) continue;
    const own = map.find((item) => item.group === group.name);
    if (own === undefined) return null;
    place += `[${own.index}]`;
  }
  return `${name}${place}`;
}

export function resolveInputs(known: Known): Inputs {
  const { spec, task, run, params, outputs } = known;
  const upstream: Record<string, unknown> = Object.create(null);
  const absent: string[] = [];
  const unknown = new Set<string>();
  for (const { name } of spec.tasks) {
    const instance = instanceName(spec, name, task.map);
    const found = instance === null ? undefined : outputs.get(instance);
    if (found === null) absent.push(name);
    else if (found === undefined) unknown.add(name);
    else upstream[name] = found.output;
  }
  const roots: InputRoots = { params, upstream, absent, run, map: itemsOf(known, upstream) };
  return Object.entries(sourcesOf(spec, task.name)).map(([name, source]) => {
    const hidden = referencesIn(source).find((reference) => isHidden(reference, unknown, roots));
    const missing = hidden ?? (findInput(source, roots) === undefined ? missingIn(source, roots) : null);
    return missing === null
      ? { name, value: findInput(source, roots) ?? null, unresolved: null }
      : { name, value: null, unresolved: describeInput(missing).reference };
  });
}

function isHidden(reference: Reference, unknown: ReadonlySet<string>, { map }: InputRoots): boolean {
  if (reference.from === 'task') return reference.each === true || unknown.has(reference.task);
  return reference.from === 'item' && !map.some(({ group, item }) => group === reference.group && item !== undefined);
}

/** An item of a map over one list is what stands there in the list; of several lists the engine makes pairs. */
function itemsOf({ spec, task, params }: Known, upstream: Readonly<Record<string, unknown>>): MapItem[] {
  return task.map.map(({ group, index }) => {
    const lists = listsOf(spec, group);
    const [source] = lists;
    const list = source === undefined || lists.length > 1 ? undefined : listOf(spec, source, params, upstream);
    return { group, index, item: Array.isArray(list) ? (list[index] as unknown) : undefined };
  });
}

function listOf(
  spec: DagSpec,
  source: MapSourceShape,
  params: unknown,
  upstream: Readonly<Record<string, unknown>>,
): unknown {
  if (source.from === 'list') return source.items;
  if (source.from === 'params')
    return findInput({ from: 'params', path: spec.paramFacts?.[source.fact] ?? [] }, rootsOf(params, upstream));
  const task = spec.tasks[source.task];
  const path = task?.facts?.[source.fact] ?? [];
  return findInput({ from: 'task', task: task?.name ?? '', path }, rootsOf(params, upstream));
}

const rootsOf = (params: unknown, upstream: InputRoots['upstream']): InputRoots => ({
  ...{ params, upstream, absent: [], map: [], run: {} },
});
