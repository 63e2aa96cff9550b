/**
 * What one shard has of a limit that spans shards. It claims only what it has, so the sum over all shards never exceeds what the home
 * of the limit has granted (I44). Slots in use follow from the running attempts, and are not stored (I45); of a limit of starts per time,
 * from the starts that count: see `rate-limit.ts`.
 */
import type { SlotsSaid } from '../../model/command.ts';
import type { ShardNo } from '../../model/ids.ts';
import { isPool, isStarts, type LimitName } from '../../model/limit.ts';
import { LaneLimit } from './lane-limit.ts';

interface TableOfHolds {
  touch(hold: Hold): void;
}

export class Hold extends LaneLimit {
  readonly shard: ShardNo;
  no = 0;
  isLimited: boolean;
  taken = 0;
  seized = 0;
  returned = 0;
  /** What it is to have given back in all, by the last word of the home. */
  recall = 0;
  /** What it does not need goes back at once; else after a while. */
  isTight = true;
  /** What the home has heard; unknown to a new owner. */
  heard: SlotsSaid | null = null;
  asked:
    | (SlotsSaid & {
        readonly wants: number;
        readonly lacks: number;
        readonly isShort: boolean;
        readonly isIdle: boolean;
      })
    | null = null;
  askedAt = 0;
  /** Since when it has slots that no task uses; null: it has none. */
  idleSince: number | null = null;
  /** Tasks wait for these slots, and no worker takes them. */
  isIdle = false;
  /** It says so until then, unless it still has such slots. */
  idleUntil = 0;
  /** Of starts per time, not of what runs. */
  readonly countsStarts: boolean;
  private readonly table: TableOfHolds;

  constructor(shard: ShardNo, name: LimitName, table: TableOfHolds) {
    super(name);
    this.shard = shard;
    this.table = table;
    this.isLimited = isPool(name);
    this.countsStarts = isStarts(name);
    this.settle();
  }

  get have(): number {
    return this.taken + this.seized - this.returned;
  }

  /** Recalled, and not given back yet: no new task gets these. */
  get owed(): number {
    return Math.min(Math.max(0, this.recall - this.returned), this.have);
  }

  /** For new tasks. */
  get free(): number {
    return this.have - this.owed - this.used;
  }

  get room(): number {
    return this.isLimited ? this.free : Number.POSITIVE_INFINITY;
  }

  /** Counted by what runs; or by what has started, see `count`. */
  override use(slots: number): void {
    if (!this.countsStarts) this.change(slots);
  }

  /** So many attempts have started that count. */
  count(starts: number): void {
    this.change(starts - this.used);
  }

  private change(slots: number): void {
    if (slots > 0) {
      this.idleSince = null;
      this.isIdle = false;
    }
    super.use(slots);
  }

  override settle(): void {
    this.table.touch(this);
    super.settle();
  }

  override want(...wanted: Parameters<LaneLimit['want']>): void {
    super.want(...wanted);
    this.table.touch(this);
  }
}
