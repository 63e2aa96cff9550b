/** What the live backfills of a working set may do next. */
import { isLiveBackfill } from '../../model/backfill.ts';
import type { BackfillUid, Instant, RunRow } from '../../model/ids.ts';
import { previousWindow, windowAfter } from '../../model/schedule/window-after.ts';
import { isOverRuns } from '../quota/run-quota.ts';
import { keyOfNew, mayHaveKey } from '../run/may-have-key.ts';
import type { State } from '../state.ts';
import type { Backfill } from './backfill.ts';

/** The windows that it decides next, in its order. */
export function nextWindows({ settings }: State, backfill: Backfill, most: number): readonly Instant[] {
  const { timetable, cursorAt, spec } = backfill;
  const found: Instant[] = [];
  if (timetable === null) return found;
  const { fromAt, toAt, order } = spec;
  const isForward = order === 'forward';
  let at: Instant | null = cursorAt ?? ((isForward ? fromAt - 1 : toAt + 1) as Instant);
  while (found.length < most) {
    // A backfill is not bound by the limit of firings: that counts what the schedule does by itself.
    at = isForward
      ? (windowAfter(timetable, at, settings.zoneData)?.at ?? null)
      : previousWindow(timetable, at, settings.zoneData);
    if (at === null || at > toAt || at < fromAt) break;
    found.push(at);
  }
  return found;
}

/**
 * Whether it may create a run now. A run that would have to wait for its dag, or for its key, is not created: those that wait go in the
 * order of their creation, and a live window would wait behind a backfill.
 */
export function mayMove(all: State, { state, isDone, liveRuns, spec, dagId, tenantId }: Backfill): boolean {
  const { dags, tenants, partial } = all;
  if (state !== 'running' || isDone || liveRuns >= spec.maxActive || tenants.isDeleted(tenantId)) return false;
  // Some of its runs may wait, and are not in memory yet.
  if (partial.has(dagId)) return false;
  const dag = dags.get(dagId);
  if (dag === undefined) return true;
  if (dag.isHalted || !dag.hasRoomForRun() || dag.waitingRuns.size > 0 || isOverRuns(all, dag)) return false;
  return mayHaveKey(all, dag, keyOfNew(dag.current, dag.paramsOfWindow(spec.schedule)));
}

/** One of its runs has begun (1) or ended (-1). */
export function countLive(state: State, run: RunRow, by: 1 | -1): void {
  countLiveOf(state, state.runs.notes.get(run)?.backfill, by);
}

/** The same for a run that is known by its row only. */
export function countLiveOf(state: State, uid: BackfillUid | undefined, by: 1 | -1): void {
  const backfill = uid === undefined ? undefined : state.backfills.get(uid);
  if (backfill === undefined) return;
  backfill.liveRuns += by;
  state.agenda.backfills.add(backfill);
}

/** Forgets those that are over, once the database shows it. */
export function forgetBackfills({ backfills, settledBatchNo }: State): void {
  for (const [uid, { state, overIn }] of backfills) {
    if (!isLiveBackfill(state) && overIn !== null && overIn <= settledBatchNo) backfills.delete(uid);
  }
}
