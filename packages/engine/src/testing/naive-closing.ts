/**
 * Computes the states of the tasks that close a run in the simplest way: it looks at everything again and again until
 * nothing changes. Shares no code with the engine.
 */
import type { DagSpec } from '../model/dag/spec.ts';
import { naiveName } from './naive-states.ts';

interface Standing {
  readonly phase: 'open' | 'closing' | 'ended';
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | null;
  readonly isForced: boolean;
}

interface NaiveRun extends Standing {
  /** Tasks that had an attempt. The states of the others are computed. */
  readonly begun: ReadonlySet<number>;
  /** Those of them with an attempt that was not given back. */
  readonly tried: ReadonlySet<number>;
  /** How often that has happened which a hook for retries, or for slow ones, runs for; null for those of the run. */
  readonly times?: (on: 'retry' | 'slow', of: number | null) => number;
}

/** The same by names, `4` or `4[0][2]`: for runs with maps. */
interface NaiveMappedRun extends Standing {
  readonly begun: ReadonlySet<string>;
  readonly tried: ReadonlySet<string>;
  readonly times?: (on: 'retry' | 'slow', of: string | null) => number;
  /** Of a task in a map that has expanded: whether all its instances are there; null for one that has not expanded. */
  readonly isWhole: (name: string) => boolean | null;
}

const OPEN_STATES = ['blocked', 'ready', 'running', 'open', 'retrying', 'waiting', 'expanded'];
const isOver = (state: string | undefined) => state !== undefined && !OPEN_STATES.includes(state);

export function isClosing({ teardown, undoes, hook }: DagSpec['tasks'][number]): boolean {
  return teardown !== undefined || undoes !== undefined || (hook !== undefined && hook.on !== 'before');
}

/** The mapped groups around a task, the outermost first. */
export function naiveChain({ tasks, groups = [] }: DagSpec, no: number): number[] {
  const chain: number[] = [];
  for (let group = tasks[no]!.group ?? null; group !== null; group = groups[group]!.parent) {
    if (groups[group]!.map !== undefined) chain.unshift(group);
  }
  return chain;
}

interface Shape {
  /** The mapped groups around each task, the outermost first. */
  readonly chains: readonly (readonly number[])[];
  /** By what each undoes. */
  readonly undos: ReadonlyMap<number, number>;
}

/** A definition never changes. */
const shapes = new WeakMap<DagSpec, Shape>();

function shapeOf(spec: DagSpec): Shape {
  let shape = shapes.get(spec);
  if (shape === undefined) {
    shape = {
      chains: spec.tasks.map((_, no) => naiveChain(spec, no)),
      undos: new Map(spec.tasks.flatMap(({ undoes }, no) => (undoes === undefined ? [] : [[undoes, no] as const]))),
    };
    shapes.set(spec, shape);
  }
  return shape;
}

/** What is behind each task of a definition, which never changes. */
const behind = new WeakMap<DagSpec, Map<number, readonly number[]>>();

/** All that needs a task, or is mapped over what it returns, directly or not, among the ordinary ones. */
export function allBehind(spec: DagSpec, no: number): readonly number[] {
  const known = behind.get(spec) ?? new Map<number, readonly number[]>();
  behind.set(spec, known);
  const found = known.get(no) ?? findBehind(spec, no);
  known.set(no, found);
  return found;
}

function findBehind(spec: DagSpec, no: number): readonly number[] {
  const isFed = (down: number) =>
    naiveChain(spec, down).some((group) =>
      spec.groups![group]!.map!.over.some((source) => source.from === 'task' && source.task === no),
    );
  const next = spec.tasks.flatMap((task, down) =>
    !isClosing(task) && (task.needs.includes(no) || isFed(down)) ? [down] : [],
  );
  return [...new Set(next.flatMap((down) => [down, ...allBehind(spec, down)]))];
}

/** The states of all tasks, given those of the ordinary ones (`stopped`: cancelled by itself) and of what has begun. */
export function naiveClosing(spec: DagSpec, known: readonly string[], run: NaiveRun): string[] {
  const { times, phase, outcome, isForced } = run;
  const named = new Map(known.map((state, no) => [naiveName(no), state]));
  const states = naiveClosingNodes(spec, named, {
    ...{ phase, outcome, isForced },
    begun: new Set([...run.begun].map((no) => naiveName(no))),
    tried: new Set([...run.tried].map((no) => naiveName(no))),
    isWhole: () => null,
    ...(times === undefined ? {} : { times: (on, of) => times(on, of === null ? null : Number(of)) }),
  });
  return known.map((_, no) => states.get(naiveName(no))!);
}

interface Node {
  readonly no: number;
  readonly path: readonly number[];
}

/** The same with maps: what was made of each is among the known, by its name. */
export function naiveClosingNodes(
  spec: DagSpec,
  known: ReadonlyMap<string, string>,
  run: NaiveMappedRun,
): ReadonlyMap<string, string> {
  const { tasks } = spec;
  const { chains, undos } = shapeOf(spec);
  const nodes = [...known.keys()].map((name): Node => {
    if (!name.includes('[')) return { no: Number(name), path: [] };
    const [no = 0, ...path] = name.split('[').map((part) => Number.parseInt(part, 10));
    return { no, path };
  });
  const nameOf = ({ no, path }: Node) => naiveName(no, path);
  const closers = nodes.filter(({ no }) => isClosing(tasks[no]!));
  const isPlaceholder = ({ no, path }: Node) => path.length < chains[no]!.length;
  const isGrown = (node: Node) => isPlaceholder(node) && run.isWhole(nameOf(node)) !== null;
  const isBegun = (node: Node) => run.begun.has(nameOf(node));
  const states = new Map(known);
  for (const node of closers) if (!isBegun(node)) states.set(nameOf(node), isGrown(node) ? 'expanded' : 'blocked');
  const undoOf = (no: number) => undos.get(no) ?? -1;
  const isBusy = nodes.some((node) => !isClosing(tasks[node.no]!) && !isOver(states.get(nameOf(node))));
  const hasOutcome = run.phase !== 'open';

  /** Another task as this one sees it: in the innermost instance around both. */
  function near(node: Node, no: number): Node {
    const [ours, theirs] = [chains[node.no]!.slice(0, node.path.length), chains[no]!];
    let depth = 0;
    while (depth < ours.length && ours[depth] === theirs[depth]) depth += 1;
    return { no, path: node.path.slice(0, depth) };
  }

  /** All that was made of it, in the end. */
  const leavesOf = (node: Node) =>
    nodes.filter(
      ({ no, path }) =>
        no === node.no && path.length === chains[no]!.length && node.path.every((i, d) => path[d] === i),
    );

  function decide(node: Node): string {
    if (run.isForced) return 'cancelled';
    if (tasks[node.no]!.outside) return 'skipped';
    const { teardown, undoes, hook, needs } = tasks[node.no]!;
    const stateOf = (no: number) => states.get(nameOf(near(node, no)))!;
    const over = (...of: number[]) => of.filter((up) => up >= 0).every((up) => isOver(stateOf(up)));
    // Without an item there is nothing to close; as long as there may be some it waits, and others wait by it.
    if (isPlaceholder(node)) {
      const behind = undoes === undefined ? [] : [undoes, ...allBehind(spec, undoes).map(undoOf)];
      const up = teardown !== undefined ? [...needs, ...needs.map(undoOf)] : behind;
      const awaits = hook === undefined ? up : [hook.of ?? -1];
      return (hasOutcome || known.get(nameOf(node)) !== 'blocked') && over(...awaits) ? 'skipped' : 'blocked';
    }
    if (teardown !== undefined) {
      if (!over(...needs, ...needs.map(undoOf))) return 'blocked';
      const hasMade = (up: number) => {
        const setup = near(node, up);
        const all = isGrown(setup) ? leavesOf(setup) : [setup];
        return all.some((each) => states.get(nameOf(each)) === 'succeeded');
      };
      return teardown.length === 0 || teardown.some(hasMade) ? 'ready' : 'skipped';
    }
    if (undoes !== undefined) {
      if (!hasOutcome || !over(undoes, ...allBehind(spec, undoes).map(undoOf))) return 'blocked';
      if (run.outcome === 'succeeded') return 'skipped';
      if (isBusy) return 'blocked';
      return stateOf(undoes) === 'succeeded' ? 'ready' : 'skipped';
    }
    const { on, of } = hook!;
    if (on === 'retry' || on === 'slow') {
      if ((run.times?.(on, of === null ? null : nameOf(near(node, of))) ?? 0) > 0) return 'ready';
      return (of === null ? hasOutcome : over(of)) ? 'skipped' : 'blocked';
    }
    if (of !== null) {
      if (!over(of)) return 'blocked';
      const was = stateOf(of);
      // What a person has cancelled by itself counts as failed, whether it had begun or not.
      const hasFailed = was === 'failed' || was === 'stopped';
      const holds = { success: was === 'succeeded', failure: hasFailed } as Record<string, boolean>;
      const wasStopped = was === 'cancelled' && run.tried.has(nameOf(near(node, of)));
      return (holds[on] ?? (was === 'succeeded' || hasFailed || wasStopped)) ? 'ready' : 'skipped';
    }
    if (!hasOutcome) return 'blocked';
    if (on !== 'after') return run.outcome === (on === 'success' ? 'succeeded' : 'failed') ? 'ready' : 'skipped';
    const others = tasks.flatMap((task, other) => (other !== node.no && isClosing(task) ? [other] : []));
    return isBusy || !over(...others) ? 'blocked' : 'ready';
  }

  /** What a mapped one shows of its instances. */
  function summary(node: Node): string {
    const isWithin = ({ no, path }: Node) =>
      no === node.no && path.length > node.path.length && node.path.every((i, depth) => path[depth] === i);
    const within = nodes.filter(isWithin);
    const all = within.map((each) => states.get(nameOf(each))!);
    const isPart = [node, ...within].some((each) => run.isWhole(nameOf(each)) === false);
    if (!all.every(isOver) || (!hasOutcome && isPart)) return 'expanded';
    if (run.isForced && (isPart || all.includes('cancelled'))) return 'cancelled';
    const ends = leavesOf(node).map((leaf) => states.get(nameOf(leaf))!);
    // One that somebody has cancelled counts as one that failed.
    if (ends.includes('failed') || ends.includes('stopped')) return 'failed';
    return ends.includes('succeeded') ? 'succeeded' : 'skipped';
  }

  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const node of closers) {
      const name = nameOf(node);
      const at = states.get(name)!;
      if (isBegun(node) || (at !== 'blocked' && at !== 'expanded')) continue;
      states.set(name, isGrown(node) ? summary(node) : decide(node));
      if (states.get(name) !== at) isChanged = true;
    }
  }
  return new Map([...states].map(([name, state]) => [name, state === 'stopped' ? 'cancelled' : state]));
}
