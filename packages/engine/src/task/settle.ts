/**
 * What the end of a task means for those behind it: by counts, at the cost of its out-degree; nothing is rescanned (I30).
 * One function for the live engine, for loads and for readers, over columns of the task table or of a run that is derived.
 */
import { evaluate } from '../dag/expression.ts';
import { ALL_SUCCESS, type Graph } from '../dag/graph.ts';
import { resolveMap } from '../map/resolve.ts';
import type { RunMaps } from '../map/run-maps.ts';
import { openOf, tally } from '../map/tally.ts';
import { closersBehind } from './closers.ts';
import { decideCloser, decideClosingAnew, settleClosing } from './closing.ts';
import { isTruthy, NOTHING, type TaskError } from './facts.ts';
import { type Field, hasEnded, nearest, resetCounts, slotIn, specIn, visitNear } from './field.ts';
import {
  BLOCKED,
  CANCELLED,
  EXPANDED,
  FAILED,
  READY,
  SKIPPED,
  STOPPED,
  SUCCEEDED,
  UPSTREAM_FAILED,
} from './task-table.ts';
import { decideTrigger, FAIL, RUN, TRIGGER_RULES, type Upstream, WAIT } from './trigger.ts';

/** Decides those tasks that wait for nothing. */
export function settleRoots(field: Field): void {
  const { graph } = field;
  for (let i = 0; i < graph.roots.length; i++) decideAndSettle(field, graph.roots[i]!);
  for (const no of graph.maps?.knownAtStart ?? []) decideAndSettle(field, no);
}

export function decideAndSettle(field: Field, no: number): void {
  if (field.columns.state[slotIn(field, no)] === BLOCKED && decide(field, no)) settle(field, no);
}

/** The task has ended: those behind it become ready, or will never run, and so on. */
export function settle(field: Field, from: number): void {
  const { graph, columns, maps } = field;
  const stack = [from];
  const look = (below: number) => {
    if (columns.state[slotIn(field, below)] === BLOCKED && decide(field, below)) stack.push(below);
  };
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    const [from, spec] = [no, specIn(field, no)];
    // It has run, or was marked, without them.
    if (graph.befores.size > 0 && hasEnded(columns.state[slotIn(field, no)]!)) skipBefores(field, no);
    if (maps !== null) {
      const placeholders = tally(field, no, 1);
      if (graph.closing !== null && field.isQuiet === undefined) {
        for (const placeholder of placeholders) settleClosing(field, placeholder);
      }
    }
    for (let i = graph.downstreamStart[spec]!; i < graph.downstreamStart[spec + 1]!; i++) {
      const belowSpec = graph.downstream[i]!;
      const countAndLook = (below: number) => {
        count(field, from, below, belowSpec, 1);
        look(below);
      };
      if (maps === null) countAndLook(belowSpec);
      else visitNear(field, no, belowSpec, countAndLook);
    }
    for (const below of graph.behind.get(spec) ?? []) visitNear(field, no, below, look);
    for (const below of graph.maps?.fed.get(spec) ?? []) visitNear(field, no, below, look);
    if (graph.closing !== null && field.isQuiet === undefined) settleClosing(field, no);
    field.unheard?.push(no);
  }
}

/**
 * These tasks are as if they had never run: they, and whatever behind them has no state of its own, are decided anew. The same
 * as what a load makes of the rows.
 */
export function decideAnew(field: Field, tasks: readonly number[], hasOwnState: (slot: number) => boolean): void {
  const { graph, columns, base, move, maps } = field;
  const { closing } = graph;
  const ordinary = closing === null ? tasks : tasks.filter((no) => !closing.has(specIn(field, no)));
  const unheard: number[] = [];
  const quiet: Field = { ...field, isQuiet: true, unheard };
  if (maps !== null) {
    const opened = reopen(field, ordinary, hasOwnState);
    for (const no of opened) decideAndSettle(quiet, no);
    return decideClosers(field, tasks, [...opened, ...unheard], hasOwnState);
  }
  const touched = graph.touchedBy(ordinary);
  const open = touched.filter((no) => !hasOwnState(base + no));
  for (const no of open) if (columns.state[base + no] !== BLOCKED) move(base + no, BLOCKED);
  for (const no of touched) {
    resetCounts(columns, base + no, graph.upstreamCount[no]!);
    for (const up of graph.needs[no]!) if (columns.state[base + up]! >= SUCCEEDED) count(field, up, no, no, 1);
  }
  for (const no of open) decideAndSettle(quiet, no);
  decideClosers(field, tasks, touched, hasOwnState);
}

/** After all others: what closes the run and waits for one of these. */
export function decideClosers(
  field: Field,
  tasks: readonly number[],
  touched: readonly number[],
  hasOwnState: (slot: number) => boolean,
): void {
  const { closing } = field.graph;
  if (closing === null) return;
  decideClosingAnew(field, closersBehind(field, [...tasks, ...touched]), hasOwnState);
}

/**
 * The same where there are maps: what these ends have counted is taken back, and so on for all that was decided by it. Costs what
 * it undoes, where a rescan would cost the size of the maps. Answers with what is to be decided anew.
 */
export function reopen(field: Field, tasks: readonly number[], hasOwnState: (slot: number) => boolean): number[] {
  const { graph, columns, move } = field;
  const maps = field.maps!;
  const [opened, stack] = [new Set<number>(), [...tasks]];
  const mayOpen = (no: number) => {
    const slot = slotIn(field, no);
    const at = columns.state[slot]!;
    if (at === BLOCKED) return mayOpenBefores(no);
    if (at === EXPANDED || hasOwnState(slot) || isExpanded(maps, no)) return;
    stack.push(no);
  };
  /** It waits for those: whether it still does is decided anew. */
  const mayOpenBefores = (no: number) => {
    for (const spec of graph.befores.get(specIn(field, no)) ?? []) {
      const before = nearest(field, no, spec);
      const slot = slotIn(field, before);
      if (spec !== graph.runBefore && columns.state[slot] === READY && !hasOwnState(slot)) stack.push(before);
    }
  };
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    if (opened.has(no)) continue;
    const slot = slotIn(field, no);
    const [from, at] = [no, columns.state[slot]!];
    if (isExpanded(maps, no)) {
      // Stopped with its run while its instances were on their way: they go on.
      if (at === CANCELLED) move(slot, EXPANDED);
      continue;
    }
    opened.add(no);
    const spec = specIn(field, no);
    for (const before of graph.befores.get(spec) ?? []) mayOpen(nearest(field, no, before));
    if (graph.isBefore(spec)) {
      for (const below of graph.behind.get(spec) ?? []) {
        visitNear(field, no, below, (other) => {
          if (columns.state[slotIn(field, other)] === BLOCKED) opened.add(other);
        });
      }
    }
    if (hasEnded(at)) {
      tally(field, no, -1);
      for (let i = graph.downstreamStart[spec]!; i < graph.downstreamStart[spec + 1]!; i++) {
        const belowSpec = graph.downstream[i]!;
        visitNear(field, no, belowSpec, (below) => {
          count(field, from, below, belowSpec, -1);
          mayOpen(below);
        });
      }
      for (const below of graph.behind.get(spec) ?? []) visitNear(field, no, below, mayOpen);
      for (const below of graph.maps?.fed.get(spec) ?? []) visitNear(field, no, below, mayOpen);
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
  field: Field,
  no: number,
  to: number,
  tellFacts: () => void,
  hasOwnState: (slot: number) => boolean,
): void {
  const { columns, move, maps } = field;
  const slot = slotIn(field, no);
  if (maps === null) {
    if (columns.state[slot] !== BLOCKED) move(slot, BLOCKED);
    tellFacts();
    move(slot, to);
    return decideAnew(field, [no], hasOwnState);
  }
  const opened = reopen(field, [no], (other) => other !== slot && hasOwnState(other));
  tellFacts();
  const unheard: number[] = [];
  const quiet: Field = { ...field, isQuiet: true, unheard };
  move(slot, to);
  settle(quiet, no);
  for (const other of opened) if (other !== no) decideAndSettle(quiet, other);
  decideClosers(field, [no], [...opened, ...unheard], hasOwnState);
}

/** Counts what is upstream of all tasks of a dag without maps anew, and decides nothing. */
export function recountAll(field: Field): void {
  const { graph, columns, base } = field;
  for (let no = 0; no < graph.taskCount; no++) {
    if (graph.closing?.has(no)) continue;
    resetCounts(columns, base + no, graph.upstreamCount[no]!);
    for (const up of graph.needs[no]!) if (columns.state[base + up]! >= SUCCEEDED) count(field, up, no, no, 1);
  }
}

/** Counts what is upstream of one task anew, and decides nothing. It is in no map. */
export function recount(field: Field, no: number): void {
  const { graph, columns, maps } = field;
  const slot = slotIn(field, no);
  resetCounts(columns, slot, graph.upstreamCount[no]!);
  const countEnded = (up: number) => {
    if (columns.state[slotIn(field, up)]! >= SUCCEEDED) count(field, up, no, no, 1);
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
function count(field: Field, from: number, below: number, belowSpec: number, by: 1 | -1): void {
  const { columns } = field;
  const slot = slotIn(field, below);
  const as = countsAs(field, from, belowSpec);
  if (as === CANCELLED) return;
  columns.unmet[slot]! -= by;
  if (as === SUCCEEDED) columns.upSucceeded[slot]! += by;
  else if (as === FAILED) columns.upFailed[slot]! += by;
  else if (as === UPSTREAM_FAILED) columns.upUpstreamFailed[slot]! += by;
  else if (as === SKIPPED) columns.upSkipped[slot]! += by;
}

function countsAs(field: Field, from: number, belowSpec: number): number {
  const { graph, columns } = field;
  const state = columns.state[slotIn(field, from)]!;
  const code = state === STOPPED ? FAILED : state;
  if (code === SUCCEEDED) return letsPass(field, from, belowSpec) ? SUCCEEDED : SKIPPED;
  if (!graph.skipsFailed || (code !== FAILED && code !== UPSTREAM_FAILED)) return code;
  // What asks that nothing has failed goes on without it; what asks for a failure still finds it.
  const rule = graph.rule[belowSpec];
  if (rule === ALL_SUCCESS) return SUCCEEDED;
  return rule === NONE_FAILED || rule === NONE_FAILED_MIN_ONE ? SKIPPED : code;
}

/** Whether a task that succeeded lets this one pass, which needs it: any does but a branch that chose others, or a short circuit. */
export function letsPass(field: Pick<Field, 'graph' | 'maps' | 'facts'>, from: number, belowSpec: number): boolean {
  const { graph, facts } = field;
  const spec = specIn(field, from);
  if (graph.isChooser[spec] === 0 || facts === undefined) return true;
  if (facts.stops(from)) return false;
  const chosen = facts.choiceOf(from);
  return chosen === null || graph.isChosen(spec, chosen, belowSpec);
}

/** Decides a task that is blocked, if that can be told. True when it has ended with it. */
function decide(field: Field, no: number): boolean {
  const { move, graph } = field;
  if (graph.closing?.has(specIn(field, no)) === true) {
    // Has its own way to end; with `isQuiet` it is looked at later.
    if (field.isQuiet === undefined) decideCloser(field, no);
    return false;
  }
  const to = verdictOn(field, no);
  if (to === BLOCKED) return false;
  const slot = slotIn(field, no);
  move(slot, to);
  if (to < SUCCEEDED) return false;
  skipBefores(field, no);
  return true;
}

/** What stood before this one alone is not needed any more; the run's own is of use to others. */
function skipBefores(field: Field, no: number): void {
  const { graph, columns, move } = field;
  for (const spec of graph.befores.get(specIn(field, no)) ?? []) {
    const before = nearest(field, no, spec);
    const slot = slotIn(field, before);
    if (spec === graph.runBefore || columns.state[slot] !== BLOCKED) continue;
    move(slot, SKIPPED);
    tally(field, before, 1);
  }
}

function verdictOn(field: Field, no: number): number {
  const { graph, columns, maps } = field;
  if (graph.isOutside?.[specIn(field, no)] === 1) return SKIPPED;
  // Begun by what it stands before.
  const spec = graph.befores.size === 0 ? no : specIn(field, no);
  if (graph.isBefore(spec) && spec !== graph.runBefore) {
    const before = nearest(field, no, graph.behind.get(spec)![0]!);
    return hasEnded(columns.state[slotIn(field, before)]!) ? SKIPPED : BLOCKED;
  }
  if (field.isPlain) {
    const slot = field.base + no;
    if (columns.upFailed[slot]! + columns.upUpstreamFailed[slot]! > 0) return UPSTREAM_FAILED;
    return columns.unmet[slot] === 0 ? READY : BLOCKED;
  }
  return maps?.waitsFor(no) === undefined ? verdictByRule(field, no) : verdictOnPlaceholder(field, no);
}

/**
 * Held until all that its map runs over has ended, whatever its own rule. A map that can't be expanded, or is empty, is one
 * task in its place, which goes by its rule and fails, or succeeds, where it would run.
 */
function verdictOnPlaceholder(field: Field, no: number): number {
  const map = resolveMap(field, no);
  switch (map.is) {
    case 'open':
      return BLOCKED;
    case 'failed':
      return UPSTREAM_FAILED;
    case 'skipped':
      return SKIPPED;
    case 'known':
      if (map.total > 0) {
        field.mayExpand?.(no);
        return BLOCKED;
      }
  }
  const to = verdictByRule(field, no);
  return to !== READY ? to : map.is === 'known' ? SUCCEEDED : FAILED;
}

function verdictByRule(field: Field, no: number): number {
  const { graph, columns } = field;
  const spec = specIn(field, no);
  const gates = graph.gates[spec] ?? [];
  for (const gate of gates) if (isShut(field, nearest(field, no, gate))) return SKIPPED;
  for (const gate of gates) {
    if (!hasEnded(columns.state[slotIn(field, nearest(field, no, gate))]!)) return BLOCKED;
  }
  const chosen = verdictOfChoosers(field, no, spec);
  if (chosen !== READY) return chosen;
  const verdict = decideTrigger(TRIGGER_RULES[graph.rule[spec]!]!, upstreamOf(field, no, spec));
  if (verdict === WAIT) return BLOCKED;
  if (verdict !== RUN) return verdict === FAIL ? UPSTREAM_FAILED : SKIPPED;
  const held = verdictOfSetups(field, no, spec);
  if (held !== READY) return held;
  const condition = graph.conditions[spec];
  const to = condition == null ? READY : look(field, no, condition);
  return to === READY && graph.befores.size > 0 ? passBefores(field, no, spec) : to;
}

/** Skipped when a branch or short circuit that it needs does not let it pass, whatever its rule; blocked until all of them have ended. */
function verdictOfChoosers(field: Field, no: number, spec: number): number {
  const { graph, columns } = field;
  let isOpen = false;
  for (const each of graph.choosers[spec] ?? []) {
    const chooser = nearest(field, no, each);
    const code = columns.state[slotIn(field, chooser)]!;
    if (code === SUCCEEDED && !letsPass(field, chooser, spec)) return SKIPPED;
    isOpen ||= !hasEnded(code);
  }
  return isOpen ? BLOCKED : READY;
}

/** Its rule lets it run: the setups that it works with must have ended too, and they may run again after all between has succeeded. */
function verdictOfSetups(field: Field, no: number, spec: number): number {
  const { graph, columns } = field;
  let [isOpen, isSkipped] = [false, false];
  for (const { setup, carriesFailure, carriesSkip } of graph.holds[spec] ?? []) {
    const code = columns.state[slotIn(field, nearest(field, no, setup))]!;
    const hasFailed = code === FAILED || code === STOPPED || code === UPSTREAM_FAILED;
    if (hasFailed && carriesFailure && !graph.skipsFailed) return UPSTREAM_FAILED;
    isSkipped ||= code === SKIPPED && carriesSkip;
    isOpen ||= !hasEnded(code);
  }
  return isOpen ? BLOCKED : isSkipped ? SKIPPED : READY;
}

/** All else lets the task run: its hooks before it are begun, one after the other, and must succeed. */
function passBefores(field: Field, no: number, spec: number): number {
  const { graph, columns, maps, move } = field;
  for (const each of graph.befores.get(spec) ?? []) {
    const before = nearest(field, no, each);
    // Of a map without items there is nothing to stand before.
    if (maps?.waitsFor(before) !== undefined) continue;
    const slot = slotIn(field, before);
    const code = columns.state[slot]!;
    // Skipped: by a person's word.
    if (code === SUCCEEDED || code === SKIPPED) continue;
    if (code === FAILED || code === STOPPED) return UPSTREAM_FAILED;
    if (code === BLOCKED) move(slot, READY);
    return BLOCKED;
  }
  return READY;
}

function isShut(field: Field, gate: number): boolean {
  return field.columns.state[slotIn(field, gate)] === SUCCEEDED && field.facts?.stops(gate) === true;
}

function upstreamOf(field: Field, no: number, spec: number): Upstream {
  const { graph, columns } = field;
  const slot = slotIn(field, no);
  return {
    total: graph.upstreamCount[spec]!,
    open: columns.unmet[slot]!,
    succeeded: columns.upSucceeded[slot]!,
    failed: columns.upFailed[slot]!,
    upstreamFailed: columns.upUpstreamFailed[slot]!,
    skipped: columns.upSkipped[slot]!,
    setups: setupsOf(field, no, spec),
  };
}

function setupsOf(field: Field, no: number, spec: number): Upstream['setups'] {
  const { graph, columns, maps } = field;
  const setups = { total: 0, open: 0, succeeded: 0, skipped: 0 };
  for (const upSpec of graph.setupNeeds[spec] ?? []) {
    const up = nearest(field, no, upSpec);
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
        if (columns.state[slotIn(field, instance)] !== SUCCEEDED || countsAs(field, instance, spec) === SUCCEEDED)
          return;
        setups.succeeded -= 1;
        setups.skipped += 1;
      });
      continue;
    }
    setups.total += 1;
    const as = hasEnded(columns.state[slotIn(field, up)]!) ? countsAs(field, up, spec) : BLOCKED;
    if (as === BLOCKED) setups.open += 1;
    else if (as === SUCCEEDED) setups.succeeded += 1;
    else if (as === SKIPPED) setups.skipped += 1;
  }
  return setups;
}

type Look = Pick<Field, 'graph' | 'columns' | 'base' | 'facts' | 'maps'>;

/** What a condition looks at must have ended, however early the rule was decided: else the order would tell (I31). */
function look(field: Look, no: number, condition: NonNullable<Graph['conditions'][number]>): number {
  for (const up of condition.tasks) {
    if (!hasEnded(field.columns.state[slotIn(field, nearest(field, no, up))]!)) return BLOCKED;
  }
  const found = evaluateIn(field, no, condition);
  if (!found.ok) return FAILED;
  return isTruthy(found.fact) ? READY : SKIPPED;
}

export function evaluateIn(field: Look, no: number, { expression }: NonNullable<Graph['conditions'][number]>) {
  const { columns, facts } = field;
  return evaluate(expression, {
    ofTask: (spec, fact) => {
      const up = nearest(field, no, spec);
      return columns.state[slotIn(field, up)] === SUCCEEDED ? (facts?.ofTask(up, fact) ?? NOTHING) : NOTHING;
    },
    ofError: (spec, of) => ({ v: errorIn(field, nearest(field, no, spec))?.[of] ?? null }),
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
export function faultOf(field: Look, no: number): string | null {
  if (field.columns.state[slotIn(field, no)] !== FAILED) return null;
  const map = field.maps?.waitsFor(no) === undefined ? null : resolveMap(field, no);
  if (map?.is === 'faulty') return map.fault;
  const condition = field.graph.conditions[specIn(field, no)];
  if (condition == null) return null;
  const found = evaluateIn(field, no, condition);
  return found.ok ? null : `The condition ${condition.text} can't be answered: ${found.fault}.`;
}
