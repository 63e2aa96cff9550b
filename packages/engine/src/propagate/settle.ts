/**
 * What the end of a task means for those behind it: by counts, at the cost of its out-degree; nothing is rescanned (I30).
 * One function for the live engine, for loads and for readers, over columns of the task table or of a run that is derived.
 */

import { evaluate } from '../model/dag/expression.ts';
import { ALL_SUCCESS, type Graph } from '../model/dag/graph.ts';
import { isTruthy, NOTHING } from '../model/task/fact.ts';
import { type TaskError } from '../model/task/facts.ts';
import {
  BLOCKED,
  CANCELLED,
  COUNTS_AS,
  COUNTS_AS_FAILED,
  EXPANDED,
  FAILED,
  IS_FAILURE,
  IS_TERMINAL,
  READY,
  SKIPPED,
  STOPPED,
  SUCCEEDED,
  UPSTREAM_FAILED,
} from '../model/task/task-states.ts';
import { decideTrigger, FAIL, RUN, TRIGGER_RULES, type Upstream, WAIT } from '../model/task/trigger.ts';
import type { RunMaps } from '../tables/map/run-maps.ts';
import { closersBehind } from './closers.ts';
import { decideCloser, decideClosingAnew, settleClosing } from './closing.ts';
import { resolveMap } from './map/resolve.ts';
import { openOf, tally } from './map/tally.ts';
import { hasEnded, nearest, type RunTasksView, resetCounts, slotIn, specIn, visitNear } from './run-tasks-view.ts';

/** Decides those tasks that wait for nothing. */
export function settleRoots(view: RunTasksView): void {
  const { graph } = view;
  for (let i = 0; i < graph.roots.length; i++) decideAndSettle(view, graph.roots[i]!);
  for (const no of graph.maps?.knownAtStart ?? []) decideAndSettle(view, no);
}

export function decideAndSettle(view: RunTasksView, no: number): void {
  if (view.columns.state[slotIn(view, no)] === BLOCKED && decide(view, no)) settle(view, no);
}

/** The task has ended: those behind it become ready, or will never run, and so on. */
export function settle(view: RunTasksView, from: number): void {
  const { graph, columns, maps } = view;
  const stack = [from];
  const look = (below: number) => {
    if (columns.state[slotIn(view, below)] === BLOCKED && decide(view, below)) stack.push(below);
  };
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    const [from, spec] = [no, specIn(view, no)];
    // It has run, or was marked, without them.
    if (graph.befores.size > 0 && hasEnded(columns.state[slotIn(view, no)]!)) skipBefores(view, no);
    if (maps !== null) {
      const placeholders = tally(view, no, 1);
      if (graph.closing !== null && view.isQuiet === undefined) {
        for (const placeholder of placeholders) settleClosing(view, placeholder);
      }
    }
    for (let i = graph.downstreamStart[spec]!; i < graph.downstreamStart[spec + 1]!; i++) {
      const belowSpec = graph.downstream[i]!;
      const countAndLook = (below: number) => {
        count(view, from, below, belowSpec, 1);
        look(below);
      };
      if (maps === null) countAndLook(belowSpec);
      else visitNear(view, no, belowSpec, countAndLook);
    }
    for (const below of graph.behind.get(spec) ?? []) visitNear(view, no, below, look);
    for (const below of graph.maps?.fed.get(spec) ?? []) visitNear(view, no, below, look);
    if (graph.closing !== null && view.isQuiet === undefined) settleClosing(view, no);
    view.unheard?.push(no);
  }
}

/**
 * These tasks are as if they had never run: they, and whatever behind them has no state of its own, are decided anew. The same
 * as what a load makes of the rows.
 */
export function decideAnew(view: RunTasksView, tasks: readonly number[], hasOwnState: (slot: number) => boolean): void {
  const { graph, columns, base, move, maps } = view;
  const { closing } = graph;
  const ordinary = closing === null ? tasks : tasks.filter((no) => !closing.has(specIn(view, no)));
  const unheard: number[] = [];
  const quiet: RunTasksView = { ...view, isQuiet: true, unheard };
  if (maps !== null) {
    const opened = reopen(view, ordinary, hasOwnState);
    for (const no of opened) decideAndSettle(quiet, no);
    return decideClosers(view, tasks, [...opened, ...unheard], hasOwnState);
  }
  const touched = graph.touchedBy(ordinary);
  const open = touched.filter((no) => !hasOwnState(base + no));
  for (const no of open) if (columns.state[base + no] !== BLOCKED) move(base + no, BLOCKED);
  for (const no of touched) {
    resetCounts(columns, base + no, graph.upstreamCount[no]!);
    for (const up of graph.needs[no]!) if (IS_TERMINAL[columns.state[base + up]!] === 1) count(view, up, no, no, 1);
  }
  for (const no of open) decideAndSettle(quiet, no);
  decideClosers(view, tasks, touched, hasOwnState);
}

/** After all others: what closes the run and waits for one of these. */
export function decideClosers(
  view: RunTasksView,
  tasks: readonly number[],
  touched: readonly number[],
  hasOwnState: (slot: number) => boolean,
): void {
  const { closing } = view.graph;
  if (closing === null) return;
  decideClosingAnew(view, closersBehind(view, [...tasks, ...touched]), hasOwnState);
}

/**
 * The same where there are maps: what these ends have counted is taken back, and so on for all that was decided by it. Costs what
 * it undoes, where a rescan would cost the size of the maps. Answers with what is to be decided anew.
 */
export function reopen(view: RunTasksView, tasks: readonly number[], hasOwnState: (slot: number) => boolean): number[] {
  const { graph, columns, move } = view;
  const maps = view.maps!;
  const [opened, stack] = [new Set<number>(), [...tasks]];
  const mayOpen = (no: number) => {
    const slot = slotIn(view, no);
    const at = columns.state[slot]!;
    if (at === BLOCKED) return mayOpenBefores(no);
    if (at === EXPANDED || hasOwnState(slot) || isExpanded(maps, no)) return;
    stack.push(no);
  };
  /** It waits for those: whether it still does is decided anew. */
  const mayOpenBefores = (no: number) => {
    for (const spec of graph.befores.get(specIn(view, no)) ?? []) {
      const before = nearest(view, no, spec);
      const slot = slotIn(view, before);
      if (spec !== graph.runBefore && columns.state[slot] === READY && !hasOwnState(slot)) stack.push(before);
    }
  };
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    if (opened.has(no)) continue;
    const slot = slotIn(view, no);
    const [from, at] = [no, columns.state[slot]!];
    if (isExpanded(maps, no)) {
      // Stopped with its run while its instances were on their way: they go on.
      if (at === CANCELLED) move(slot, EXPANDED);
      continue;
    }
    opened.add(no);
    const spec = specIn(view, no);
    for (const before of graph.befores.get(spec) ?? []) mayOpen(nearest(view, no, before));
    if (graph.isBefore(spec)) {
      for (const below of graph.behind.get(spec) ?? []) {
        visitNear(view, no, below, (other) => {
          if (columns.state[slotIn(view, other)] === BLOCKED) opened.add(other);
        });
      }
    }
    if (hasEnded(at)) {
      tally(view, no, -1);
      for (let i = graph.downstreamStart[spec]!; i < graph.downstreamStart[spec + 1]!; i++) {
        const belowSpec = graph.downstream[i]!;
        visitNear(view, no, belowSpec, (below) => {
          count(view, from, below, belowSpec, -1);
          mayOpen(below);
        });
      }
      for (const below of graph.behind.get(spec) ?? []) visitNear(view, no, below, mayOpen);
      for (const below of graph.maps?.fed.get(spec) ?? []) visitNear(view, no, below, mayOpen);
    }
    if (at !== BLOCKED) move(slot, BLOCKED);
  }
  return [...opened];
}

function isExpanded(maps: RunMaps, no: number): boolean {
  return (maps.expansionOf(no)?.total ?? 0) > 0;
}

/**
 * Somebody says what this task is; it has a state of its own from here on. What was decided because of it is decided anew. What it
 * left before is told of only after that was taken back: a short circuit that was shut takes back what a shut one has counted.
 */
export function decideMarked(
  view: RunTasksView,
  no: number,
  to: number,
  tellFacts: () => void,
  hasOwnState: (slot: number) => boolean,
): void {
  const { columns, move, maps } = view;
  const slot = slotIn(view, no);
  if (maps === null) {
    if (columns.state[slot] !== BLOCKED) move(slot, BLOCKED);
    tellFacts();
    move(slot, to);
    return decideAnew(view, [no], hasOwnState);
  }
  const opened = reopen(view, [no], (other) => other !== slot && hasOwnState(other));
  tellFacts();
  const unheard: number[] = [];
  const quiet: RunTasksView = { ...view, isQuiet: true, unheard };
  move(slot, to);
  settle(quiet, no);
  for (const other of opened) if (other !== no) decideAndSettle(quiet, other);
  decideClosers(view, [no], [...opened, ...unheard], hasOwnState);
}

/** Counts what is upstream of all tasks of a dag without maps anew, and decides nothing. */
export function recountAll(view: RunTasksView): void {
  const { graph, columns, base } = view;
  for (let no = 0; no < graph.taskCount; no++) {
    if (graph.closing?.has(no)) continue;
    resetCounts(columns, base + no, graph.upstreamCount[no]!);
    for (const up of graph.needs[no]!) if (IS_TERMINAL[columns.state[base + up]!] === 1) count(view, up, no, no, 1);
  }
}

/** Counts what is upstream of one task anew, and decides nothing. It is in no map. */
export function recount(view: RunTasksView, no: number): void {
  const { graph, columns, maps } = view;
  const slot = slotIn(view, no);
  resetCounts(columns, slot, graph.upstreamCount[no]!);
  const countEnded = (up: number) => {
    if (IS_TERMINAL[columns.state[slotIn(view, up)]!] === 1) count(view, up, no, no, 1);
  };
  for (const up of graph.needs[no]!) {
    const expansion = maps?.expansionOf(up);
    if (expansion === undefined || expansion.total === 0) countEnded(up);
    else {
      // For the mapped task each of its instances, those to come included.
      columns.unmet[slot]! += expansion.tallies[expansion.group.placeOf.get(up)!]!.size - 1;
      maps!.visit(up, (instance) => {
        if (!isExpanded(maps!, instance)) countEnded(instance);
      });
    }
  }
}

const [NONE_FAILED, NONE_FAILED_MIN_ONE] = [
  TRIGGER_RULES.indexOf('none_failed'),
  TRIGGER_RULES.indexOf('none_failed_min_one_success'),
];

/** Counts an edge, once, when the task above has ended; or takes it back. Behind a cancelled task nothing is decided any more. */
function count(view: RunTasksView, from: number, below: number, belowSpec: number, by: 1 | -1): void {
  const { columns } = view;
  const slot = slotIn(view, below);
  const as = countsAs(view, from, belowSpec);
  if (as === CANCELLED) return;
  columns.unmet[slot]! -= by;
  if (as === SUCCEEDED) columns.upSucceeded[slot]! += by;
  else if (as === FAILED) columns.upFailed[slot]! += by;
  else if (as === UPSTREAM_FAILED) columns.upUpstreamFailed[slot]! += by;
  else if (as === SKIPPED) columns.upSkipped[slot]! += by;
}

function countsAs(view: RunTasksView, from: number, belowSpec: number): number {
  const { graph, columns } = view;
  const code = COUNTS_AS[columns.state[slotIn(view, from)]!]!;
  if (code === SUCCEEDED) return letsPass(view, from, belowSpec) ? SUCCEEDED : SKIPPED;
  if (!graph.skipsFailed || (code !== FAILED && code !== UPSTREAM_FAILED)) return code;
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

/** Decides a task that is blocked, if that can be told. True when it has ended with it. */
function decide(view: RunTasksView, no: number): boolean {
  const { move, graph } = view;
  if (graph.closing?.has(specIn(view, no)) === true) {
    // Has its own way to end; with `isQuiet` it is looked at later.
    if (view.isQuiet === undefined) decideCloser(view, no);
    return false;
  }
  const to = verdictOn(view, no);
  if (to === BLOCKED) return false;
  const slot = slotIn(view, no);
  move(slot, to);
  if (IS_TERMINAL[to] === 0) return false;
  skipBefores(view, no);
  return true;
}

/** What stood before this one alone is not needed any more; the run's own is of use to others. */
function skipBefores(view: RunTasksView, no: number): void {
  const { graph, columns, move } = view;
  for (const spec of graph.befores.get(specIn(view, no)) ?? []) {
    const before = nearest(view, no, spec);
    const slot = slotIn(view, before);
    if (spec === graph.runBefore || columns.state[slot] !== BLOCKED) continue;
    move(slot, SKIPPED);
    tally(view, before, 1);
  }
}

function verdictOn(view: RunTasksView, no: number): number {
  const { graph, columns, maps } = view;
  if (graph.isOutside?.[specIn(view, no)] === 1) return SKIPPED;
  // Begun by what it stands before.
  const spec = graph.befores.size === 0 ? no : specIn(view, no);
  if (graph.isBefore(spec) && spec !== graph.runBefore) {
    const before = nearest(view, no, graph.behind.get(spec)![0]!);
    return hasEnded(columns.state[slotIn(view, before)]!) ? SKIPPED : BLOCKED;
  }
  if (view.isPlain) {
    const slot = view.base + no;
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
function look(view: Look, no: number, condition: NonNullable<Graph['conditions'][number]>): number {
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
  return code === FAILED ? (facts?.errorOf(up) ?? null) : null;
}

/** Why a task failed that never had an attempt; null for any other. */
export function faultOf(view: Look, no: number): string | null {
  if (view.columns.state[slotIn(view, no)] !== FAILED) return null;
  const map = view.maps?.waitsFor(no) === undefined ? null : resolveMap(view, no);
  if (map?.is === 'faulty') return map.fault;
  const condition = view.graph.conditions[specIn(view, no)];
  if (condition == null) return null;
  const found = evaluateIn(view, no, condition);
  return found.ok ? null : `The condition ${condition.text} can't be answered: ${found.fault}.`;
}
