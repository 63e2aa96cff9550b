/**
 * Tasks that depend on the past wait for the same task of the window before: the newest earlier window of the schedule that has
 * a run. Which one that is, is found once, after the run was created, and stored with the run. From then on the run waits for that
 * window, whichever of its runs makes it good. A task lets the next one go on if it has succeeded or was skipped; if it failed, the
 * next one waits until somebody clears or marks it. A task that the earlier run did not have is not waited for, nor is a run that
 * is no longer stored.
 */
import { assert } from '../../model/assert.ts';
import { type Instant, type RunId, type RunRow, type RunUid, scheduleIdOf } from '../../model/ids.ts';
import { type PastNote, readRunNotes } from '../../model/run/run-notes.ts';
import type { Need, PastKey, StoredRun } from '../../model/stored.ts';
import { HOLDS_CLAIM, IS_DUE, SKIPPED, SUCCEEDED } from '../../model/task/task-states.ts';
import { windowName } from '../../model/window-name.ts';
import { deriveTasks } from '../../propagate/derive.ts';
import { Version } from '../../tables/dag/dag.ts';
import { isHeldByPast, lookAgainLater, waitersFor } from '../../tables/past/past.ts';
import { ADMITTED, OPEN } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import { forEachSlot } from '../../tables/task/task-slots.ts';
import { FIRST_SLOT, slotAt } from '../../tables/task/task-table.ts';
import type { Recorder } from '../recorder.ts';
import { seenVersion } from '../run/reopen.ts';

/** Runs whose past one tick looks for. Each costs the database a look into each partition. */
const LOOK = 32;
/** Until a batch in flight is committed. */
const SOON_MS = 5;

/** When a tick is due for this; null when nothing waits for one. */
export function pastDue({ past, mono, settledBatchNo }: State): number | null {
  if (past.doubtful.size > 0) return mono;
  if (past.unlinked.size === 0) return null;
  for (const run of past.unlinked) if (past.get(run)!.createdIn <= settledBatchNo) return mono;
  return mono + SOON_MS;
}

/** What a tick has to see. */
export function* pastNeeds(state: State): Generator<Need> {
  for (const run of toLink(state)) yield { kind: 'past', ...shardOf(state, run), ...keyOf(state, run) };
  for (const run of doubtful(state)) {
    const { dagId, scheduleNo } = keyOf(state, run);
    const at = [state.past.get(run)!.waitsFor!.at];
    yield { kind: 'windows', ...shardOf(state, run), dagId, schedule: scheduleNo, at };
  }
}

function shardOf({ runs }: State, run: RunRow) {
  return { shard: runs.versionOf(run).dag.shard };
}

/** A window that is known already is the newest one before the instant after it. */
function keyOf({ runs, past }: State, run: RunRow): PastKey {
  const scheduleNo = runs.scheduleNoOf(run);
  const known = past.get(run)?.waitsFor ?? null;
  const before = known === null ? runs.windows.get(run)!.at : ((known.at + 1) as Instant);
  return { dagId: runs.versionOf(run).dag.id, scheduleNo, before };
}

function toLink({ past, settledBatchNo }: State): RunRow[] {
  const found: RunRow[] = [];
  for (const run of past.unlinked) {
    if (found.length === LOOK) break;
    if (past.get(run)!.createdIn <= settledBatchNo) found.push(run);
  }
  return found;
}

const doubtful = ({ past }: State): RunRow[] => [...past.doubtful].slice(0, LOOK);

/** With a tick: finds what runs wait for, and lets go those whose past is no longer stored. */
export function linkPasts(recorder: Recorder): void {
  const { state } = recorder;
  if (!state.past.isUsed) return;
  // The same ones as those that `pastNeeds` named, and those that became due since are not seen.
  for (const run of [...state.past.unlinked]) {
    if (recorder.isFull()) return;
    const seen = recorder.pasts.get(pastName(keyOf(state, run)));
    if (seen === undefined) continue;
    const { found } = seen;
    const { waitsFor } = state.past.get(run)!;
    const source = found === null ? null : sourceOf(recorder, found.runId);
    // What it waits for is known, and is no longer stored.
    if (waitsFor !== null && found?.at !== waitsFor.at) recordLeft(recorder, run, []);
    else if (found === null) record(recorder, run, { at: null, left: [] });
    // Fetched together with its run, and so always known.
    else if (source !== null) {
      record(recorder, run, { at: found.at, run: source.uid, left: leftAfter(state, run, source) });
    }
  }
  for (const run of [...state.past.doubtful]) {
    const { dagId, scheduleNo } = keyOf(state, run);
    const { at } = state.past.get(run)!.waitsFor!;
    const window = recorder.windows.get(windowName(scheduleIdOf({ dagId, scheduleNo }), at));
    if (window === undefined) continue;
    state.past.doubtful.delete(run);
    if (window.run === null) recordLeft(recorder, run, []);
    else lookAgainLater(state, run);
  }
}

export const pastName = ({ dagId, scheduleNo, before }: PastKey): string => `${dagId}/${scheduleNo}/${before}`;

/** At the end of a step: tasks of these runs have ended, and others wait for their window. */
export function checkPasts(recorder: Recorder): void {
  const { state } = recorder;
  for (const run of state.agenda.past) {
    if (recorder.isFull()) return;
    state.agenda.past.delete(run);
    for (const waiter of [...(waitersFor(state, run) ?? [])]) {
      const hold = state.past.get(waiter)!;
      const left = leftAfter(state, waiter, inMemory(state, run));
      if (left.length < hold.left.size) recordLeft(recorder, waiter, left);
    }
  }
}

/** It waits for the same window as before. */
function recordLeft(recorder: Recorder, run: RunRow, left: readonly number[]): void {
  const { past } = readRunNotes(recorder.state.runs.notes.get(run));
  assert(past !== undefined, 'a run that waits for a window has a note of it');
  record(recorder, run, { ...past, left });
}

function record(recorder: Recorder, run: RunRow, past: PastNote): void {
  const { runs, now } = recorder.state;
  const notes = JSON.stringify({ ...readRunNotes(runs.notes.get(run)), past });
  recorder.record({ kind: 'PastChecked', runId: runs.id[run]!, notes, at: now });
}

/** A run that others wait for. */
interface Source {
  readonly uid: RunUid;
  readonly version: Version;
  /** By number in the spec. */
  readonly codeOf: (no: number) => number;
}

function inMemory({ runs, tasks }: State, run: RunRow): Source {
  const base = runs.base[run]!;
  return { uid: runs.uidOf(run), version: runs.versionOf(run), codeOf: (no) => tasks.state[slotAt(base, no)]! };
}

function sourceOf(recorder: Recorder, runId: RunId): Source | null {
  const { state } = recorder;
  const run = state.runs.find(runId);
  if (run >= 0) return inMemory(state, run);
  const stored = recorder.endedRuns.get(runId);
  return stored === undefined ? null : asStored(recorder, stored);
}

function asStored(recorder: Recorder, stored: StoredRun): Source | null {
  const dag = recorder.state.dags.get(stored.dagId);
  const found = seenVersion(recorder, stored);
  if (dag === undefined || found === undefined) return null;
  const deployed = dag.versions.get(stored.versionNo) ?? new Version(dag, found.versionNo, found.hash, found.spec);
  const version = deployed.upTo(readRunNotes(stored.notes).until).grown(stored.added);
  const { columns } = deriveTasks(version.graph, stored.tasks, stored);
  return { uid: stored.uid, version, codeOf: (no) => columns.state[slotAt(FIRST_SLOT, no)]! };
}

const isGood = (code: number): boolean => code === SUCCEEDED || code === SKIPPED;

/** Those tasks of the run that still wait, given what has become of the tasks of the other. */
function leftAfter({ runs, past }: State, run: RunRow, source: Source): number[] {
  const { left } = past.get(run)!;
  const { spec } = runs.versionOf(run);
  return [...left].filter((no) => {
    const { name, past: how } = spec.tasks[no]!;
    const there = source.version.numberOf(name);
    if (there === undefined) return false;
    if (!isGood(source.codeOf(there))) return true;
    return how === 'downstream' && !isFinishedBelow(source, there);
  });
}

/** The tasks directly downstream, but for those that close the run. */
function isFinishedBelow({ version, codeOf }: Source, no: number): boolean {
  const { graph } = version;
  return graph.below(no).every((below) => graph.closing?.has(below) === true || isGood(codeOf(below)));
}

/** The run has nothing to do but wait for the past: it may give up its place. */
export function isIdle(state: State, run: RunRow): boolean {
  const { runs, tasks, past } = state;
  if (past.get(run) === undefined || runs.phase[run] !== OPEN || !runs.has(run, ADMITTED)) return false;
  if (runs.running[run]! > 0) return false;
  let isBusy = false;
  forEachSlot(state, run, (slot) => {
    const code = tasks.state[slot]!;
    if (HOLDS_CLAIM[code] === 1 || (IS_DUE[code] === 1 && !isHeldByPast(state, slot))) isBusy = true;
  });
  return !isBusy;
}
