/** The edges of a dag as flat arrays, so that the end of a task costs its out-degree and nothing is ever rescanned. */
import { TRIGGER_RULES } from '../task/trigger.ts';
import { tasksIn } from './expression.ts';
import type { Condition, DagSpec, TaskSpec } from './spec.ts';

type GraphTask = Pick<TaskSpec, 'needs'> &
  Partial<Pick<TaskSpec, 'rule' | 'when' | 'branch' | 'shortCircuit' | 'setup' | 'facts'>>;

export interface GraphSpec extends Pick<DagSpec, 'onFailure'> {
  readonly tasks: readonly GraphTask[];
}

/** A condition, and the tasks that must have ended before it is looked at. */
export interface TaskCondition extends Condition {
  readonly tasks: readonly number[];
}

export class Graph {
  readonly taskCount: number;
  /** Downstream tasks of task t are `downstream[downstreamStart[t] … downstreamStart[t+1])`. */
  readonly downstreamStart: Int32Array;
  readonly downstream: Int32Array;
  /** How many upstream tasks each task waits for at the start. */
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
  /** What lies behind such a short circuit. */
  readonly behind: ReadonlyMap<number, readonly number[]>;
  /** 1 for a task whose output tells which of its edges count. */
  readonly isChooser: Uint8Array;
  /** 1 for a task of whose output something is kept. */
  readonly givesFacts: Uint8Array;
  /** All rules are `all_success`, and nothing else can keep a task from running once those before it have succeeded. */
  readonly isPlain: boolean;
  readonly isFailFast: boolean;
  readonly skipsFailed: boolean;

  constructor({ tasks, onFailure = 'continue' }: GraphSpec) {
    const count = tasks.length;
    this.taskCount = count;
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
    const isRoot = (task: GraphTask) => task.needs.length === 0 || task.rule === 'always';
    this.roots = Int32Array.from(tasks.flatMap((task, no) => (isRoot(task) ? [no] : [])));
    this.isChooser = Uint8Array.from(tasks, (task) => (task.branch || task.shortCircuit !== undefined ? 1 : 0));
    this.givesFacts = Uint8Array.from(tasks, ({ facts }, no) => (facts !== undefined ? 1 : this.isChooser[no]!));
    this.isFailFast = onFailure === 'fail_fast';
    this.skipsFailed = onFailure === 'skip_failed';
    this.isPlain =
      !this.skipsFailed &&
      tasks.every((task, no) => this.rule[no] === ALL_SUCCESS && task.when === undefined && this.isChooser[no] === 0);
    this.conditions = this.isPlain
      ? []
      : tasks.map(({ when }) => (when === undefined ? null : { ...when, tasks: [...tasksIn(when.expression)] }));
    this.setupNeeds = this.isPlain ? [] : tasks.map(({ needs }) => needs.filter((up) => tasks[up]!.setup === true));
    const closers = tasks.flatMap((task, no) => (task.shortCircuit === 'all' ? [no] : []));
    this.behind = new Map(closers.map((no) => [no, this.reach([no])]));
    const gates: number[][] = closers.length === 0 ? [] : tasks.map(() => []);
    for (const [no, below] of this.behind) for (const each of below) gates[each]!.push(no);
    this.gates = gates;
  }

  /** All that lies behind these tasks, without themselves. */
  reach(from: readonly number[]): number[] {
    const [seen, stack] = [new Set<number>(), [...from]];
    for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
      for (let i = this.downstreamStart[no]!; i < this.downstreamStart[no + 1]!; i++) {
        const below = this.downstream[i]!;
        if (seen.has(below)) continue;
        seen.add(below);
        stack.push(below);
      }
    }
    return [...seen];
  }

  below(no: number): Int32Array {
    return this.downstream.subarray(this.downstreamStart[no], this.downstreamStart[no + 1]);
  }

  /** Whether the run fails with this task: any of its leaves decides, or any task where the policy says so (I33). */
  decidesRun(no: number): boolean {
    return this.isFailFast || this.skipsFailed || this.downstreamStart[no] === this.downstreamStart[no + 1];
  }
}

export const ALL_SUCCESS = TRIGGER_RULES.indexOf('all_success');
