/**
 * What the stored rows imply. A task has a row from its first claim on; before that, and when it will never be claimed,
 * its state follows from its run and from the rows of the others. This one function says how: for the engine when it
 * loads a run, for readers and pages when they show one (D4).
 */
import type { Graph } from '../dag/graph.ts';
import type { StoredRun, StoredTask } from '../stored.ts';
import { decideClosingAnew, OPEN_STANDING, type Standing } from './closing.ts';
import { RunFacts } from './facts.ts';
import type { TaskState } from './outcome.ts';
import { type Columns, type Field, faultOf, resetCounts, settle, settleRoots } from './settle.ts';
import {
  BLOCKED,
  CANCELLED,
  FAILED,
  READY,
  RETRYING,
  RUNNING,
  SUCCEEDED,
  TASK_STATE_NAMES,
  WAITING,
} from './task-table.ts';

export interface DerivedTasks {
  readonly columns: Columns;
  readonly facts: RunFacts | undefined;
}

export type DerivableTask = Pick<StoredTask, 'taskNo' | 'state' | 'facts' | 'attemptNo'>;
export type DerivableRun = Pick<StoredRun, 'phase' | 'outcome' | 'isForced' | 'facts'>;

const STATE_OF_ROW = {
  running: RUNNING,
  returned: READY,
  retrying: RETRYING,
  succeeded: SUCCEEDED,
  failed: FAILED,
  cancelled: CANCELLED,
  /** As if it had never run: its upstream says what it is. */
  cleared: BLOCKED,
} as const satisfies Record<StoredTask['state'], number>;

export function deriveTasks(graph: Graph, rows: readonly DerivableTask[], run: DerivableRun): DerivedTasks {
  const field = fieldOf(graph, readFacts(rows, run));
  const { state } = field.columns;
  for (const row of rows) {
    const code = STATE_OF_ROW[row.state];
    state[row.taskNo] = code === RUNNING && graph.isCall?.[row.taskNo] === 1 ? WAITING : code;
  }
  settleRoots(field);
  for (const row of rows) if (row.state === 'succeeded' || row.state === 'failed') settle(field, row.taskNo);
  // Closed with tasks left: they were cancelled with it, by hand or by its policy.
  if (run.phase !== 'open') cancelLeft(graph, state, run.isForced);
  if (graph.closing !== null) deriveClosing(field, rows, run);
  return { columns: field.columns, facts: field.facts };
}

function cancelLeft({ closing }: Graph, state: Columns['state'], closingToo: boolean): void {
  for (let no = 0; no < state.length; no++) {
    if (!closingToo && closing?.has(no) === true) continue;
    if (state[no] === BLOCKED || state[no] === READY || state[no] === RETRYING) state[no] = CANCELLED;
  }
}

/** After all others: nothing ordinary depends on them. */
function deriveClosing(field: Field, rows: readonly DerivableTask[], run: DerivableRun): void {
  const closing = field.graph.closing!;
  const { state } = field.columns;
  const begun = new Map(rows.flatMap((row) => (row.state === 'cleared' ? [] : [[row.taskNo as number, row]])));
  let isBusy = false;
  for (let no = 0; no < state.length; no++) if (state[no]! < SUCCEEDED && !closing.has(no)) isBusy = true;
  const standing: Standing = {
    outcome: run.phase === 'open' ? null : run.outcome,
    isForced: run.isForced,
    isBusy,
    hadBegun: (no) => {
      const row = begun.get(no);
      return row !== undefined && row.attemptNo > (row.state === 'returned' ? 1 : 0);
    },
  };
  const all = closing.tasks.map(({ no }) => no);
  decideClosingAnew({ ...field, standing }, all, (no) => begun.has(no));
}

/** The states by name, for readers. */
export function deriveTaskStates(graph: Graph, rows: readonly DerivableTask[], run: DerivableRun): TaskState[] {
  return Array.from(deriveTasks(graph, rows, run).columns.state, (code) => TASK_STATE_NAMES[code]!);
}

/** Why tasks failed that never had an attempt, by their number. */
export function deriveFaults(
  graph: Graph,
  rows: readonly DerivableTask[],
  run: DerivableRun,
): ReadonlyMap<number, string> {
  const faults = new Map<number, string>();
  if (graph.isPlain) return faults;
  const derived = deriveTasks(graph, rows, run);
  const claimed = new Set<number>(rows.filter(({ state }) => state !== 'cleared').map(({ taskNo }) => taskNo));
  for (let no = 0; no < graph.taskCount; no++) {
    const fault = claimed.has(no) ? null : faultOf({ graph, base: 0, ...derived }, no);
    if (fault !== null) faults.set(no, fault);
  }
  return faults;
}

function fieldOf(graph: Graph, facts: RunFacts | undefined): Field {
  const { taskCount } = graph;
  const columns: Columns = {
    state: new Uint8Array(taskCount),
    unmet: new Int32Array(taskCount),
    upFailed: new Uint16Array(taskCount),
    upUpstreamFailed: new Uint16Array(taskCount),
    upSkipped: new Uint16Array(taskCount),
  };
  for (let no = 0; no < taskCount; no++) resetCounts(columns, no, graph.upstreamCount[no]!);
  const move = (no: number, to: number) => {
    columns.state[no] = to;
  };
  return { graph, columns, base: 0, facts, move, standing: OPEN_STANDING, isQuiet: true };
}

function readFacts(rows: readonly DerivableTask[], run: DerivableRun): RunFacts | undefined {
  let facts: RunFacts | undefined;
  if (run.facts !== null) {
    facts = new RunFacts();
    facts.setParams(run.facts);
  }
  for (const { taskNo, facts: text } of rows) {
    if (text === null) continue;
    facts ??= new RunFacts();
    facts.setTask(taskNo, text);
  }
  return facts;
}
