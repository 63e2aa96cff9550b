/** Why tasks never ran, as sentences: the rule, condition, branch or short circuit. For readers. */

import type { Graph } from '../model/dag/graph.ts';
import { isTruthy } from '../model/task/fact.ts';
import { IS_FAILURE, SKIPPED, SUCCEEDED, UPSTREAM_FAILED } from '../model/task/task-states.ts';
import { TRIGGER_RULES } from '../model/task/trigger.ts';
import { FIRST_SLOT, slotAt } from '../tables/task/task-table.ts';
import { type DerivableRun, type DerivableTask, type DerivedTasks, deriveTasks } from './derive.ts';
import { evaluateIn, letsPass } from './ordinary-verdict.ts';

/** By number, for those that were skipped or could not run and have no row. `names` are those of the tasks of the spec. */
export function deriveReasons(
  graph: Graph,
  rows: readonly DerivableTask[],
  run: DerivableRun,
  names: readonly string[],
): ReadonlyMap<number, string> {
  const reasons = new Map<number, string>();
  const own = new Set<number>(rows.filter(({ state }) => state !== 'cleared').map(({ taskNo }) => taskNo));
  const derived = deriveTasks(graph, rows, run);
  for (let no = 0; no < graph.taskCount; no++) {
    const code = derived.columns.state[slotAt(FIRST_SLOT, no)];
    if (own.has(no) || (code !== SKIPPED && code !== UPSTREAM_FAILED)) continue;
    reasons.set(no, reasonOf({ graph, names, derived }, no));
  }
  return reasons;
}

interface Look {
  readonly graph: Graph;
  readonly names: readonly string[];
  readonly derived: DerivedTasks;
}

function reasonOf({ graph, names, derived }: Look, no: number): string {
  const { columns, facts } = derived;
  const stateOf = (task: number) => columns.state[slotAt(FIRST_SLOT, task)]!;
  if (graph.isOutside?.[no] === 1) return `The run stops at ${graph.until}, which does not depend on this task.`;
  const rule = TRIGGER_RULES[graph.rule[no]!]!;
  const listed = (list: readonly number[]) =>
    list
      .slice(0, 5)
      .map((up) => names[up])
      .join(', ');
  const needs = graph.needs[no]!;
  if (stateOf(no) === UPSTREAM_FAILED) {
    const bad = needs.filter((up) => IS_FAILURE[stateOf(up)] === 1);
    return `Its rule is ${rule}, and these tasks did not succeed: ${listed(bad)}.`;
  }
  const gate = (graph.gates[no] ?? []).find((up) => stateOf(up) === SUCCEEDED && facts?.stops(up) === true);
  const closed = gate ?? needs.find((up) => stateOf(up) === SUCCEEDED && facts?.stops(up) === true);
  if (closed !== undefined) return `The short circuit ${names[closed]} stopped the tasks after it.`;
  const branch = needs.find((up) => stateOf(up) === SUCCEEDED && !letsPass({ graph, ...derived }, up, no));
  if (branch !== undefined) return `The branch ${names[branch]} chose another task.`;
  const condition = graph.conditions[no];
  const found = condition == null ? null : evaluateIn({ graph, base: FIRST_SLOT, ...derived }, no, condition);
  const skipped = needs.filter((up) => stateOf(up) === SKIPPED);
  if (found?.ok === true && !isTruthy(found.fact) && (skipped.length === 0 || !rule.startsWith('all_success'))) {
    return `Its condition is false: ${condition!.text}`;
  }
  return skipped.length > 0 ? `Its rule is ${rule}, and ${listed(skipped)} was skipped.` : `Its rule is ${rule}.`;
}
