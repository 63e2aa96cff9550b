/**
 * When teardowns, undos and hooks run. Each waits until what it awaits has ended, in whatever way; some wait for the run's
 * outcome as well. What they do then is a pure function of the states of others, of the run's phase and its outcome: the same
 * live, on load and for readers (D4, I33).
 */
import { type ClosingTask, isRepeating } from '../dag/closing-plan.ts';
import type { HookEvent } from '../dag/spec.ts';
import { RUN_OUTCOMES, type RunOutcome } from '../run/phase.ts';
import type { Field } from './field.ts';
import { BLOCKED, CANCELLED, FAILED, READY, SKIPPED, STOPPED, SUCCEEDED } from './task-table.ts';

/** How far the run is, as its closing tasks see it. */
export interface Standing {
  /** Null while the run is open. */
  readonly outcome: RunOutcome | null;
  /** Somebody wants its end at once: no closing task begins any more. */
  readonly isForced: boolean;
  /** An ordinary task has not ended yet. */
  readonly isBusy: boolean;
  /** Whether a task that was cancelled had begun. */
  readonly hadBegun: (slot: number) => boolean;
  /** How often a task was, or is to be, tried again, by its policy or by hand; null: how often the run was opened again. */
  readonly retriesOf: (slot: number | null) => number;
  /** How many attempts of a task were found to be slow; null: how often the run was. */
  readonly slowOf: (slot: number | null) => number;
}

export const OPEN_STANDING: Standing = {
  outcome: null,
  isForced: false,
  isBusy: true,
  hadBegun: () => false,
  retriesOf: () => 0,
  slowOf: () => 0,
};

export function outcomeOf(code: number): RunOutcome | null {
  return RUN_OUTCOMES[code - 1] ?? null;
}

/** A task has ended, in whatever way: the closing tasks that wait for it are decided. */
export function settleClosing(field: Field, from: number): void {
  const { graph, columns, base } = field;
  const plan = graph.closing!;
  const stack = [from];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (const below of plan.awaiting(no)) {
      columns.unmet[base + below]! -= 1;
      if (columns.state[base + below] === BLOCKED && decide(field, below)) stack.push(below);
    }
  }
}

/** The run's outcome is fixed, or its last ordinary task has ended: those that waited for that are decided. */
export function wakeClosing(field: Field): void {
  const { graph, columns, base } = field;
  for (const { no } of graph.closing!.ofRun) {
    if (columns.state[base + no] === BLOCKED && decide(field, no)) settleClosing(field, no);
  }
}

/** This task, or the run, is to be tried again or is slow: a hook that waits for that may run. */
export function wakeRepeating(field: Field, no: number | null): void {
  for (const hook of field.graph.closing!.repeatingOf(no)) {
    if (field.columns.state[field.base + hook] === BLOCKED) decide(field, hook);
  }
}

/** How often that has happened which the hook runs for. */
export function timesOf({ retriesOf, slowOf }: Standing, base: number, { hook }: ClosingTask): number {
  const slot = hook!.of === null ? null : base + hook!.of;
  return hook!.on === 'retry' ? retriesOf(slot) : slowOf(slot);
}

/** These closing tasks, of the states as they are: those without a state of their own are decided anew. */
export function decideClosingAnew(
  field: Field,
  tasks: readonly number[],
  hasOwnState: (slot: number) => boolean,
): void {
  const { graph, columns, base, move } = field;
  const open = tasks.filter((no) => !hasOwnState(base + no));
  for (const no of open) if (columns.state[base + no] !== BLOCKED) move(base + no, BLOCKED);
  for (const no of tasks) {
    const { awaits } = graph.closing!.get(no);
    columns.unmet[base + no] = awaits.reduce((left, up) => left + (columns.state[base + up]! < SUCCEEDED ? 1 : 0), 0);
  }
  for (const no of open) {
    if (columns.state[base + no] === BLOCKED && decide(field, no)) settleClosing(field, no);
  }
}

/** True when it has ended with it. */
function decide(field: Field, no: number): boolean {
  const { base, move } = field;
  const to = verdictOn(field, no);
  if (to === BLOCKED) return false;
  move(base + no, to);
  return to >= SUCCEEDED;
}

function verdictOn(field: Field, no: number): number {
  const { graph, columns, base, standing } = field;
  if (standing.isForced) return CANCELLED;
  const task = graph.closing!.get(no);
  if (isRepeating(task) && timesOf(standing, base, task) > 0) return READY;
  if (columns.unmet[base + no]! > 0) return BLOCKED;
  if (task.kind === 'undo') return verdictOnUndo(field, task);
  if (task.kind === 'hook') return verdictOnHook(field, task);
  const setups = task.teardown!;
  const isWanted = setups.length === 0 || setups.some((up) => columns.state[base + up] === SUCCEEDED);
  return isWanted ? READY : SKIPPED;
}

/** Nothing is undone before nothing more is done. */
function verdictOnUndo({ columns, base, standing }: Field, { undoes }: ClosingTask): number {
  if (standing.outcome === null) return BLOCKED;
  if (standing.outcome === 'succeeded') return SKIPPED;
  if (standing.isBusy) return BLOCKED;
  return columns.state[base + undoes!] === SUCCEEDED ? READY : SKIPPED;
}

function verdictOnHook(field: Field, { hook }: ClosingTask): number {
  const { of, on } = hook!;
  if (of !== null) return isWantedAfter(field, of, on) ? READY : SKIPPED;
  const { outcome, isBusy } = field.standing;
  if (outcome === null) return BLOCKED;
  if (on === 'after') return isBusy ? BLOCKED : READY;
  return (on === 'success' && outcome === 'succeeded') || (on === 'failure' && outcome === 'failed') ? READY : SKIPPED;
}

/** The task has ended. */
function isWantedAfter({ columns, base, standing }: Field, of: number, on: HookEvent): boolean {
  if (on === 'retry' || on === 'slow') return false;
  const code = columns.state[base + of];
  if (on === 'success') return code === SUCCEEDED;
  if (on === 'failure') return code === FAILED || code === STOPPED;
  return (
    code === SUCCEEDED || code === FAILED || code === STOPPED || (code === CANCELLED && standing.hadBegun(base + of))
  );
}
