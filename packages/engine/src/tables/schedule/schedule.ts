/** A schedule in the working set: which windows are decided, and when the next one is due. */
import { assert } from '../../model/assert.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import type { DagId, Instant, ShardNo } from '../../model/ids.ts';
import { describeTiming } from '../../model/schedule/describe-timing.ts';
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
}

export function makeSchedule(stored: Omit<Schedule, 'timetable'>): Schedule {
  if (stored.fault !== null) return { ...stored, timetable: null };
  const compiled = compileTimetable(stored.spec, String(stored.dagId));
  assert(compiled.ok, `a stored schedule compiles: ${describeTiming(stored.spec)}`);
  return { ...stored, timetable: compiled.timetable };
}
