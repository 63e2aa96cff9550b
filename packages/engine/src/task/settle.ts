/** What the end of a task means for the tasks behind it. Costs its out-degree; nothing is rescanned (I30). */
import { assert } from '../assert.ts';
import { enqueue, leaveLane } from '../match/enqueue.ts';
import type { State } from '../state.ts';
import {
  BLOCKED,
  CANCELLED,
  FAILED,
  READY,
  RETRYING,
  SUCCEEDED,
  TASK_MOVES,
  TASK_STATE_NAMES,
  UPSTREAM_FAILED,
} from './task-table.ts';

/** Moves a task, and the counts that go with it. The one place that writes `state`. */
export function moveTask(state: State, slot: number, to: number): void {
  const { tasks, runs } = state;
  const from = tasks.state[slot]!;
  assert(TASK_MOVES[from]!.includes(to), `a task moves from ${TASK_STATE_NAMES[from]} to ${TASK_STATE_NAMES[to]}`);
  tasks.state[slot] = to;
  if (from === READY) leaveLane(state, slot);
  if (to === READY) enqueue(state, slot);
  if (to < SUCCEEDED) {
    if (from >= SUCCEEDED) uncount(state, slot, from);
    return;
  }
  const run = tasks.run[slot]!;
  runs.unfinished[run]! -= 1;
  if (to !== SUCCEEDED) runs.failed[run]! += 1;
  if (runs.unfinished[run] === 0) state.agenda.runs.add(run);
}

function uncount({ tasks, runs }: State, slot: number, from: number): void {
  const run = tasks.run[slot]!;
  runs.unfinished[run]! += 1;
  if (from !== SUCCEEDED) runs.failed[run]! -= 1;
}

/** The task ended: those behind it become ready, or will never run. */
export function settleDownstream(state: State, slot: number): void {
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  const base = runs.base[run]!;
  const { graph } = runs.versionOf(run);
  if (tasks.state[slot] === SUCCEEDED) {
    const no = slot - base;
    for (let i = graph.downstreamStart[no]!; i < graph.downstreamStart[no + 1]!; i++) {
      const below = base + graph.downstream[i]!;
      tasks.unmet[below]! -= 1;
      if (tasks.unmet[below] === 0 && tasks.state[below] === BLOCKED) moveTask(state, below, READY);
    }
    return;
  }
  const stack = [slot - base];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (let i = graph.downstreamStart[no]!; i < graph.downstreamStart[no + 1]!; i++) {
      const below = graph.downstream[i]!;
      if (tasks.state[base + below] !== BLOCKED) continue;
      moveTask(state, base + below, UPSTREAM_FAILED);
      stack.push(below);
    }
  }
}

/**
 * The task is to be tried again: those that would never have run because of it wait for it, unless another failure keeps them
 * from running. The same as what a load derives from the rows.
 */
export function unfailDownstream(state: State, slot: number): void {
  const { tasks, runs } = state;
  const run = tasks.run[slot]!;
  const base = runs.base[run]!;
  const { graph, spec } = runs.versionOf(run);
  const waiting: number[] = [];
  const stack = [slot - base];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (let i = graph.downstreamStart[no]!; i < graph.downstreamStart[no + 1]!; i++) {
      const below = graph.downstream[i]!;
      if (tasks.state[base + below] !== UPSTREAM_FAILED) continue;
      moveTask(state, base + below, BLOCKED);
      waiting.push(below);
      stack.push(below);
    }
  }
  const hasFailed = (no: number) => tasks.state[base + no] === FAILED || tasks.state[base + no] === UPSTREAM_FAILED;
  for (const no of waiting) {
    if (tasks.state[base + no] !== BLOCKED || !spec.tasks[no]!.needs.some(hasFailed)) continue;
    moveTask(state, base + no, UPSTREAM_FAILED);
    settleDownstream(state, base + no);
  }
}

/** The run is cancelled: what has not begun never will (I42). */
export function cancelUnbegun(state: State, run: number): void {
  const { tasks, runs } = state;
  const base = runs.base[run]!;
  const end = base + runs.versionOf(run).taskCount;
  for (let slot = base; slot < end; slot++) {
    const at = tasks.state[slot]!;
    if (at === BLOCKED || at === READY || at === RETRYING) moveTask(state, slot, CANCELLED);
  }
}
