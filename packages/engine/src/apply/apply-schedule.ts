import { assert } from '../model/assert.ts';
import { RESIDENT } from '../model/change/schedule.ts';
import type { ScheduleChange, ScheduleRemoved, ScheduleSet, ZonesApplied } from '../model/change.ts';
import { type DagId, type ScheduleNo, scheduleIdOf } from '../model/ids.ts';
import { useSchedule } from '../tables/schedule/due.ts';
import { makeSchedule, type Schedule } from '../tables/schedule/schedule.ts';
import { watchAt, watchSchedule } from '../tables/schedule/watch-schedule.ts';
import type { State } from '../tables/state.ts';

export function applySchedule(state: State, change: ScheduleChange): void {
  if (change.kind === 'ZonesApplied') return restoreZones(state, change);
  // What is decided stays decided; why nothing ran is for people.
  if (change.kind === 'WindowSkipped') return;
  const known = knownSchedule(state, change);
  switch (change.kind) {
    case 'ScheduleSet': {
      assert(
        change.revision === (known?.revision ?? change.revision - 1) + 1,
        'revisions of a schedule rise one by one (I6)',
      );
      assert(change.decidedUntil >= (known?.decidedUntil ?? 0), 'what is decided stays decided (I1)');
      assert(
        (state.schedules.named(change.dagId, change.name)?.scheduleNo ?? change.scheduleNo) === change.scheduleNo,
        'a name is that of one schedule',
      );
      const schedule = makeSchedule(change);
      state.schedules.put(schedule);
      // What was decided says when it is due: to compute it once is enough.
      if (change.dueAt === null || change.dueAt === RESIDENT) watchSchedule(state, schedule);
      else watchAt(state, schedule, change.dueAt);
      useSchedule(state, schedule);
      noteNumber(state, change);
      return;
    }
    case 'ScheduleRemoved':
      assert(known !== undefined, 'a schedule that is removed is there');
      state.schedules.remove(known);
      state.recentlyRemoved.set(known.id, state.batchNo);
      keepDecided(state, change);
      return;
    case 'ScheduleParked':
      assert(known !== undefined, 'a schedule that is parked is in memory');
      assert(change.decidedUntil >= known.decidedUntil, 'what is decided stays decided (I1)');
      known.dueAt = change.dueAt;
      known.decidedUntil = change.decidedUntil;
      useSchedule(state, known);
      return;
    case 'WindowDecided':
      assert(known !== undefined, 'a window belongs to a schedule');
      assert(change.untilAt > known.decidedUntil || change.skipped === 'gap', 'a window is decided once (I1)');
      if (change.runId !== null) known.lastWindowAt = change.firesAt;
      if (change.untilAt > known.decidedUntil) known.decidedUntil = change.untilAt;
      if (change.runId !== null) known.fired += 1;
  }
}

/** Nearly always the one that is being decided: that spares a look-up among all that are in memory. */
function knownSchedule(
  { schedules, currentSchedule }: State,
  change: { readonly dagId: DagId; readonly scheduleNo: ScheduleNo },
): Schedule | undefined {
  const isCurrent = currentSchedule?.dagId === change.dagId && currentSchedule.scheduleNo === change.scheduleNo;
  return isCurrent && currentSchedule.isKept ? currentSchedule : schedules.get(scheduleIdOf(change));
}

export function restoreZones({ shards }: State, { shard, version }: Pick<ZonesApplied, 'shard' | 'version'>): void {
  const known = shards.get(shard);
  if (known !== undefined) known.zoneVersion = version;
}

/** A number that was given is not given again. */
function noteNumber(state: State, { dagId, scheduleNo }: ScheduleSet): void {
  const dag = state.dags.get(dagId);
  if (dag === undefined || scheduleNo <= dag.lastScheduleNo) return;
  dag.lastScheduleNo = scheduleNo;
  dag.touchedIn = state.batchNo;
}

function keepDecided(state: State, { dagId, decidedUntil }: ScheduleRemoved): void {
  const dag = state.dags.get(dagId);
  assert(dag !== undefined, 'a schedule is removed from a dag in memory');
  dag.windowsUntil = Math.max(dag.windowsUntil, decidedUntil);
  dag.touchedIn = state.batchNo;
}
