/** Limits that span shards: homes of those whose home is here, and what the shards of this engine have of each. */
import { PRIORITIES } from '../../model/dag/spec.ts';
import type { DagId, QueueName, RunId, RunRow, ShardNo, TenantId } from '../../model/ids.ts';
import {
  CLUSTER_LIMIT,
  isAmongOthers,
  isKept,
  isStarts,
  type LimitName,
  type PoolSpec,
  poolLimit,
  queueLimit,
  runLimit,
  startsOf,
  tenantLimit,
} from '../../model/limit.ts';
import { Hold } from './hold.ts';
import { Home } from './home.ts';
import { type LaneLimit, OwnLimit } from './lane-limit.ts';

/** The lanes that a limit is for. */
interface LimitedLane {
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly priority: number;
  readonly queue: QueueName;
  readonly pool: PoolSpec | undefined;
}

interface RunLimit {
  readonly limit: OwnLimit;
  readonly laneKeys: string[];
}

/** What a task of a lane takes of a limit. */
export interface LaneHold {
  readonly hold: LaneLimit;
  readonly slots: number;
  /** Its tasks count, and do not wait. */
  readonly passes?: true;
}

const NONE: readonly LaneHold[] = [];
const CRITICAL = PRIORITIES.indexOf('critical');

export class LimitTable {
  private readonly holds = new Map<ShardNo, Map<LimitName, Hold>>();
  /** Those of them that leave others what is not kept. */
  private readonly kept = new Map<ShardNo, Hold[]>();
  /** Those that limit starts per time. */
  private readonly starts = new Map<ShardNo, Hold[]>();
  readonly homes = new Map<LimitName, Home>();
  /** Of runs whose tasks are limited, and the keys of their lanes. */
  private readonly ofRuns = new Map<RunRow, RunLimit>();
  /** Caps that are set or were, as the host has told. */
  readonly caps = new Map<LimitName, { readonly no: number; readonly isLimited: boolean }>();
  /** Some shard here may not have heard of some of them. */
  hasNews = false;
  /** Holds to look at before the step ends. */
  readonly touched = new Set<Hold>();
  /** When to look at a hold or a home again. */
  private readonly wakes = new Map<Hold | Home, number>();
  /** No wake is before this. */
  private firstWake: number | null = null;

  /** Whether any shard here goes by such a limit. */
  get isUsed(): boolean {
    return this.holds.size > 0;
  }

  /** Any of them limits starts per time, or did. */
  get countsStarts(): boolean {
    return this.starts.size > 0;
  }

  touch(hold: Hold): void {
    this.touched.add(hold);
  }

  find(shard: ShardNo, name: LimitName): Hold | undefined {
    return this.holds.get(shard)?.get(name);
  }

  hold(shard: ShardNo, name: LimitName): Hold {
    let ofShard = this.holds.get(shard);
    if (ofShard === undefined) this.holds.set(shard, (ofShard = new Map()));
    let hold = ofShard.get(name);
    if (hold === undefined) {
      ofShard.set(name, (hold = new Hold(shard, name, this)));
      const apart = isKept(name) ? this.kept : isStarts(name) ? this.starts : null;
      apart?.set(shard, [...(apart.get(shard) ?? []), hold]);
    }
    return hold;
  }

  ofRun(run: RunRow, runId: RunId, most: number): RunLimit {
    let limit = this.ofRuns.get(run);
    if (limit === undefined) {
      limit = { limit: new OwnLimit(runLimit(runId), () => most), laneKeys: [] };
      this.ofRuns.set(run, limit);
    }
    return limit;
  }

  /** The run leaves. Answers the keys of its lanes. */
  forgetRun(run: RunRow): readonly string[] {
    const keys = this.ofRuns.get(run)?.laneKeys ?? [];
    this.ofRuns.delete(run);
    return keys;
  }

  *all(): Iterable<Hold> {
    for (const ofShard of this.holds.values()) yield* ofShard.values();
  }

  home(shard: ShardNo, name: LimitName): Home {
    let home = this.homes.get(name);
    if (home === undefined) this.homes.set(name, (home = new Home(shard, name)));
    return home;
  }

  /** What a task of such a lane takes. */
  takenBy({ shard, tenantId, dagId, priority, queue, pool }: LimitedLane): readonly LaneHold[] {
    const caps = this.holds.get(shard);
    if (caps === undefined && pool === undefined) return NONE;
    const found: LaneHold[] = [];
    if (pool !== undefined) found.push({ hold: this.hold(shard, poolLimit(tenantId, pool.name)), slots: pool.slots });
    const names = [queueLimit(tenantId, queue), tenantLimit(tenantId), CLUSTER_LIMIT];
    for (const name of names) {
      const hold = caps?.get(name);
      if (hold !== undefined) found.push({ hold, slots: 1 });
    }
    const rated = pool === undefined ? names : [poolLimit(tenantId, pool.name), ...names];
    for (const hold of this.starts.get(shard) ?? [])
      if (hold.isLimited && rated.includes(startsOf(hold.name).of)) found.push({ hold, slots: 1 });
    for (const hold of this.kept.get(shard) ?? []) {
      if (!hold.isLimited || !isAmongOthers(hold.name, { tenantId, dagId, queue })) continue;
      found.push(priority === CRITICAL ? { hold, slots: 1, passes: true } : { hold, slots: 1 });
    }
    return found;
  }

  wake(of: Hold | Home, at: number | null): void {
    if (at === null) {
      this.wakes.delete(of);
      return;
    }
    this.wakes.set(of, at);
    if (this.firstWake === null || at < this.firstWake) this.firstWake = at;
  }

  /** When something is to be looked at; perhaps a little early. */
  next(): number | null {
    return this.wakes.size === 0 ? null : this.firstWake;
  }

  due(mono: number): (Hold | Home)[] {
    if (this.firstWake === null || this.firstWake > mono) return [];
    const due: (Hold | Home)[] = [];
    let first: number | null = null;
    for (const [of, at] of this.wakes) {
      if (at <= mono) due.push(of);
      else if (first === null || at < first) first = at;
    }
    for (const of of due) this.wakes.delete(of);
    this.firstWake = first;
    return due;
  }

  drop(shards: ReadonlySet<ShardNo>): void {
    for (const shard of shards) {
      for (const hold of this.holds.get(shard)?.values() ?? []) {
        this.touched.delete(hold);
        this.wakes.delete(hold);
      }
      this.holds.delete(shard);
      this.kept.delete(shard);
      this.starts.delete(shard);
    }
    for (const [name, home] of this.homes) {
      if (!shards.has(home.shard)) continue;
      this.homes.delete(name);
      this.wakes.delete(home);
    }
  }
}
