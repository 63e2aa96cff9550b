/**
 * What an ordinary task becomes, given the states of the tasks that it needs: its trigger rule, branches and short circuits,
 * setups, its condition, the items of its map. `BLOCKED`: nothing yet.
 */

import { evaluate } from '../model/dag/expression.ts';
import { ALL_SUCCESS, type Graph } from '../model/dag/graph.ts';
import { isTruthy, NOTHING } from '../model/task/fact.ts';
import type { TaskError } from '../model/task/facts.ts';
import {
  BLOCKED,
  COUNTS_AS,
  COUNTS_AS_FAILED,
  FAILED,
  IS_FAILURE,
  IS_GIVEN_UP,
  READY,
  SKIPPED,
  STOPPED,
  SUCCEEDED,
  UPSTREAM_FAILED,
} from '../model/task/task-states.ts';
import { decideTrigger, FAIL, RUN, TRIGGER_RULES, type Upstream, WAIT } from '../model/task/trigger.ts';
import { slotAt } from '../tables/task/task-table.ts';
import { resolveMap } from './map/resolve.ts';
import { openOf } from './map/tally.ts';
import { hasEnded, nearest, type RunTasksView, slotIn, specIn } from './run-tasks-view.ts';

const [NONE_FAILED, NONE_FAILED_MIN_ONE] = [
  TRIGGER_RULES.indexOf('none_failed'),
  TRIGGER_RULES.indexOf('none_failed_min_one_success'),
];

export function countsAs(view: RunTasksView, from: number, belowSpec: number): number {
  const { graph, columns } = view;
  const code = COUNTS_AS[columns.state[slotIn(view, from)]!]!;
  if (code === SUCCEEDED) return letsPass(view, from, belowSpec) ? SUCCEEDED : SKIPPED;
  if (!graph.skipsFailed || (IS_GIVEN_UP[code] === 0 && code !== UPSTREAM_FAILED)) return code;
  // What asks that nothing has failed goes on without it; what asks for a failure still finds it.
  const rule = graph.rule[belowSpec];
  if (rule === ALL_SUCCESS) return SUCCEEDED;
  return rule === NONE_FAILED || rule === NONE_FAILED_MIN_ONE ? SKIPPED : code;
}

/** Whether a task that succeeded lets this one pass, which needs it: any does but a branch that chose others, or a short circuit. */
export function letsPass(
  view: Pick<RunTasksView, 'graph' | 'maps' | 'facts'>,
  from: number,
  belowSpec: number,
): boolean {
  const { graph, facts } = view;
  const spec = specIn(view, from);
  if (graph.isChooser[spec] === 0 || facts === undefined) return true;
  if (facts.stops(from)) return false;
  const chosen = facts.choiceOf(from);
  return chosen === null || graph.isChosen(spec, chosen, belowSpec);
}

export function ordinaryVerdict(view: RunTasksView, no: number): number {
  const { graph, columns, maps } = view;
  if (graph.isOutside?.[specIn(view, no)] === 1) return SKIPPED;
  // Begun by what it stands before.
  const spec = graph.befores.size === 0 ? no : specIn(view, no);
  if (graph.isBefore(spec) && spec !== graph.runBefore) {
    const before = nearest(view, no, graph.behind.get(spec)![0]!);
    return hasEnded(columns.state[slotIn(view, before)]!) ? SKIPPED : BLOCKED;
  }
  if (view.isPlain) {
    const slot = slotAt(view.base, no);
    if (columns.upFailed[slot]! + columns.upUpstreamFailed[slot]! > 0) return UPSTREAM_FAILED;
    return columns.unmet[slot] === 0 ? READY : BLOCKED;
  }
  return maps?.waitsFor(no) === undefined ? verdictByRule(view, no) : verdictOnPlaceholder(view, no);
}

/**
 * Held until all that its map runs over has ended, whatever its own rule. A map that can't be expanded, or is empty, is one
 * task in its place, which goes by its rule and fails, or succeeds, where it would run.
 */
function verdictOnPlaceholder(view: RunTasksView, no: number): number {
  const map = resolveMap(view, no);
  switch (map.is) {
    case 'open':
      return BLOCKED;
    case 'failed':
      return UPSTREAM_FAILED;
    case 'skipped':
      return SKIPPED;
    case 'known':
      if (map.total > 0) {
        view.mayExpand?.(no);
        return BLOCKED;
      }
  }
  const to = verdictByRule(view, no);
  return to !== READY ? to : map.is === 'known' ? SUCCEEDED : FAILED;
}

function verdictByRule(view: RunTasksView, no: number): number {
  const { graph, columns } = view;
  const spec = specIn(view, no);
  const gates = graph.gates[spec] ?? [];
  for (const gate of gates) if (isShut(view, nearest(view, no, gate))) return SKIPPED;
  for (const gate of gates) {
    if (!hasEnded(columns.state[slotIn(view, nearest(view, no, gate))]!)) return BLOCKED;
  }
  const chosen = verdictOfChoosers(view, no, spec);
  if (chosen !== READY) return chosen;
  const verdict = decideTrigger(TRIGGER_RULES[graph.rule[spec]!]!, upstreamOf(view, no, spec));
  if (verdict === WAIT) return BLOCKED;
  if (verdict !== RUN) return verdict === FAIL ? UPSTREAM_FAILED : SKIPPED;
  const held = verdictOfSetups(view, no, spec);
  if (held !== READY) return held;
  const condition = graph.conditions[spec];
  const to = condition == null ? READY : look(view, no, condition);
  return to === READY && graph.befores.size > 0 ? passBefores(view, no, spec) : to;
}

/** Skipped when a branch or short circuit that it needs does not let it pass, whatever its rule; blocked until all of them have ended. */
function verdictOfChoosers(view: RunTasksView, no: number, spec: number): number {
  const { graph, columns } = view;
  let isOpen = false;
  for (const each of graph.choosers[spec] ?? []) {
    const chooser = nearest(view, no, each);
    const code = columns.state[slotIn(view, chooser)]!;
    if (code === SUCCEEDED && !letsPass(view, chooser, spec)) return SKIPPED;
    isOpen ||= !hasEnded(code);
  }
  return isOpen ? BLOCKED : READY;
}

/** Its rule lets it run: the setups that it works with must have ended too, and they may run again after all between has succeeded. */
function verdictOfSetups(view: RunTasksView, no: number, spec: number): number {
  const { graph, columns } = view;
  let [isOpen, isSkipped] = [false, false];
  for (const { setup, carriesFailure, carriesSkip } of graph.holds[spec] ?? []) {
    const code = columns.state[slotIn(view, nearest(view, no, setup))]!;
    const hasFailed = IS_FAILURE[code] === 1;
    if (hasFailed && carriesFailure && !graph.skipsFailed) return UPSTREAM_FAILED;
    isSkipped ||= code === SKIPPED && carriesSkip;
    isOpen ||= !hasEnded(code);
  }
  return isOpen ? BLOCKED : isSkipped ? SKIPPED : READY;
}

/** All else lets the task run: its hooks before it are begun, one after the other, and must succeed. */
function passBefores(view: RunTasksView, no: number, spec: number): number {
  const { graph, columns, maps, move } = view;
  for (const each of graph.befores.get(spec) ?? []) {
    const before = nearest(view, no, each);
    // Of a map without items there is nothing to stand before.
    if (maps?.waitsFor(before) !== undefined) continue;
    const slot = slotIn(view, before);
    const code = columns.state[slot]!;
    // Skipped: by a person's word.
    if (code === SUCCEEDED || code === SKIPPED) continue;
    if (COUNTS_AS_FAILED[code] === 1) return UPSTREAM_FAILED;
    if (code === BLOCKED) move(slot, READY);
    return BLOCKED;
  }
  return READY;
}

function isShut(view: RunTasksView, gate: number): boolean {
  return view.columns.state[slotIn(view, gate)] === SUCCEEDED && view.facts?.stops(gate) === true;
}

function upstreamOf(view: RunTasksView, no: number, spec: number): Upstream {
  const { graph, columns } = view;
  const slot = slotIn(view, no);
  return {
    total: graph.upstreamCount[spec]!,
    open: columns.unmet[slot]!,
    succeeded: columns.upSucceeded[slot]!,
    failed: columns.upFailed[slot]!,
    upstreamFailed: columns.upUpstreamFailed[slot]!,
    skipped: columns.upSkipped[slot]!,
    setups: setupsOf(view, no, spec),
  };
}

function setupsOf(view: RunTasksView, no: number, spec: number): Upstream['setups'] {
  const { graph, columns, maps } = view;
  const setups = { total: 0, open: 0, succeeded: 0, skipped: 0 };
  for (const upSpec of graph.setupNeeds[spec] ?? []) {
    const up = nearest(view, no, upSpec);
    const expansion = maps?.expansionOf(up);
    if (expansion !== undefined && expansion.total > 0) {
      const all = expansion.tallies[expansion.group.placeOf.get(upSpec)!]!;
      const open = openOf(all);
      setups.total += all.size;
      setups.open += open;
      setups.succeeded += all.succeeded;
      setups.skipped += all.skipped;
      // Nothing is decided before all have ended: only then it matters which of them have succeeded, but not for this task.
      if (open > 0 || graph.isChooser[upSpec] === 0) continue;
      maps!.visit(up, (instance) => {
        if ((maps!.expansionOf(instance)?.total ?? 0) > 0) return;
        if (columns.state[slotIn(view, instance)] !== SUCCEEDED || countsAs(view, instance, spec) === SUCCEEDED) return;
        setups.succeeded -= 1;
        setups.skipped += 1;
      });
      continue;
    }
    setups.total += 1;
    const as = hasEnded(columns.state[slotIn(view, up)]!) ? countsAs(view, up, spec) : BLOCKED;
    if (as === BLOCKED) setups.open += 1;
    else if (as === SUCCEEDED) setups.succeeded += 1;
    else if (as === SKIPPED) setups.skipped += 1;
  }
  return setups;
}

type Look = Pick<RunTasksView, 'graph' | 'columns' | 'base' | 'facts' | 'maps'>;

/** What a condition looks at must have ended, however early the rule was decided: else the order would tell (I31). */
export function look(view: Look, no: number, condition: NonNullable<Graph['conditions'][number]>): number {
  for (const up of condition.tasks) {
    if (!hasEnded(view.columns.state[slotIn(view, nearest(view, no, up))]!)) return BLOCKED;
  }
  const found = evaluateIn(view, no, condition);
  if (!found.ok) return FAILED;
  return isTruthy(found.fact) ? READY : SKIPPED;
}

export function evaluateIn(view: Look, no: number, { expression }: NonNullable<Graph['conditions'][number]>) {
  const { columns, facts } = view;
  return evaluate(expression, {
    ofTask: (spec, fact) => {
      const up = nearest(view, no, spec);
      return columns.state[slotIn(view, up)] === SUCCEEDED ? (facts?.ofTask(up, fact) ?? NOTHING) : NOTHING;
    },
    ofError: (spec, of) => ({ v: errorIn(view, nearest(view, no, spec))?.[of] ?? null }),
    ofParams: (fact) => facts?.ofParams(fact) ?? NOTHING,
  });
}

/** Why a task failed by itself. One that somebody has cancelled has failed for those behind it. */
function errorIn({ graph, base, maps, columns, facts }: Look, up: number): TaskError | null {
  const code = columns.state[slotIn({ graph, base, maps }, up)];
  if (code === STOPPED) return { class: 'cancelled', code: null };
  return IS_GIVEN_UP[code!] === 1 ? (facts?.errorOf(up) ?? null) : null;
}

/** Why a task failed that never had an attempt; null for any other. */
export function faultOf(view: Look, no: number): string | null {
  if (IS_GIVEN_UP[view.columns.state[slotIn(view, no)]!] === 0) return null;
  const map = view.maps?.waitsFor(no) === undefined ? null : resolveMap(view, no);
  if (map?.is === 'faulty') return map.fault;
  const condition = view.graph.conditions[specIn(view, no)];
  if (condition == null) return null;
  const found = evaluateIn(view, no, condition);
  return found.ok ? null : `The condition ${condition.text} can't be answered: ${found.fault}.`;
}
