/** A live backfill in the working set: how far it is, and how many of its runs have not ended. */
import type { BackfillSpec, BackfillState } from '../../model/backfill.ts';
import type { StoredBackfill } from '../../model/change.ts';
import {
  type Actor,
  type BackfillUid,
  type DagId,
  type Instant,
  type ScheduleId,
  type ShardNo,
  scheduleIdOf,
  type TenantId,
} from '../../model/ids.ts';
import { compileTimetable, type Timetable } from '../../model/schedule/timetable.ts';
import { spreadSeedOf } from '../schedule/schedule.ts';

export class Backfill {
  readonly shard: ShardNo;
  readonly uid: BackfillUid;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly scheduleId: ScheduleId;
  readonly spec: BackfillSpec;
  readonly actor: Actor;
  /** Null when its schedule can't be read any more. */
  readonly timetable: Timetable | null;
  state: BackfillState;
  cursorAt: Instant | null;
  isDone: boolean;
  createdCount: number;
  skippedCount: number;
  liveRuns: number;
  /** The batch in which it was over: forgotten once that is settled. */
  overIn: number | null = null;

  constructor(stored: StoredBackfill) {
    const { shard, uid, tenantId, dagId, spec, actor } = stored;
    [this.shard, this.uid, this.tenantId, this.dagId] = [shard, uid, tenantId, dagId];
    [this.spec, this.actor] = [spec, actor];
    const compiled = compileTimetable(spec.schedule, spreadSeedOf({ dagId, name: spec.scheduleName }));
    this.scheduleId = scheduleIdOf({ dagId, scheduleNo: spec.scheduleNo });
    this.timetable = compiled.ok ? compiled.timetable : null;
    this.state = stored.state;
    this.cursorAt = stored.cursorAt;
    this.isDone = stored.isDone;
    this.createdCount = stored.createdCount;
    this.skippedCount = stored.skippedCount;
    this.liveRuns = stored.liveRuns;
  }
}
