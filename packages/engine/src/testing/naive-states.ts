/**
 * Computes the states of the tasks of a dag in the simplest way: it looks at everything again and again until nothing
 * changes. Slow, and shares no code with the engine, so the two can be compared.
 */
import type { Expression } from '../model/dag/expression.ts';
import type { DagSpec } from '../model/dag/spec.ts';
import type { TriggerRule } from '../model/task/trigger.ts';

/** The result of a task that has run or was marked; `open` for one that runs or waits to run again. */
export interface NaiveEnd {
  readonly state: 'succeeded' | 'failed' | 'open' | 'skipped' | 'cancelled';
  readonly output: unknown;
  /** The class of its failure, if an attempt of it has failed for good. */
  readonly failedAs?: string | null;
}

/** The states of all tasks of a dag without maps, given the results of those that ran, before its policy closes the run. */
export function naiveStates(spec: DagSpec, ended: ReadonlyMap<number, NaiveEnd>, params: unknown = null): string[] {
  const named = new Map([...ended].map(([no, end]) => [naiveName(no), end]));
  const states = naiveNodes(spec, named, params);
  return spec.tasks.map((_, no) => states.get(naiveName(no))!);
}

/** A task by its number in the spec, and which instance it is of each map around it: `4`, `4[0]`, `4[0][2]`. */
export function naiveName(no: number, path: readonly number[] = NO_PATH): string {
  let name = String(no);
  for (let depth = 0; depth < path.length; depth++) name += `[${path[depth]}]`;
  return name;
}

const NO_PATH: readonly number[] = [];

interface Node {
  readonly no: number;
  readonly path: readonly number[];
}

/** `expanded` is what a mapped task shows of instances that go on. */
const isOver = (state: string) => state !== 'blocked' && state !== 'ready' && state !== 'open' && state !== 'expanded';

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value;

/** What follows from the definition alone. */
interface Shape {
  /** The mapped groups around each task, the outermost first. */
  readonly chains: readonly (readonly number[])[];
  /** All that each task waits for by the edges of the dag alone: what was added to the run leads to no task of the dag. */
  readonly aboveInDag: readonly ReadonlySet<number>[];
  /** The direct ones of these. */
  readonly feeds: readonly (readonly number[])[];
  /** Hooks that run before a task, or before the run. */
  readonly befores: readonly number[];
  /** The setups whose teardown waits for this task, and which it comes behind. */
  readonly guardedBy: readonly (readonly number[])[];
  /** Each task outside of all maps. */
  readonly nodes: readonly Node[];
  readonly hasMaps: boolean;
  /** Short circuits above each task that skip everything behind them, and the branches and short circuits that it needs. */
  readonly closers: readonly (readonly number[])[];
  readonly choosers: readonly (readonly number[])[];
}

/** A definition never changes, and a test asks about the same one thousands of times. */
const shapes = new WeakMap<DagSpec, Shape>();

function shapeOf(spec: DagSpec): Shape {
  let shape = shapes.get(spec);
  if (shape === undefined) {
    shape = findShape(spec);
    shapes.set(spec, shape);
  }
  return shape;
}

function findShape({ tasks, groups = [] }: DagSpec): Shape {
  const chainOfGroup = (no: number | null | undefined): number[] => {
    if (no === null || no === undefined) return [];
    const { parent, map } = groups[no]!;
    return [...chainOfGroup(parent), ...(map === undefined ? [] : [no])];
  };
  const chains = tasks.map(({ group }) => chainOfGroup(group));
  const sourcesOf = (group: number) =>
    groups[group]!.map!.over.flatMap((one) => (one.from === 'task' ? [one.task] : []));
  const allFeeds = tasks.map(({ needs }, no) => [...needs, ...chains[no]!.flatMap(sourcesOf)]);
  const feeds = allFeeds.map((ups, no) =>
    ups.filter((up) => tasks[up]!.addedBy === undefined || tasks[no]!.addedBy !== undefined),
  );
  const closure = (direct: readonly (readonly number[])[], no: number): Set<number> =>
    new Set(direct[no]!.flatMap((up) => [up, ...closure(direct, up)]));
  const aboveInDag = tasks.map((_, no) => closure(feeds, no));
  const above = tasks.map((_, no) => closure(allFeeds, no));
  const isAround = (no: number, up: number) => chains[up]!.every((group, depth) => chains[no]![depth] === group);
  return {
    ...{ chains, feeds, aboveInDag },
    nodes: tasks.map((_, no) => ({ no, path: NO_PATH })),
    hasMaps: chains.some(({ length }) => length > 0),
    closers: above.map((ups, no) => [...ups].filter((up) => tasks[up]!.shortCircuit === 'all' && isAround(no, up))),
    choosers: tasks.map(({ needs }, no) =>
      needs.filter((up) => (tasks[up]!.branch || tasks[up]!.shortCircuit) && isAround(no, up)),
    ),
    befores: tasks.flatMap(({ hook }, no) => (hook?.on === 'before' ? [no] : [])),
    guardedBy: tasks.map((_, no) =>
      [...aboveInDag[no]!].filter((up) =>
        tasks.some(({ teardown, needs }) => teardown?.includes(up) && needs.includes(no)),
      ),
    ),
  };
}

/** The same with maps: all are expanded at once, and each task and instance is looked at until nothing changes. */
export function naiveNodes(
  spec: DagSpec,
  ended: ReadonlyMap<string, NaiveEnd>,
  params: unknown = null,
): ReadonlyMap<string, string> {
  const { tasks, groups = [], maxMapSize = 10_000 } = spec;
  const states = new Map<string, string>([...ended].map(([name, { state }]) => [name, state]));
  /** How many instances a map has in an instance of what is around it. */
  const sizes = new Map<string, number>();

  const shape = shapeOf(spec);
  const { chains, aboveInDag, feeds, befores, guardedBy } = shape;
  const stateOf = ({ no, path }: Node) => states.get(naiveName(no, path)) ?? 'blocked';
  const outputOf = ({ no, path }: Node) => ended.get(naiveName(no, path))?.output;
  const sizeIn = (group: number | undefined, path: readonly number[]) =>
    group === undefined ? undefined : sizes.get(naiveName(group, path));

  /** The state of a task in a scope: its own, or that of its instances. */
  function leaves(node: Node): Node[] {
    if (!shape.hasMaps) return [node];
    const size = sizeIn(chains[node.no]![node.path.length], node.path);
    if (size === undefined) return [node];
    return Array.from({ length: size }, (_, i) => leaves({ no: node.no, path: [...node.path, i] })).flat();
  }

  /** Another task as this one sees it: in the innermost scope around both. */
  function near(node: Node, no: number): Node {
    if (node.path.length === 0) return shape.nodes[no]!;
    const [ours, theirs] = [chains[node.no]!.slice(0, node.path.length), chains[no]!];
    let depth = 0;
    while (depth < ours.length && ours[depth] === theirs[depth]) depth += 1;
    return { no, path: node.path.slice(0, depth) };
  }

  const stops = (node: Node) =>
    tasks[node.no]!.shortCircuit !== undefined &&
    ended.get(naiveName(node.no, node.path))?.state === 'succeeded' &&
    isEmpty(outputOf(node));

  function edge(up: Node, no: number): string {
    // Cancelled by itself, it counts as failed.
    const state = stateOf(up) === 'cancelled' ? 'failed' : stateOf(up);
    if (state !== 'succeeded') {
      const isBad = state === 'failed' || state === 'upstream_failed';
      if (!isBad || spec.onFailure !== 'skip_failed') return state;
      const { rule = 'all_success' } = tasks[no]!;
      if (rule === 'all_success') return 'succeeded';
      return rule.startsWith('none_failed') ? 'skipped' : state;
    }
    if (stops(up)) return 'skipped';
    if (!tasks[up.no]!.branch || !ended.has(naiveName(up.no, up.path))) return 'succeeded';
    const chosen = ([] as unknown[]).concat(outputOf(up) ?? []);
    const arms = tasks.flatMap((task, arm) => (task.needs.includes(up.no) && chosen.includes(task.name) ? [arm] : []));
    return arms.some((arm) => arm === no || aboveInDag[no]!.has(arm)) ? 'succeeded' : 'skipped';
  }

  /** Of the map that a placeholder waits for: its size, or what becomes of its tasks, or that there is no telling yet. */
  function resolve(node: Node, group: number): number | string {
    const { over, mode } = groups[group]!.map!;
    const found = over.map((source): number | string => {
      if (source.from === 'list') return source.length;
      const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 'fault');
      if (source.from === 'params') return lengthOf(at(params, spec.paramFacts![source.fact]!));
      const up = near(node, source.task);
      const all = leaves(up);
      const ends = all.map(stateOf);
      // Cancelled by itself, it gives no list, as one that failed.
      if (ends.some((state) => ['failed', 'upstream_failed', 'cancelled'].includes(state))) return 'upstream_failed';
      if (!ends.every(isOver)) return 'blocked';
      if (ends.includes('skipped')) return 'skipped';
      const path = tasks[source.task]!.facts![source.fact]!;
      const isMapped = chains[source.task]!.length > up.path.length;
      if (isMapped) {
        const isEmptyMap = sizeIn(chains[source.task]![up.path.length], up.path) === undefined;
        return isEmptyMap ? 0 : path.length === 0 ? all.length : 'fault';
      }
      return stops(up) ? 'skipped' : lengthOf(at(outputOf(up), path));
    });
    for (const verdict of ['upstream_failed', 'blocked', 'skipped', 'fault'])
      if (found.includes(verdict)) return verdict;
    const lengths = found as number[];
    if (mode === 'zip' && new Set(lengths).size > 1) return 'fault';
    const size = mode === 'zip' ? lengths[0]! : lengths.reduce((product, length) => product * length, 1);
    return size > maxMapSize ? 'fault' : size;
  }

  let askedFor: number | null = null;

  function decide(node: Node): string {
    if (tasks[node.no]!.outside) return 'skipped';
    const group = chains[node.no]![node.path.length];
    if (group === undefined) return decideByRule(node);
    const found = resolve(node, group);
    if (typeof found === 'number' && found > 0) {
      sizes.set(naiveName(group, node.path), found);
      return 'expanded';
    }
    if (typeof found === 'string' && found !== 'fault') return found;
    // What closes a run has nothing to do without an item; what stands before a task goes with it.
    const { teardown, undoes, hook } = tasks[node.no]!;
    if (teardown !== undefined || undoes !== undefined || (hook !== undefined && hook.on !== 'before'))
      return 'skipped';
    if (hook?.of != null) return isOver(stateOf(near(node, hook.of))) ? 'skipped' : 'blocked';
    const verdict = decideByRule(node);
    return verdict !== 'ready' ? verdict : found === 'fault' ? 'failed' : 'succeeded';
  }

  function decideByRule(node: Node): string {
    const { needs, rule = 'all_success', when, hook } = tasks[node.no]!;
    if (hook?.on === 'before' && hook.of !== null) return decideBefore(node, hook.of);
    const closers = shape.closers[node.no]!;
    if (closers.some((up) => stops(near(node, up)))) return 'skipped';
    if (closers.some((up) => !isOver(stateOf(near(node, up))))) return 'blocked';
    const chosen = shape.choosers[node.no]!.map((up) => near(node, up));
    if (chosen.some((up) => stateOf(up) === 'succeeded' && edge(up, node.no) === 'skipped')) return 'skipped';
    if (chosen.some((up) => !isOver(stateOf(up)))) return 'blocked';
    const ups = needs.flatMap((up) => leaves(near(node, up)));
    const edges = ups.map((up) => edge(up, node.no));
    const setupEdges = edges.filter((_, i) => tasks[ups[i]!.no]!.setup);
    const verdict = needs.length === 0 ? 'ready' : naiveRule(rule, edges, setupEdges);
    const held = verdict === 'ready' ? heldBack(node) : verdict;
    const found = held === 'ready' && when !== undefined ? condition(when.expression, node) : held;
    return found === 'ready' ? passBefores(node, askedFor) : found;
  }

  /** By the setups whose teardown waits for this task, and which it comes behind. */
  function heldBack(node: Node): string {
    if (guardedBy[node.no]!.length === 0 || tasks[node.no]!.rule === 'always') return 'ready';
    const ends = guardedBy[node.no]!.map((setup): string => {
      const state = stateSeen(near(node, setup));
      const isBad = ['failed', 'upstream_failed', 'cancelled'].includes(state);
      const carries = (rules: readonly string[]) => isCarried(node.no, setup, rules);
      if (isBad && spec.onFailure !== 'skip_failed' && carries(NO_FAILURE)) return 'upstream_failed';
      if (!isOver(state)) return 'blocked';
      return state === 'skipped' && carries(['all_success']) ? 'skipped' : 'ready';
    });
    return ['upstream_failed', 'blocked', 'skipped'].find((end) => ends.includes(end)) ?? 'ready';
  }

  /** The task, and each on some way up to the setup, has one of these rules. */
  function isCarried(no: number, setup: number, rules: readonly string[]): boolean {
    const { rule = 'all_success' } = tasks[no]!;
    if (!rules.includes(rule)) return false;
    return feeds[no]!.some((up) => up === setup || isCarried(up, setup, rules));
  }

  /** What a task shows, of a mapped one what its instances come to. */
  function stateSeen(node: Node): string {
    const size = sizeIn(chains[node.no]![node.path.length], node.path);
    if (size === undefined) return stateOf(node);
    return summary(leaves(node).map((leaf) => (stateOf(leaf) === 'cancelled' ? 'failed' : stateOf(leaf))));
  }

  /** The hooks that must have run before a task, that of the run first; a hook itself has those that come before it. */
  function passBefores(node: Node, until: number | null): string {
    const { needs, rule, hook } = tasks[node.no]!;
    if (hook !== undefined) return 'ready';
    const isFirst = needs.length === 0 || rule === 'always';
    const isOwn = (no: number) => tasks[no]!.hook!.of === node.no;
    const ofRun = befores.filter((no) => isFirst && tasks[no]!.hook!.of === null);
    for (const no of befores.length === 0 ? [] : [...ofRun, ...befores.filter(isOwn)]) {
      if (no === until) return 'ready';
      const before = near(node, no);
      if (before.path.length < chains[no]!.length) continue;
      const state = stateOf(before);
      if (state === 'failed' || state === 'cancelled') return 'upstream_failed';
      if (state !== 'succeeded' && state !== 'skipped') return 'blocked';
    }
    return 'ready';
  }

  /** A hook before a task begins when all else lets the task run. */
  function decideBefore(node: Node, of: number): string {
    const task = near(node, of);
    if (isOver(stateOf(task))) return 'skipped';
    if (stateOf(task) === 'open') return 'blocked';
    askedFor = node.no;
    const found = decideByRule(task);
    askedFor = null;
    return found === 'ready' ? 'ready' : 'blocked';
  }

  /** As far as the tests go. */
  function condition(expression: Expression, node: Node): string {
    if (expression.op !== 'lt' && expression.op !== 'ne' && expression.op !== 'eq')
      throw new Error('a condition that tests do not have');
    const values: unknown[] = [];
    for (const side of [expression.left, expression.right]) {
      if (side.op === 'value') values.push(side.value);
      else if (side.op === 'task') {
        const up = near(node, side.task);
        if (!leaves(up).every((leaf) => isOver(stateOf(leaf)))) return 'blocked';
        const output = stateOf(up) === 'succeeded' ? outputOf(up) : null;
        values.push(at(output, tasks[side.task]!.facts![side.fact]!));
      } else if (side.op === 'error') {
        const up = near(node, side.task);
        if (side.of !== 'class') throw new Error('a condition that tests do not have');
        if (!leaves(up).every((leaf) => isOver(stateOf(leaf)))) return 'blocked';
        const end = ended.get(naiveName(up.no, up.path));
        values.push(end?.state === 'cancelled' ? 'cancelled' : end?.state === 'failed' ? (end.failedAs ?? null) : null);
      } else if (side.op === 'params') values.push(at(params, spec.paramFacts![side.fact]!));
    }
    const [a, b] = values;
    if (expression.op === 'ne') return a === b ? 'skipped' : 'ready';
    if (expression.op === 'eq') return a === b ? 'ready' : 'skipped';
    return typeof a !== 'number' || typeof b !== 'number' ? 'failed' : a < b ? 'ready' : 'skipped';
  }

  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const leaf of shape.hasMaps ? shape.nodes.flatMap(leaves) : shape.nodes) {
      if (stateOf(leaf) !== 'blocked') continue;
      const state = decide(leaf);
      if (state === 'blocked') continue;
      // One that has expanded is looked at in its instances from now on.
      if (state !== 'expanded') states.set(naiveName(leaf.no, leaf.path), state);
      isChanged = true;
    }
  }
  return summed();

  /** With what each placeholder shows of its instances. */
  function summed(): Map<string, string> {
    const all = new Map<string, string>();
    const visit = (node: Node): void => {
      const size = sizeIn(chains[node.no]![node.path.length], node.path);
      all.set(naiveName(node.no, node.path), stateSeen(node));
      for (let i = 0; i < (size ?? 0); i++) visit({ no: node.no, path: [...node.path, i] });
    };
    for (const node of shape.nodes) visit(node);
    return all;
  }
}

const NO_FAILURE = ['all_success', 'none_failed', 'none_failed_min_one_success'];

function summary(states: readonly string[]): string {
  if (!states.every(isOver)) return 'expanded';
  for (const bad of ['failed', 'upstream_failed']) if (states.includes(bad)) return bad;
  return states.every((state) => state === 'skipped') ? 'skipped' : 'succeeded';
}

function naiveRule(rule: TriggerRule, edges: readonly string[], setupEdges: readonly string[]): string {
  const has = (...wanted: string[]) => edges.some((state) => wanted.includes(state));
  const isDone = edges.every(isOver);
  const bad = has('failed', 'upstream_failed');
  const otherwise = bad ? 'upstream_failed' : 'skipped';
  const done = (holds: boolean, or: string) => (isDone ? (holds ? 'ready' : or) : 'blocked');
  switch (rule) {
    case 'all_success':
      return bad ? 'upstream_failed' : done(!has('skipped'), 'skipped');
    case 'all_failed':
      return has('succeeded', 'skipped') ? 'skipped' : done(true, '');
    case 'all_done':
      return done(true, '');
    case 'all_done_min_one_success':
      return done(has('succeeded'), otherwise);
    case 'all_done_setup_success': {
      const setups = setupEdges;
      if (setups.length === 0 || !setups.every(isOver) || setups.includes('succeeded')) return done(true, '');
      return setups.every((state) => state === 'skipped') ? 'skipped' : 'upstream_failed';
    }
    case 'one_success':
      return has('succeeded') ? 'ready' : done(false, otherwise);
    case 'one_failed':
      return bad ? 'ready' : done(false, 'skipped');
    case 'one_done':
      return has('succeeded', 'failed') ? 'ready' : done(false, 'skipped');
    case 'none_failed':
      return bad ? 'upstream_failed' : done(true, '');
    case 'none_failed_min_one_success':
      return bad ? 'upstream_failed' : done(has('succeeded'), 'skipped');
    case 'none_skipped':
      return has('skipped') ? 'skipped' : done(true, '');
    case 'all_skipped':
      return has('succeeded', 'failed', 'upstream_failed') ? 'skipped' : done(true, '');
    case 'always':
      return 'ready';
  }
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) === (typeof step === 'string')) return null;
    found = (found as Record<string | number, unknown>)[step] ?? null;
  }
  return found ?? null;
}
