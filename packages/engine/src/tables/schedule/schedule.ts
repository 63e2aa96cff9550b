/** A schedule in the working set: which windows are decided, and when the next one is due. */
import { assert } from '../../model/assert.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import type { DagId, Instant, ShardNo } from '../../model/ids.ts';
import { compileTimetable, type Timetable } from '../../model/schedule/timetable.ts';

export interface Schedule {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly revision: number;
  readonly spec: ScheduleSpec;
  /** Null while it has a fault: nothing of it is looked at. */
  readonly timetable: Timetable | null;
  readonly paused: boolean;
  readonly fault: string | null;
  /** Windows up to here are decided. Only grows: a clock that goes back fires nothing again (I5). */
  decidedUntil: Instant;
  /** The last window that was decided since the schedule was set or loaded; null before the first. */
  lastWindowAt: Instant | null;
}

export function makeSchedule(stored: Omit<Schedule, 'timetable' | 'lastWindowAt'>): Schedule {
  if (stored.fault !== null) return { ...stored, timetable: null, lastWindowAt: null };
  const compiled = compileTimetable(stored.spec, String(stored.dagId));
  assert(compiled.ok, `a stored schedule has a cron expression that parses: ${stored.spec.cron}`);
  return { ...stored, timetable: compiled.timetable, lastWindowAt: null };
}
