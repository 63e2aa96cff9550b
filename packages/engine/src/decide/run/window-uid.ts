/** Uids of scheduled runs, and what they tell. */
import { bitsOf } from '../../model/chance.ts';
import {
  type DagId,
  type Instant,
  instantOfUid,
  makeRunUid,
  type RunUid,
  type ScheduleNo,
  type ShardNo,
  shardOfUid,
} from '../../model/ids.ts';

export interface ScheduleRef {
  readonly dagId: DagId;
  readonly scheduleNo: ScheduleNo;
}

const FIRST = 1;

/**
 * The uid of a scheduled run follows from its window: the same window gives the same uid on any node (I1). The first schedule
 * of a dag has the uids that it had when a dag could have only one.
 */
export function uidOfWindow(shard: ShardNo, { dagId, scheduleNo }: ScheduleRef, firesAt: Instant): RunUid {
  return scheduleNo === FIRST
    ? makeRunUid(shard, firesAt, bitsOf(48, dagId, firesAt, 11), bitsOf(26, dagId, firesAt, 12))
    : makeRunUid(
        shard,
        firesAt,
        bitsOf(48, dagId, firesAt, scheduleNo, 11),
        bitsOf(26, dagId, firesAt, scheduleNo, 12),
      );
}

/** The uid of a scheduled run is made from its window and nothing else: so it tells whether it is one, and of which. */
export function windowOf(uid: RunUid, ref: ScheduleRef): Instant | null {
  const at = instantOfUid(uid);
  return uidOfWindow(shardOfUid(uid), ref, at) === uid ? at : null;
}
