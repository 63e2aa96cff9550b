/** A schedule in the working set: which windows are decided, and when the next one comes. */
import { assert } from '../../model/assert.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import type { DagId, Instant, ShardNo } from '../../model/ids.ts';
import { parseCron } from '../../model/schedule/cron.ts';
import type { Cron } from '../../model/schedule/cron-type.ts';

export interface Schedule {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly revision: number;
  readonly spec: ScheduleSpec;
  /** Null while it has a fault: nothing of it is looked at. */
  readonly cron: Cron | null;
  readonly paused: boolean;
  readonly fault: string | null;
  /** Windows up to here are decided. Only grows: a clock that goes back fires nothing again (I5). */
  decidedUntil: Instant;
}

export function makeSchedule(stored: Omit<Schedule, 'cron'>): Schedule {
  if (stored.fault !== null) return { ...stored, cron: null };
  const parsed = parseCron(stored.spec.cron, String(stored.dagId));
  assert(parsed.ok, `a stored schedule has a cron expression that parses: ${stored.spec.cron}`);
  return { ...stored, cron: parsed.cron };
}
