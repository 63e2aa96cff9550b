/** Commands about limits that span shards. The first comes from people, the others from owners of shards and their hosts. */
import type { Actor, ShardNo, TenantId } from '../ids.ts';
import type { LimitName } from '../limit.ts';

export interface SetLimit {
  readonly kind: 'SetLimit';
  /** The home of the limit. */
  readonly shard: ShardNo;
  /** Who reads of it. */
  readonly tenantId: TenantId;
  readonly limit: LimitName;
  /** Null: there is no such limit any more. */
  readonly slots: number | null;
  readonly actor: Actor;
}

/** Slots that are kept now for a dag or a tenant: by this name others have what is left. Read from the database, not told. */
export interface KeptRule {
  readonly limit: LimitName;
  /** Whose reservation it is. */
  readonly tenantId: TenantId;
  /** Kept ones. */
  readonly slots: number;
}

/** What a shard has said of its slots: sums that only grow, so a message that comes late or twice changes nothing. */
export interface SlotsSaid {
  /** Slots that it has given back in all. */
  readonly returned: number;
  /** Slots that it had in use when it heard of the limit. */
  readonly seized: number;
  /** The setting of the limit that it goes by. */
  readonly no: number;
}

/** A shard tells the home of a limit what it gave back and what it wants. Comes again until it is answered, and while it wants. */
export interface AskSlots extends SlotsSaid {
  readonly kind: 'AskSlots';
  /** The home of the limit. */
  readonly shard: ShardNo;
  readonly limit: LimitName;
  readonly from: ShardNo;
  /** How many slots it could use in all; 0 where nothing waits. */
  readonly wants: number;
  /** With so many more it could start one more task; 0 where it has enough for one. */
  readonly lacks: number;
  /** What the smallest of its waiting tasks takes. */
  readonly least: number;
  /** The best class that waits; that of backfills comes last. */
  readonly priority: number;
  /** It had slots for waiting tasks, and no worker took them. */
  readonly isIdle: boolean;
}

/** What the home of a limit says to a shard. */
export interface SlotsTold {
  /** Slots that it was given in all. */
  readonly given: number;
  /** It is to have given back so many in all, as soon as tasks end. */
  readonly recall: number;
  /** What it does not need goes back at once. */
  readonly isTight: boolean;
  /** The home knows that it wants slots. */
  readonly isWanting: boolean;
  /** What the home has heard of it. */
  readonly heard: SlotsSaid;
}

export interface TakeSlots extends SlotsTold {
  readonly kind: 'TakeSlots';
  readonly shard: ShardNo;
  readonly limit: LimitName;
}

/** The caps that are set, and those that were. Pools need not be told: who uses one asks its home. */
export interface SetLimits {
  readonly kind: 'SetLimits';
  readonly limits: readonly { readonly limit: LimitName; readonly no: number; readonly isLimited: boolean }[];
}
