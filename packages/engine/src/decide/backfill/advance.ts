/**
 * Moves backfills on: looks at their next windows, creates a run for those that need one, and commits the cursor with them. What
 * runs the windows have is fetched with the tick (`needs.ts`).
 */
import { bitsOf } from '../../model/chance.ts';
import { untilFaultText } from '../../model/dag/until.ts';
import { type Instant, makeRunUid, type RunUid } from '../../model/ids.ts';
import type { Backfill } from '../../tables/backfill/backfill.ts';
import { mayMove, nextWindows } from '../../tables/backfill/backfills.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import type { State } from '../../tables/state.ts';
import { mayCreate } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { createWindowRun } from '../run/create.ts';
import { newestRun, type WindowRun } from '../schedule/newest-run.ts';
import { stopBackfill } from './end.ts';

/** Windows that are looked at in one step. Each costs the database one look into each partition. */
const LOOK = 32;

/** Some backfill may go on: the next tick is due at once. */
export function isBackfillDue(state: State): boolean {
  if (state.backfills.size === 0) return false;
  for (const backfill of state.backfills.values()) if (mayMove(state, backfill)) return true;
  return false;
}

/** The windows that a tick looks at. */
export function* windowsToSee(
  state: State,
): Generator<{ readonly backfill: Backfill; readonly at: readonly Instant[] }> {
  for (const backfill of state.backfills.values()) {
    if (mayMove(state, backfill)) yield { backfill, at: nextWindows(state, backfill, LOOK) };
  }
}

export function advanceBackfills(recorder: Recorder): void {
  const { state } = recorder;
  if (state.backfills.size === 0) return;
  for (const backfill of state.backfills.values()) {
    if (recorder.isFull()) return;
    const dag = state.dags.get(backfill.dagId);
    // A dag that is not in memory comes with the next tick.
    if (dag !== undefined && mayMove(state, backfill)) advance(recorder, backfill, dag);
  }
}

function advance(recorder: Recorder, backfill: Backfill, dag: Dag): void {
  const { state } = recorder;
  const { spec, timetable } = backfill;
  if (timetable === null) return stopBackfill(recorder, backfill, 'Its schedule cannot be read.');
  // A version that came since may have lost the task.
  const fault = spec.until === undefined ? null : untilFaultText(dag.current.spec, spec.until);
  if (fault !== null) return stopBackfill(recorder, backfill, `Its runs cannot go up to ${spec.until}: ${fault}.`);
  const windows = nextWindows(state, backfill, LOOK);
  let { cursorAt, createdCount, skippedCount } = backfill;
  let decided = 0;
  for (const at of windows) {
    const newest = newestRun(recorder, backfill.scheduleId, at);
    if (newest === undefined || recorder.isFull() || !mayMove(state, backfill)) break;
    if (wants(backfill, newest)) {
      if (!mayCreate(recorder, dag)) break;
      createBackfillRun(recorder, { backfill, dag, at, isFirst: newest === null });
      createdCount += 1;
    } else skippedCount += 1;
    cursorAt = at;
    decided += 1;
  }
  const isDone = windows.length < LOOK && decided === windows.length;
  if (decided === 0 && !isDone) return;
  const { shard, uid, dagId } = backfill;
  const moved = { shard, uid, dagId, cursorAt, createdCount, skippedCount, isDone, at: state.now };
  recorder.record({ kind: 'BackfillMoved', ...moved });
}

/** A window whose newest run is live is left to that run. */
function wants({ spec }: Backfill, newest: WindowRun | null): boolean {
  if (newest === null) return spec.which !== 'failed';
  if (newest.isLive || spec.which === 'missing') return false;
  return spec.which === 'all' || newest.outcome === 'failed';
}

interface NewBackfillRun {
  readonly backfill: Backfill;
  readonly dag: Dag;
  readonly at: Instant;
  /** The window has no run yet: this one is found by its window, as one that the schedule makes. */
  readonly isFirst: boolean;
}

function createBackfillRun(recorder: Recorder, { backfill, dag, at, isFirst }: NewBackfillRun): void {
  const { uid, spec, actor, timetable } = backfill;
  createWindowRun(recorder, dag, {
    at,
    timetable: timetable!,
    scheduleNo: spec.scheduleNo,
    spec: spec.schedule,
    cause: 'backfill',
    actor,
    backfill: uid,
    ...(isFirst ? {} : { uid: uidOfNext(recorder.state, backfill, at) }),
    ...(spec.until === undefined ? {} : { until: spec.until }),
  });
}

function uidOfNext({ now, seed }: State, { shard, uid, dagId }: Backfill, at: Instant): RunUid {
  const own = Number.parseInt(uid.slice(0, 8) + uid.slice(9, 13), 16);
  return makeRunUid(shard, now, bitsOf(48, seed, dagId, at, own), bitsOf(26, seed, at, own, 13));
}
