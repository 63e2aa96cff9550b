import type { DagId, ShardNo, TenantId } from '../ids.ts';

/** An event has come that a dag expects. */
export interface NoteEvent {
  readonly kind: 'NoteEvent';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** Of the expectation. */
  readonly name: string;
}
