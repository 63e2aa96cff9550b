/** Commands about backfills. */
import type { BackfillSpec } from '../backfill.ts';
import type { Actor, BackfillUid, DagId, ShardNo, TenantId } from '../ids.ts';

/** Runs for a range of past windows of a schedule of this dag. */
export interface StartBackfill {
  readonly kind: 'StartBackfill';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** Made by the edge, so that a command sent again is the same command (I11). */
  readonly uid: BackfillUid;
  readonly spec: BackfillSpec;
  readonly windowCount: number;
  readonly actor: Actor;
}

/** `cancel`: no more runs; those that it has made go on. */
export interface SetBackfill {
  readonly kind: 'SetBackfill';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly uid: BackfillUid;
  readonly to: 'paused' | 'running' | 'cancelled';
  readonly actor: Actor;
}
