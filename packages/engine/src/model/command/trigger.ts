/** Commands about events for triggers that let events wait. */
import type { Actor, DagId, RunUid, ShardNo, TenantId, VersionNo } from '../ids.ts';

/** Accepts an event: it will be in one run, together with others or in place of them. */
export interface HoldEvent {
  readonly kind: 'HoldEvent';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** Name of the trigger. */
  readonly trigger: string;
  /** Value of the trigger's `key`: events with another one wait by themselves. */
  readonly groupKey: string;
  /** Of the run, if the event is the first to wait for it. */
  readonly uid: RunUid;
  /** JSON text: the params of a run of this event alone. Of a batch: `{ events: [one] }`. */
  readonly params: string | null;
  readonly rule:
    | { readonly of: 'batch'; readonly max: number; readonly withinMs: number }
    | { readonly of: 'debounce'; readonly waitMs: number; readonly atMostMs: number };
  /** Every event has one: a command that is sent again is the same event (I11). */
  readonly key: { readonly key: string; readonly bodyHash: string };
  readonly checkedFor?: VersionNo;
  /** It was counted under the quota of its tenant. */
  readonly isCounted?: true;
  readonly actor: Actor;
}
