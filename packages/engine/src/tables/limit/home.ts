/** A limit at its home: how many slots there are, what each shard has of them, and what it wants. */
import type { ShardNo } from '../../model/ids.ts';
import { isPool, type LimitName } from '../../model/limit.ts';

export class Grant {
  readonly holder: ShardNo;
  given = 0;
  seized = 0;
  returned = 0;
  heardNo = 0;
  isStored = false;
  /** What follows is in memory only: shards that want say so again and again. */
  wants = 0;
  lacks = 0;
  least = 0;
  priority = 0;
  /** It has slots that its workers do not take. */
  isIdle = false;
  askedAt = Number.NEGATIVE_INFINITY;
  /** Its place among those that wait. */
  turn = 0;
  /** It may use what it has until then, if others want it, too. */
  turnEndsAt = 0;
  recall = 0;
  recalledAt = Number.NEGATIVE_INFINITY;

  constructor(holder: ShardNo) {
    this.holder = holder;
  }

  /** What it has at most: what is on its way, in either direction, counts as its own. */
  get out(): number {
    return this.given + this.seized - this.returned;
  }

  /** Recalled, and not heard to be back. */
  get recalled(): number {
    return Math.min(Math.max(0, this.recall - this.returned), this.out);
  }
}

export class Home {
  readonly shard: ShardNo;
  readonly name: LimitName;
  slots: number | null = null;
  no = 0;
  sinceNo = 0;
  readonly grants = new Map<ShardNo, Grant>();
  /** Everybody was told that slots are short. */
  isTight = false;
  toldAt = 0;
  /** This engine has loaded it, and has not spoken to anybody yet. */
  isNew = false;
  private turns = 0;

  constructor(shard: ShardNo, name: LimitName) {
    this.shard = shard;
    this.name = name;
  }

  /** Slots that there are. A pool that is not set has none; a cap that is not set does not limit. */
  get most(): number {
    return this.slots ?? (isPool(this.name) ? 0 : Number.POSITIVE_INFINITY);
  }

  grant(holder: ShardNo): Grant {
    let grant = this.grants.get(holder);
    if (grant === undefined) this.grants.set(holder, (grant = new Grant(holder)));
    return grant;
  }

  nextTurn(): number {
    this.turns += 1;
    return this.turns;
  }

  /** Granted in all. */
  out(): number {
    let sum = 0;
    for (const grant of this.grants.values()) sum += grant.out;
    return sum;
  }
}
