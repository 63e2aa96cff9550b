/** The edges of a dag as flat arrays, so that the end of a task costs its out-degree and nothing is ever rescanned. */

import { MapShape } from '../map/shape.ts';
import { TRIGGER_RULES } from '../task/trigger.ts';
import { roomOf } from './added.ts';
import { choosersOf, isChooser, joinsOf } from './choosers.ts';
import { ClosingPlan, closingKind } from './closing-plan.ts';
import { tasksIn } from './expression.ts';
import { type SetupHold, setupHolds } from './setup-holds.ts';
import type { Condition, DagSpec, Path, TaskSpec } from './spec.ts';

type GraphTask = Pick<TaskSpec, 'needs'> &
  Partial<
    Pick<
      TaskSpec,
      | 'rule'
      | 'when'
      | 'branch'
      | 'shortCircuit'
      | 'setup'
      | 'facts'
      | 'teardown'
      | 'undoes'
      | 'hook'
      | 'child'
      | 'group'
      | 'addedBy'
      | 'outside'
      | 'tellsError'
    >
  >;

interface GraphSpec
  extends Pick<
    DagSpec,
    'onFailure' | 'groups' | 'maxMapSize' | 'templates' | 'maxAddedTasks' | 'addedCount' | 'until'
  > {
  readonly tasks: readonly GraphTask[];
}

/** A condition, and the tasks that must have ended before it is looked at. */
interface TaskCondition extends Condition {
  readonly tasks: readonly number[];
}

export class Graph {
  readonly taskCount: number;
  /** The same and what is kept for tasks that may be added: numbers of instances of maps begin here. */
  readonly room: number;
  /** Downstream tasks of task t are `downstream[downstreamStart[t] … downstreamStart[t+1])`. */
  readonly downstreamStart: Int32Array;
  readonly downstream: Int32Array;
  /** How many tasks each task waits for at the start: those upstream, or what a closing task awaits. */
  readonly upstreamCount: Int32Array;
  /** Tasks that are decided at the start: nothing is upstream of them, or their rule does not ask for it. */
  readonly roots: Int32Array;
  /** Index in TRIGGER_RULES. */
  readonly rule: Uint8Array;
  readonly needs: readonly (readonly number[])[];
  readonly conditions: readonly (TaskCondition | null)[];
  /** Those of its needs that are setups. */
  readonly setupNeeds: readonly (readonly number[])[];
  /** Short circuits somewhere above that skip everything behind them: nothing is decided before they have ended. */
  readonly gates: readonly (readonly number[])[];
  /** What is decided, beside the downstream tasks, when a task has ended: all behind such a short circuit, a `before`, or a setup. */
  readonly behind: ReadonlyMap<number, readonly number[]>;
  /** 1 for a task whose output tells which of its edges count. */
  readonly isChooser: Uint8Array;
  /** The branches and short circuits that each task needs directly; empty where there are none. See `choosers.ts`. */
  readonly choosers: readonly (readonly number[])[];
  private readonly joins: ReadonlyMap<number, ReadonlyMap<number, readonly number[]>>;
  /** The setups that each task waits for beside its rule; empty where there are none. */
  readonly holds: readonly (readonly SetupHold[])[];
  /** 1 for a task of whose output something is kept. */
  readonly givesFacts: Uint8Array;
  /** 1 for a task that conditions ask why it failed; null where there is none. */
  readonly tellsError: Uint8Array | null;
  /** 1 for a task that runs another dag; null where there is none. */
  readonly isCall: Uint8Array | null;
  /** All rules are `all_success`, and nothing else can keep a task from running once those before it have succeeded. */
  readonly isPlain: boolean;
  readonly isFailFast: boolean;
  readonly skipsFailed: boolean;
  /** 1 for a task that is not part of a run up to a chosen task; null where all are. */
  readonly isOutside: Uint8Array | null;
  /** The chosen task or group of such a run. */
  readonly until: string | null;
  /** Null without teardowns, undos and hooks. */
  readonly closing: ClosingPlan | null;
  /** The hooks that must have succeeded before a task begins, that of the run first. */
  readonly befores: ReadonlyMap<number, readonly number[]>;
  /** The hook before the whole run; -1 without one. */
  readonly runBefore: number;
  private readonly all: readonly GraphTask[];
  private readonly beforeHooks: ReadonlySet<number>;
  /** Null without mapped groups. */
  readonly maps: MapShape | null;
  /** What of each task's output is kept. */
  readonly factPaths: readonly (readonly Path[] | undefined)[];

  constructor({ tasks: all, onFailure = 'continue', until, ...groups }: GraphSpec) {
    const count = all.length;
    this.maps = MapShape.of({ tasks: all, ...groups });
    this.factPaths = this.maps === null ? [] : all.map(({ facts }) => facts);
    this.taskCount = count;
    this.room = roomOf({ tasks: all, ...groups });
    this.all = all;
    this.until = until ?? null;
    this.isOutside = until === undefined ? null : Uint8Array.from(all, ({ outside }) => (outside ? 1 : 0));
    const tasks = all.map((task) => (closingKind(task) === null ? task : CLOSES));
    this.needs = tasks.map(({ needs }) => needs);
    this.upstreamCount = Int32Array.from(tasks, ({ needs }) => needs.length);
    this.downstreamStart = new Int32Array(count + 1);
    for (const { needs } of tasks) for (const up of needs) this.downstreamStart[up + 1]! += 1;
    for (let t = 0; t < count; t++) this.downstreamStart[t + 1]! += this.downstreamStart[t]!;
    this.downstream = new Int32Array(this.downstreamStart[count]!);
    const filled = this.downstreamStart.slice();
    tasks.forEach((task, no) => {
      for (const up of task.needs) this.downstream[filled[up]!++] = no;
    });
    this.rule = Uint8Array.from(tasks, ({ rule = 'all_success' }) => TRIGGER_RULES.indexOf(rule));
    const isRoot = (task: GraphTask) =>
      task !== CLOSES &&
      (task.needs.length === 0 || task.rule === 'always' || task.outside === true) &&
      (task.hook?.of ?? null) === null;
    this.roots = Int32Array.from(tasks.flatMap((task, no) => (isRoot(task) ? [no] : [])));
    this.closing = ClosingPlan.of(all, (no) => [...this.below(no), ...(this.maps?.fed.get(no) ?? [])]);
    for (const { no, awaits } of this.closing?.tasks ?? []) this.upstreamCount[no] = awaits.length;
    this.runBefore = tasks.findIndex(({ hook }) => hook?.on === 'before' && hook.of === null);
    this.befores = beforesIn(tasks, this.roots, this.runBefore);
    this.beforeHooks = new Set([...this.befores.values()].flat());
    this.isChooser = Uint8Array.from(tasks, (task) => (isChooser(task) ? 1 : 0));
    this.givesFacts = Uint8Array.from(tasks, ({ facts }, no) => (facts !== undefined ? 1 : this.isChooser[no]!));
    this.tellsError = all.some(({ tellsError }) => tellsError)
      ? Uint8Array.from(all, ({ tellsError }) => (tellsError ? 1 : 0))
      : null;
    this.isCall = all.some(({ child }) => child !== undefined)
      ? Uint8Array.from(all, ({ child }) => (child === undefined ? 0 : 1))
      : null;
    this.isFailFast = onFailure === 'fail_fast';
    this.skipsFailed = onFailure === 'skip_failed';
    this.isPlain =
      !this.skipsFailed &&
      this.closing === null &&
      this.befores.size === 0 &&
      this.maps === null &&
      this.isOutside === null &&
      groups.templates === undefined &&
      tasks.every((task, no) => this.rule[no] === ALL_SUCCESS && task.when === undefined && this.isChooser[no] === 0);
    this.conditions = this.isPlain
      ? []
      : tasks.map(({ when }) => (when === undefined ? null : { ...when, tasks: [...tasksIn(when.expression)] }));
    this.setupNeeds = this.isPlain ? [] : tasks.map(({ needs }) => needs.filter((up) => tasks[up]!.setup === true));
    const closers = tasks.flatMap((task, no) => (task.shortCircuit === 'all' ? [no] : []));
    // One in a mapped group closes what is behind it in its own instance: whoever looks from outside sees many of it.
    const isAround = (no: number, below: number) => this.maps?.isAround(no, below) !== false;
    this.choosers = choosersOf(tasks, isAround);
    const belowOf = (no: number) => [...this.below(no), ...(this.maps?.fed.get(no) ?? [])];
    this.joins = joinsOf(tasks, belowOf);
    this.holds = setupHolds(tasks, this.closing, belowOf);
    const behind = new Map(closers.map((no) => [no, this.reach([no]).filter((below) => isAround(no, below))]));
    const gates: number[][] = closers.length === 0 ? [] : tasks.map(() => []);
    for (const [no, below] of behind) for (const each of below) gates[each]!.push(no);
    this.gates = gates;
    for (const [no, befores] of this.befores) {
      for (const before of befores) behind.set(before, [...(behind.get(before) ?? []), no]);
    }
    this.holds.forEach((holds, no) => {
      for (const { setup } of holds) {
        const known = behind.get(setup);
        if (known === undefined) behind.set(setup, [no]);
        else known.push(no);
      }
    });
    this.behind = behind;
  }

  /** Whether a branch that chose these tasks lets this one pass, which needs it directly. */
  isChosen(branch: number, chosen: ReadonlySet<number>, below: number): boolean {
    if (chosen.has(below)) return true;
    return (
      this.joins
        .get(branch)
        ?.get(below)
        ?.some((arm) => chosen.has(arm)) === true
    );
  }

  /** All that lies behind these tasks, without themselves. */
  reach(from: readonly number[]): number[] {
    const [seen, stack] = [new Set<number>(), [...from]];
    const see = (below: number) => {
      if (seen.has(below)) return;
      seen.add(below);
      stack.push(below);
    };
    for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
      for (let i = this.downstreamStart[no]!; i < this.downstreamStart[no + 1]!; i++) see(this.downstream[i]!);
      for (const below of this.maps?.fed.get(no) ?? []) see(below);
    }
    return [...seen];
  }

  /** These, all behind them, and the hooks that stand before any of those: what is decided anew when these are. */
  touchedBy(tasks: readonly number[]): number[] {
    const from = tasks.flatMap((no) => (this.isBefore(no) ? [no, ...this.behind.get(no)!] : [no]));
    const all = new Set([...from, ...this.reach(from)]);
    for (const [no, befores] of this.befores) if (all.has(no)) for (const before of befores) all.add(before);
    return [...all];
  }

  /** The tasks whose outputs a task may see: what it needs; an undo or a hook what the one that it belongs to sees, and that one. */
  seenBy(no: number): readonly number[] {
    const { needs, undoes, hook } = this.all[no]!;
    const of = undoes ?? hook?.of ?? null;
    return of === null ? needs : [of, ...this.needs[of]!];
  }

  /** Whether it is a hook that another task, or all of the run, waits for. */
  isBefore(no: number): boolean {
    return this.beforeHooks.has(no);
  }

  below(no: number): Int32Array {
    return this.downstream.subarray(this.downstreamStart[no], this.downstreamStart[no + 1]);
  }

  /**
   * Whether the run fails with this task: any of its leaves decides, or any task where the policy says so. Never one that
   * closes it, nor a `before`: what that stands before does (I33).
   */
  decidesRun(no: number): boolean {
    if (this.closing?.has(no) === true || this.isBefore(no)) return false;
    if (this.isFailFast || this.skipsFailed) return true;
    const isPart = (below: number) => this.isOutside?.[below] !== 1;
    return !this.below(no).some(isPart) && this.maps?.fed.get(no)?.some(isPart) !== true;
  }
}

/** In the place of a closing task, where only ordinary ones count. */
const CLOSES: GraphTask = { needs: [] };

function beforesIn(tasks: readonly GraphTask[], roots: Iterable<number>, ofRun: number): Map<number, number[]> {
  const befores = new Map<number, number[]>();
  if (ofRun >= 0) for (const root of roots) if (root !== ofRun) befores.set(root, [ofRun]);
  tasks.forEach(({ hook }, no) => {
    if (hook?.on !== 'before' || hook.of === null) return;
    befores.set(hook.of, [...(befores.get(hook.of) ?? []), no]);
  });
  return befores;
}

export const ALL_SUCCESS = TRIGGER_RULES.indexOf('all_success');
