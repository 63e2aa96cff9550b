/**
 * What the stored rows imply. A task has a row from its first claim on. Before that, and if it is never claimed, its state
 * follows from its run and from the rows of other tasks. This one function computes it: for the engine when it loads a run,
 * and for readers and pages when they show one (D4).
 */

import type { Graph } from '../model/dag/graph.ts';
import type { TaskSlot } from '../model/ids.ts';
import { type RunNotes, readRunNotes } from '../model/run/run-notes.ts';
import type { StoredMap, StoredRun, StoredTask } from '../model/stored.ts';
import { errorOfExpiry, RunFacts } from '../model/task/facts.ts';
import { readNotes, type TaskNotes } from '../model/task/notes.ts';
import {
  AWAITS_ATTEMPT,
  CANCELLED,
  IS_TERMINAL,
  isFollowedRow,
  RUNNING,
  rowDecides,
  stateOfRow,
  TASK_STATE_NAMES,
  type TaskState,
  WAITING,
} from '../model/task/task-states.ts';
import { RUN_SCOPE, RunMaps } from '../tables/map/run-maps.ts';
import { FIRST_SLOT, slotAt } from '../tables/task/task-table.ts';
import { allClosers } from './closers.ts';
import { decideClosingAnew } from './closing.ts';
import { expandMap, unfoldMap } from './map/expand.ts';
import { summariseAll } from './map/tally.ts';
import { faultOf } from './ordinary-verdict.ts';
import {
  type Columns,
  OPEN_STANDING,
  type RunTasksView,
  resetCounts,
  type Standing,
  slotIn,
  specIn,
} from './run-tasks-view.ts';
import { decideAndSettle, settle, settleRoots } from './settle.ts';

/** Tasks of the spec come first in the columns; those that maps have made are where `maps` says. */
export interface DerivedTasks {
  readonly columns: Columns;
  readonly facts: RunFacts | undefined;
  readonly maps: RunMaps | null;
}

export type DerivableTask = Pick<StoredTask, 'taskNo' | 'state' | 'facts' | 'attemptNo' | 'notes'>;

export type DerivableRun = Pick<StoredRun, 'phase' | 'outcome' | 'isForced' | 'facts' | 'maps'> & {
  readonly notes?: string | RunNotes;
};

/** `noOf`: the number of the task in each slot that a map has taken. */
type DerivedField = RunTasksView & { readonly noOf: Int32Array };

export function deriveTasks(graph: Graph, rows: readonly DerivableTask[], run: DerivableRun): DerivedTasks {
  const stored = run.maps ?? [];
  const isPlain = graph.isPlain && !rows.some(({ state }) => state === 'skipped');
  const view = viewOf(graph, readFacts(rows, run, graph), roomFor(graph, stored), isPlain);
  const { columns, maps } = view;
  if (maps !== null) unfoldStored(view, stored);
  for (const row of rows) {
    const slot = slotIn(view, row.taskNo);
    // Rows of a map that was removed are history.
    if (slot < 0) continue;
    const code = stateOfRow(row.state);
    const isCall = graph.isCall?.[specIn(view, row.taskNo)] === 1;
    columns.state[slot] = code === RUNNING && isCall ? WAITING : code;
  }
  maps?.forEachSlot((slot, no) => {
    if (IS_TERMINAL[columns.state[slot]!] === 1) maps.countOver(no, 1);
  });
  settleRoots(view);
  maps?.forEachSlot((_, no) => decideAndSettle(view, no));
  for (const row of rows) {
    if (rowDecides(row.state) && slotIn(view, row.taskNo) >= 0) settle(view, row.taskNo);
  }
  // Closed with tasks left: they were cancelled with it, by hand or by its policy.
  const { outcome, isForced } = run;
  const closed: RunTasksView =
    run.phase === 'open' ? view : { ...view, standing: { ...OPEN_STANDING, outcome, isForced } };
  if (closed !== view) cancelLeft(closed);
  if (graph.closing !== null) deriveClosing(closed, rows, run);
  return { columns, facts: view.facts, maps };
}

function cancelLeft(view: RunTasksView): void {
  const { graph, columns, maps, move, standing } = view;
  const cancel = (slot: TaskSlot, no: number) => {
    if (!standing.isForced && graph.closing?.has(specIn(view, no)) === true) return;
    const at = columns.state[slot]!;
    if (AWAITS_ATTEMPT[at] === 1) move(slot, CANCELLED);
  };
  for (let no = 0; no < graph.taskCount; no++) cancel(slotAt(view.base, no), no);
  maps?.forEachSlot(cancel);
  if (maps !== null) summariseAll(view);
}

/** After all others: nothing ordinary depends on them. */
function deriveClosing(view: RunTasksView, rows: readonly DerivableTask[], run: DerivableRun): void {
  const closing = view.graph.closing!;
  const { state } = view.columns;
  const { taskCount } = view.graph;
  const bySlot = new Map(rows.map((row) => [slotIn(view, row.taskNo), row]));
  const begun = new Map([...bySlot].filter(([, row]) => row.state !== 'cleared'));
  const runNotes = readRunNotes(run.notes);
  let isBusy = false;
  const look = (slot: TaskSlot, no: number) => {
    if (IS_TERMINAL[state[slot]!] === 0 && !closing.has(specIn(view, no))) isBusy = true;
  };
  for (let no = 0; no < taskCount; no++) look(slotAt(view.base, no), no);
  view.maps?.forEachSlot(look);
  const standing: Standing = {
    ...view.standing,
    isBusy,
    slowOf: (slot) =>
      (slot === null ? runNotes.slowTimes : notesIn(bySlot.get(slot)?.notes)?.slowAttempts?.length) ?? 0,
    retriesOf: (slot) => {
      if (slot === null) return runNotes.reopens ?? 0;
      const row = bySlot.get(slot);
      if (row === undefined) return 0;
      const attemptNo = row.attemptNo - (notesIn(row.notes)?.endedBeside ?? 0);
      return isFollowedRow(row.state) ? attemptNo : Math.max(0, attemptNo - 1);
    },
    hadBegun: (slot) => {
      const row = begun.get(slot);
      return row !== undefined && row.attemptNo > (row.state === 'returned' ? 1 : 0);
    },
  };
  decideClosingAnew({ ...view, standing }, allClosers(view), (slot) => begun.has(slot));
}

function notesIn(notes: string | null | undefined): TaskNotes | undefined {
  return notes == null ? undefined : readNotes(notes);
}

/** The states by name, for readers; of a mapped task what all its instances come to. */
export function deriveTaskStates(graph: Graph, rows: readonly DerivableTask[], run: DerivableRun): TaskState[] {
  const { state } = deriveTasks(graph, rows, run).columns;
  return Array.from({ length: graph.taskCount }, (_, no) => TASK_STATE_NAMES[state[slotAt(FIRST_SLOT, no)]!]!);
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
  const note = (no: number) => {
    const fault = claimed.has(no) ? null : faultOf({ graph, base: FIRST_SLOT, ...derived }, no);
    if (fault !== null) faults.set(no, fault);
  };
  const claimed = new Set<number>(rows.filter(({ state }) => state !== 'cleared').map(({ taskNo }) => taskNo));
  for (let no = 0; no < graph.taskCount; no++) {
    note(no);
  }
  derived.maps?.forEachSlot((_, no) => note(no));
  return faults;
}

/** What was expanded, and as far as it was, before anything had ended: what follows finds all of it there. */
function unfoldStored({ noOf, ...view }: DerivedField, stored: readonly StoredMap[]): void {
  const maps = view.maps!;
  let base = view.graph.taskCount;
  const allocate = (length: number, firstNo: number) => {
    for (let i = 0; i < length; i++) noOf[base + i] = firstNo + i;
    base += length;
    return slotAt(FIRST_SLOT, base - length);
  };
  for (const { group, scope, firstNo, total, unfolded, isRemoved } of stored) {
    // With a map goes what expanded in its instances.
    if (isRemoved || (scope !== null && maps.holding(scope) === undefined)) {
      maps.reserve(firstNo, group, total);
      continue;
    }
    const expansion = expandMap(view, { group, scope: scope ?? RUN_SCOPE, firstNo, total });
    if (unfolded > 0) unfoldMap(view, expansion, unfolded, allocate);
  }
}

/** Pages are taken whole: the last one that is begun may go beyond what is unfolded. */
function roomFor({ maps }: Graph, stored: readonly StoredMap[]): number {
  let room = 0;
  for (const { group, total, unfolded, isRemoved } of stored) {
    if (!isRemoved && unfolded > 0) room += total * (maps?.groups[group]?.members.length ?? 0);
  }
  return room;
}

function viewOf(graph: Graph, facts: RunFacts | undefined, mappedCount: number, isPlain: boolean): DerivedField {
  const { taskCount } = graph;
  const room = taskCount + mappedCount;
  const columns: Columns = {
    state: new Uint8Array(room),
    unmet: new Int32Array(room),
    upSucceeded: new Int32Array(room),
    upFailed: new Int32Array(room),
    upUpstreamFailed: new Int32Array(room),
    upSkipped: new Int32Array(room),
  };
  for (let no = 0; no < taskCount; no++) resetCounts(columns, slotAt(FIRST_SLOT, no), graph.upstreamCount[no]!);
  const maps = graph.maps === null ? null : new RunMaps(graph.maps, graph.room);
  const noOf = new Int32Array(room);
  const move = (slot: TaskSlot, to: number) => {
    const isOver = IS_TERMINAL[to] === 1;
    if (slot >= taskCount && isOver !== (IS_TERMINAL[columns.state[slot]!] === 1)) {
      maps!.countOver(noOf[slot]!, isOver ? 1 : -1);
    }
    columns.state[slot] = to;
  };
  return { graph, columns, base: FIRST_SLOT, facts, isPlain, maps, move, standing: OPEN_STANDING, isQuiet: true, noOf };
}

function readFacts(rows: readonly DerivableTask[], run: DerivableRun, graph: Graph): RunFacts | undefined {
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
  if (graph.tellsError === null) return facts;
  for (const { taskNo, state, notes } of rows) {
    const by = state === 'expired' ? notesIn(notes)?.expired?.by : undefined;
    if (by === undefined) continue;
    facts ??= new RunFacts();
    facts.setError(taskNo, errorOfExpiry(by));
  }
  return facts;
}
