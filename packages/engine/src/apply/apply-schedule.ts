import { assert } from '../model/assert.ts';
import type { ScheduleRemoved, ScheduleSet, WindowDecided } from '../model/change.ts';
import { scheduleIdOf } from '../model/ids.ts';
import { makeSchedule } from '../tables/schedule/schedule.ts';
import { watchSchedule } from '../tables/schedule/watch-schedule.ts';
import type { State } from '../tables/state.ts';

export function applySchedule(state: State, change: ScheduleSet | ScheduleRemoved | WindowDecided): void {
  const known = state.schedules.get(scheduleIdOf(change));
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
      const { kind: _kind, actor: _actor, at: _at, ...stored } = change;
      const schedule = makeSchedule(stored);
      state.schedules.put(schedule);
      watchSchedule(state, schedule);
      noteNumber(state, change);
      return;
    }
    case 'ScheduleRemoved':
      assert(known !== undefined, 'a schedule that is removed is there');
      state.schedules.remove(known);
      keepDecided(state, change);
      return;
    case 'WindowDecided':
      assert(known !== undefined, 'a window belongs to a schedule');
      assert(change.untilAt > known.decidedUntil || change.skipped === 'gap', 'a window is decided once (I1)');
      if (change.runId !== null) known.lastWindowAt = change.firesAt;
      if (change.untilAt > known.decidedUntil) known.decidedUntil = change.untilAt;
      if (change.runId !== null) known.fired += 1;
  }
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
