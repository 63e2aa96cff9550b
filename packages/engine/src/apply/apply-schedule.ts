import { assert } from '../model/assert.ts';
import type { ScheduleRemoved, ScheduleSet, WindowDecided } from '../model/change.ts';
import { makeSchedule } from '../tables/schedule/schedule.ts';
import { watchSchedule } from '../tables/schedule/watch-schedule.ts';
import type { State } from '../tables/state.ts';

export function applySchedule(state: State, change: ScheduleSet | ScheduleRemoved | WindowDecided): void {
  const known = state.schedules.get(change.dagId);
  switch (change.kind) {
    case 'ScheduleSet': {
      assert(
        change.revision === (known?.revision ?? change.revision - 1) + 1,
        'revisions of a schedule rise one by one (I6)',
      );
      assert(change.decidedUntil >= (known?.decidedUntil ?? 0), 'what is decided stays decided (I1)');
      const { shard, dagId, revision, spec, paused, decidedUntil, fault } = change;
      const schedule = makeSchedule({ shard, dagId, revision, spec, paused, decidedUntil, fault });
      state.schedules.set(dagId, schedule);
      watchSchedule(state, schedule);
      return;
    }
    case 'ScheduleRemoved':
      state.schedules.delete(change.dagId);
      keepDecided(state, change);
      return;
    case 'WindowDecided':
      assert(known !== undefined, 'a window belongs to a schedule');
      assert(change.untilAt > known.decidedUntil || change.skipped === 'gap', 'a window is decided once (I1)');
      if (change.runId !== null) known.lastWindowAt = change.firesAt;
      if (change.untilAt > known.decidedUntil) known.decidedUntil = change.untilAt;
  }
}

function keepDecided(state: State, { dagId, decidedUntil }: ScheduleRemoved): void {
  const dag = state.dags.get(dagId);
  assert(dag !== undefined, 'a schedule is removed from a dag in memory');
  dag.windowsUntil = Math.max(dag.windowsUntil, decidedUntil);
  dag.touchedIn = state.batchNo;
}
