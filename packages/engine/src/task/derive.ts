/**
 * What the stored rows imply. A task has a row from its first claim on; before that, and when it will never be claimed,
 * its state follows from its run and from the rows of the others. This one function says how: for the engine when it
 * loads a run, for readers and pages when they show one (D4).
 */
import type { Graph } from '../dag/graph.ts';
import type { RunOutcome, RunPhase } from '../run/phase.ts';
import type { StoredTask } from '../stored.ts';
import type { TaskState } from './outcome.ts';
import {
  BLOCKED,
  CANCELLED,
  FAILED,
  READY,
  RETRYING,
  RUNNING,
  SUCCEEDED,
  TASK_STATE_NAMES,
  UPSTREAM_FAILED,
} from './task-table.ts';

export interface DerivedTasks {
  readonly state: Uint8Array;
  readonly unmet: Int32Array;
}

const STATE_OF_ROW = {
  running: RUNNING,
  returned: READY,
  retrying: RETRYING,
  succeeded: SUCCEEDED,
  failed: FAILED,
  cancelled: CANCELLED,
  /** As if it had never run: its upstream says what it is. */
  cleared: null,
} as const satisfies Record<StoredTask['state'], number | null>;

export function deriveTasks(
  graph: Graph,
  rows: readonly Pick<StoredTask, 'taskNo' | 'state'>[],
  run: { readonly phase: RunPhase; readonly outcome: RunOutcome | null },
): DerivedTasks {
  const state = new Uint8Array(graph.taskCount);
  const unmet = graph.upstreamCount.slice();
  for (const no of graph.roots) state[no] = READY;
  for (const row of rows) state[row.taskNo] = STATE_OF_ROW[row.state] ?? state[row.taskNo]!;
  for (const row of rows) {
    if (row.state === 'succeeded') countDown(graph, row.taskNo, state, unmet);
    // Behind a cancelled task everything is cancelled too, by the end of its run below.
    else if (row.state === 'failed') failDownstream(graph, row.taskNo, state);
  }
  if (run.outcome === 'cancelled') {
    for (let no = 0; no < state.length; no++) {
      if (state[no] === BLOCKED || state[no] === READY || state[no] === RETRYING) state[no] = CANCELLED;
    }
  }
  return { state, unmet };
}

/** The states by name, for readers. */
export function deriveTaskStates(
  graph: Graph,
  rows: readonly Pick<StoredTask, 'taskNo' | 'state'>[],
  run: { readonly phase: RunPhase; readonly outcome: RunOutcome | null },
): TaskState[] {
  return Array.from(deriveTasks(graph, rows, run).state, (code) => TASK_STATE_NAMES[code]!);
}

function countDown(graph: Graph, from: number, state: Uint8Array, unmet: Int32Array): void {
  for (let i = graph.downstreamStart[from]!; i < graph.downstreamStart[from + 1]!; i++) {
    const no = graph.downstream[i]!;
    unmet[no]! -= 1;
    if (unmet[no] === 0 && state[no] === BLOCKED) state[no] = READY;
  }
}

function failDownstream(graph: Graph, from: number, state: Uint8Array): void {
  const stack = [from];
  for (let task = stack.pop(); task !== undefined; task = stack.pop()) {
    for (let i = graph.downstreamStart[task]!; i < graph.downstreamStart[task + 1]!; i++) {
      const no = graph.downstream[i]!;
      if (state[no] !== BLOCKED) continue;
      state[no] = UPSTREAM_FAILED;
      stack.push(no);
    }
  }
}
