/**
 * What the end of a task means for those behind it: by counts, at the cost of its out-degree; nothing is rescanned (I30).
 * One function for the live engine, for loads and for readers, over columns of the task table or of a run that is derived.
 */
import { evaluate } from '../dag/expression.ts';
import { ALL_SUCCESS, type Graph } from '../dag/graph.ts';
import { decideClosingAnew, type Standing, settleClosing } from './closing.ts';
import { isTruthy, NOTHING, type RunFacts } from './facts.ts';
import {
  BLOCKED,
  CANCELLED,
  FAILED,
  READY,
  SKIPPED,
  SUCCEEDED,
  type TaskTable,
  UPSTREAM_FAILED,
} from './task-table.ts';
import { decideTrigger, FAIL, RUN, TRIGGER_RULES, type Upstream, WAIT } from './trigger.ts';

export type Columns = Pick<TaskTable, 'state' | 'unmet' | 'upFailed' | 'upUpstreamFailed' | 'upSkipped'>;

/** The tasks of one run. */
export interface Field {
  readonly graph: Graph;
  readonly columns: Columns;
  /** Where its first task is. */
  readonly base: number;
  readonly facts: RunFacts | undefined;
  /** Looked at by closing tasks alone. */
  readonly standing: Standing;
  /** Closing tasks are not told of ends: they are decided all at once, later. */
  readonly isQuiet?: true;
  /** Moves a task; the one that writes `state`. */
  readonly move: (slot: number, to: number) => void;
}

/** Decides those tasks that wait for nothing. */
export function settleRoots(field: Field): void {
  const { graph, columns, base } = field;
  for (let i = 0; i < graph.roots.length; i++) {
    const no = graph.roots[i]!;
    if (columns.state[base + no] === BLOCKED && decide(field, no)) settle(field, no);
  }
}

/** The task has ended: those behind it become ready, or will never run, and so on. */
export function settle(field: Field, from: number): void {
  const { graph, columns, base } = field;
  const stack = [from];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (let i = graph.downstreamStart[no]!; i < graph.downstreamStart[no + 1]!; i++) {
      const below = graph.downstream[i]!;
      count(field, no, below);
      if (columns.state[base + below] === BLOCKED && decide(field, below)) stack.push(below);
    }
    for (const below of graph.behind.get(no) ?? []) {
      if (columns.state[base + below] === BLOCKED && decide(field, below)) stack.push(below);
    }
    if (graph.closing !== null && field.isQuiet === undefined) settleClosing(field, no);
  }
}

/**
 * These tasks are as if they had never run: they, and whatever behind them has no state of its own, are decided anew. The same
 * as what a load makes of the rows.
 */
export function decideAnew(field: Field, tasks: readonly number[], hasOwnState: (slot: number) => boolean): void {
  const { graph, columns, base, move } = field;
  const { closing } = graph;
  const ordinary = closing === null ? tasks : tasks.filter((no) => !closing.has(no));
  const touched = graph.touchedBy(ordinary);
  const open = touched.filter((no) => !hasOwnState(base + no));
  for (const no of open) if (columns.state[base + no] !== BLOCKED) move(base + no, BLOCKED);
  for (const no of touched) {
    resetCounts(columns, base + no, graph.upstreamCount[no]!);
    for (const up of graph.needs[no]!) if (columns.state[base + up]! >= SUCCEEDED) count(field, up, no);
  }
  const quiet: Field = { ...field, isQuiet: true };
  for (const no of open) if (columns.state[base + no] === BLOCKED && decide(quiet, no)) settle(quiet, no);
  if (closing === null) return;
  const closers = new Set([...tasks.filter((no) => closing.has(no)), ...closing.reach([...tasks, ...touched])]);
  decideClosingAnew(field, [...closers], hasOwnState);
}

export function resetCounts(columns: Columns, slot: number, upstreamCount: number): void {
  columns.unmet[slot] = upstreamCount;
  columns.upFailed[slot] = 0;
  columns.upUpstreamFailed[slot] = 0;
  columns.upSkipped[slot] = 0;
}

const [NONE_FAILED, NONE_FAILED_MIN_ONE] = [
  TRIGGER_RULES.indexOf('none_failed'),
  TRIGGER_RULES.indexOf('none_failed_min_one_success'),
];

/** Counts an edge, once, when the task above has ended. Behind a cancelled task nothing is decided any more. */
function count(field: Field, from: number, below: number): void {
  const { columns, base } = field;
  const slot = base + below;
  const as = countsAs(field, from, below);
  if (as === CANCELLED) return;
  columns.unmet[slot]! -= 1;
  if (as === FAILED) columns.upFailed[slot]! += 1;
  else if (as === UPSTREAM_FAILED) columns.upUpstreamFailed[slot]! += 1;
  else if (as === SKIPPED) columns.upSkipped[slot]! += 1;
}

function countsAs({ graph, columns, base, facts }: Field, from: number, below: number): number {
  const code = columns.state[base + from]!;
  if (code === SUCCEEDED) {
    return graph.isChooser[from] === 1 && facts?.letsPass(from, below) === false ? SKIPPED : SUCCEEDED;
  }
  if (!graph.skipsFailed || (code !== FAILED && code !== UPSTREAM_FAILED)) return code;
  // What asks that nothing has failed goes on without it; what asks for a failure still finds it.
  const rule = graph.rule[below];
  if (rule === ALL_SUCCESS) return SUCCEEDED;
  return rule === NONE_FAILED || rule === NONE_FAILED_MIN_ONE ? SKIPPED : code;
}

/** Decides a task that is blocked, if that can be told. True when it has ended with it. */
function decide(field: Field, no: number): boolean {
  const { columns, base, move } = field;
  const to = verdictOn(field, no);
  if (to === BLOCKED) return false;
  move(base + no, to);
  if (to < SUCCEEDED) return false;
  for (const before of field.graph.befores.get(no) ?? []) {
    // What stood before this one alone is not needed any more; the run's own is of use to others.
    if (columns.state[base + before] === BLOCKED) move(base + before, SKIPPED);
  }
  return true;
}

function verdictOn(field: Field, no: number): number {
  const { graph, columns, base } = field;
  const slot = base + no;
  // Begun by what it stands before.
  if (graph.isBefore(no) && no !== graph.runBefore) return BLOCKED;
  if (graph.isPlain) {
    if (columns.upFailed[slot]! + columns.upUpstreamFailed[slot]! > 0) return UPSTREAM_FAILED;
    return columns.unmet[slot] === 0 ? READY : BLOCKED;
  }
  const gates = graph.gates[no] ?? [];
  for (const gate of gates) if (isShut(field, gate)) return SKIPPED;
  for (const gate of gates) if (!hasEnded(columns.state[base + gate]!)) return BLOCKED;
  const verdict = decideTrigger(TRIGGER_RULES[graph.rule[no]!]!, upstreamOf(field, no));
  if (verdict === WAIT) return BLOCKED;
  if (verdict !== RUN) return verdict === FAIL ? UPSTREAM_FAILED : SKIPPED;
  const condition = graph.conditions[no];
  const to = condition == null ? READY : look(field, condition);
  return to === READY && graph.befores.size > 0 ? passBefores(field, no) : to;
}

/** All else lets the task run: its hooks before it are begun, one after the other, and must succeed. */
function passBefores({ graph, columns, base, move }: Field, no: number): number {
  for (const before of graph.befores.get(no) ?? []) {
    const code = columns.state[base + before]!;
    if (code === SUCCEEDED) continue;
    if (code === FAILED) return UPSTREAM_FAILED;
    if (code === BLOCKED) move(base + before, READY);
    return BLOCKED;
  }
  return READY;
}

/** A cancelled task has not: it was stopped when its run was closed, and decides nothing any more. */
function hasEnded(code: number): boolean {
  return code >= SUCCEEDED && code !== CANCELLED;
}

function isShut({ columns, base, facts }: Field, gate: number): boolean {
  return columns.state[base + gate] === SUCCEEDED && facts?.stops(gate) === true;
}

function upstreamOf(field: Field, no: number): Upstream {
  const { graph, columns, base } = field;
  const slot = base + no;
  const [total, open] = [graph.upstreamCount[no]!, columns.unmet[slot]!];
  const [failed, upstreamFailed] = [columns.upFailed[slot]!, columns.upUpstreamFailed[slot]!];
  const skipped = columns.upSkipped[slot]!;
  const succeeded = total - open - failed - upstreamFailed - skipped;
  const setups = { total: 0, open: 0, succeeded: 0, skipped: 0 };
  for (const up of graph.setupNeeds[no] ?? []) {
    setups.total += 1;
    const as = hasEnded(columns.state[base + up]!) ? countsAs(field, up, no) : BLOCKED;
    if (as === BLOCKED) setups.open += 1;
    else if (as === SUCCEEDED) setups.succeeded += 1;
    else if (as === SKIPPED) setups.skipped += 1;
  }
  return { total, open, succeeded, failed, upstreamFailed, skipped, setups };
}

type Look = Pick<Field, 'columns' | 'base' | 'facts'>;

/** What a condition looks at must have ended, however early the rule was decided: else the order would tell (I31). */
function look(field: Look, condition: NonNullable<Graph['conditions'][number]>): number {
  for (const up of condition.tasks) if (!hasEnded(field.columns.state[field.base + up]!)) return BLOCKED;
  const found = evaluateIn(field, condition);
  if (!found.ok) return FAILED;
  return isTruthy(found.fact) ? READY : SKIPPED;
}

function evaluateIn({ columns, base, facts }: Look, { expression }: NonNullable<Graph['conditions'][number]>) {
  return evaluate(expression, {
    ofTask: (up, fact) => (columns.state[base + up] === SUCCEEDED ? (facts?.ofTask(up, fact) ?? NOTHING) : NOTHING),
    ofParams: (fact) => facts?.ofParams(fact) ?? NOTHING,
  });
}

/** Why a task failed that never had an attempt; null for any other. */
export function faultOf(field: Look & Pick<Field, 'graph'>, no: number): string | null {
  const condition = field.graph.conditions[no];
  if (condition == null || field.columns.state[field.base + no] !== FAILED) return null;
  const found = evaluateIn(field, condition);
  return found.ok ? null : `The condition ${condition.text} can't be answered: ${found.fault}.`;
}
