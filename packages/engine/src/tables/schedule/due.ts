/**
 * Which schedules are in memory. The far future is in the database: a schedule is fetched some minutes before it is due, or when a
 * command names it, and leaves memory once its next window is further away and the database shows that.
 */
import { RESIDENT } from '../../model/change/schedule.ts';
import { type DagId, type Instant, MAX_SCHEDULE_NO, type ScheduleNo } from '../../model/ids.ts';
import { waitsForOthers } from '../../model/schedule/schedule-policy.ts';
import type { DueCursor } from '../../model/stored.ts';
import type { State } from '../state.ts';
import type { Schedule } from './schedule.ts';
import { nextOf } from './watch-schedule.ts';

const UTC = 'UTC';

/** After all that is due at this instant. */
export function endOfInstant(dueAt: Instant): DueCursor {
  return { dueAt, dagId: Number.MAX_SAFE_INTEGER as DagId, scheduleNo: MAX_SCHEDULE_NO as ScheduleNo };
}

/** When somebody must look at the schedule again; null: never, as it is. */
export function dueAtOf(state: State, schedule: Schedule): Instant | null {
  if (mustStay(state, schedule)) return RESIDENT;
  if (schedule.paused || schedule.fault !== null) return null;
  const zone = schedule.timetable?.zone ?? UTC;
  if (zone !== UTC && state.settings.isZoneSure?.(zone) === false) return RESIDENT;
  // How late it fires by the jitter of the cluster is not stored: that may be lowered meanwhile.
  const isLateByDefault = schedule.spec.jitterMs === undefined && (state.settings.defaultJitterMs?.() ?? 0) > 0;
  if (schedule.watch !== null && !isLateByDefault) return schedule.watch.at as Instant;
  return nextOf(state, schedule, schedule.decidedUntil)?.[isLateByDefault ? 'at' : 'firesAt'] ?? null;
}

/**
 * Its runs that wait ask for its policy whenever another run ends, because they do not say it themselves (I7). Servers of the version
 * before create such runs. When none is left, one of its own may still wait: so a schedule that was in memory at all times stays until
 * no run of its dag waits.
 */
export function mustStay({ settings, partial, dags }: State, { spec, dueAt, dagId }: Schedule): boolean {
  if (!waitsForOthers(spec)) return false;
  if (settings.areWaitsTold?.() === false) return true;
  // Which runs wait is known once all of them are loaded. One that was not in memory at all times has none that does not say so.
  return dueAt === RESIDENT && (partial.has(dagId) || dags.get(dagId)?.waitingRuns.size !== 0);
}

/** It is not needed in memory: the walk over due schedules has not come to its place yet, and will fetch it there. */
function isFar({ shards }: State, { dueAt, shard, dagId, scheduleNo }: Schedule): boolean {
  if (dueAt === null) return true;
  const { nearAfter } = shards.get(shard)!;
  if (dueAt !== nearAfter.dueAt) return dueAt > nearAfter.dueAt;
  return dagId === nearAfter.dagId ? scheduleNo > nearAfter.scheduleNo : dagId > nearAfter.dagId;
}

/** It was used in this batch. What is not due soon is forgotten once the batch is settled. */
export function useSchedule(state: State, schedule: Schedule): void {
  schedule.usedIn = state.batchNo;
  state.schedules.idle.add(schedule);
}

/** At the end of a step, as for everything that is forgotten: what `needs` found in memory must still be there. */
export function forgetFarSchedules(state: State): void {
  const { schedules, settledBatchNo } = state;
  for (const schedule of schedules.idle) {
    if (schedule.usedIn > settledBatchNo) continue;
    schedules.idle.delete(schedule);
    // Until its next due time is looked at, its row may not show the windows that were decided (`late-moves.ts` of the store).
    if (!schedules.toPark.has(schedule) && isFar(state, schedule)) schedules.remove(schedule);
  }
}
