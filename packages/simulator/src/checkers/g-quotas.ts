/**
 * G. Quotas. Whoever creates them and whichever node owns the shards, no more runs are created than the quotas of a tenant allow: per
 * minute of those that were submitted, and per day of each dag. A quota is known to all nodes some seconds after it was set.
 */
import {
  type DagId,
  type QuotaName,
  type QuotaSet,
  quotaHome,
  type RunCreated,
  type RunUid,
  type ShardNo,
  shardOfRun,
  type TenantId,
  uidOfItem,
} from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

/** Nodes read quotas each second; one that was paused knows only what it read before. */
const HEARD_MS = 4_000;
/** A submission may be created so long after it was counted. */
const LONGEST_MS = 15_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface Setting {
  readonly since: number;
  /** The most that it allows while it holds; null: as many as anybody likes. */
  readonly hard: number | null;
}

interface Counted {
  readonly at: number;
  /** By the clock of the owner of the count. */
  readonly wall: number;
}

export function quotas(scene: Scene): Checker {
  const { ledger, world } = scene;
  const settings = new Map<string, Setting[]>();
  const submitted = new Map<RunUid, { readonly isNow: boolean }>();
  /** By tenant, at its home; and by dag, at its own shard. */
  const ofTenants = new Map<TenantId, Counted[]>();
  const ofDags = new Map<DagId, { readonly shard: ShardNo; counted: Counted[] }>();
  /** When somebody was paused last. */
  let pausedAt = Number.NEGATIVE_INFINITY;
  const ownerOf = (shard: ShardNo) => world.nodes.find(({ nodeId }) => nodeId === ledger.shards.get(shard)?.owner);

  function note({ tenantId, quota, hard, raisedHard, raisedUntil }: QuotaSet): void {
    const raised = raisedUntil === null ? hard : raisedHard;
    const most = hard === null || raised === null ? null : Math.max(hard, raised);
    const key = `${quota}/${tenantId}`;
    settings.set(key, [...(settings.get(key) ?? []), { since: world.now, hard: most }]);
  }

  /** What held at any time since then; null: it was not limited all the time. */
  function mostSince(tenantId: TenantId, quota: QuotaName, from: number): number | null {
    const all = settings.get(`${quota}/${tenantId}`) ?? [];
    const first = all.findLastIndex(({ since }) => since <= from);
    if (first < 0) return null;
    let most = 0;
    for (const { hard } of all.slice(first)) {
      if (hard === null) return null;
      most = Math.max(most, hard);
    }
    return most;
  }

  function count(
    list: Counted[],
    {
      what,
      quota,
      tenantId,
      shard,
      perMs,
    }: { what: string; quota: QuotaName; tenantId: TenantId; shard: ShardNo; perMs: number },
  ): Counted[] {
    const owner = ownerOf(shard);
    if (owner === undefined || world.now - pausedAt < HEARD_MS) return [];
    const from = Math.max(0, world.now - perMs);
    const counted = [...list.filter(({ at }) => at > from), { at: world.now, wall: owner.process.wall() }];
    const first = counted[0]!;
    const most = mostSince(tenantId, quota, first.at - HEARD_MS);
    if (most === null) return dropUnheard(counted, tenantId, quota);
    if (counted.length > most)
      scene.fail('I50', `${what} has ${counted.length} since ${first.at}, the quota ${quota} allows ${most}`);
    return counted;
  }

  /** Those of before the quota was known to all. */
  function dropUnheard(counted: Counted[], tenantId: TenantId, quota: QuotaName): Counted[] {
    return counted.filter(({ at }) => mostSince(tenantId, quota, at - HEARD_MS) !== null);
  }

  function countRun(change: RunCreated): void {
    const { tenantId, dagId, uid, cause, runId } = change;
    const asked = submitted.get(uidOfItem(uid, 0));
    const isSubmitted = asked?.isNow === true && cause === 'api' && change.firesAt === null;
    if (isSubmitted) {
      const of = { what: `tenant ${tenantId}`, quota: 'submits', tenantId, shard: quotaHome(tenantId) } as const;
      const perMs = MINUTE_MS - LONGEST_MS;
      ofTenants.set(tenantId, count(ofTenants.get(tenantId) ?? [], { ...of, perMs }));
    }
    if (!isSubmitted && cause !== 'schedule' && cause !== 'backfill') return;
    const shard = shardOfRun(runId);
    const of = { what: `dag ${dagId}`, quota: 'runs', tenantId, shard, perMs: DAY_MS } as const;
    ofDags.set(dagId, { shard, counted: count(ofDags.get(dagId)?.counted ?? [], of) });
  }

  /** A new owner knows by its own clock what counts still. */
  const kept = (list: Counted[], wall: number, perMs: number) => list.filter((one) => one.wall + perMs > wall);

  return {
    invariants: ['I50'],
    onHappening(happening) {
      if (happening.kind !== 'asked' || happening.ask.command.kind !== 'SubmitRuns') return;
      const { uid, items, window } = happening.ask.command;
      submitted.set(uid, { isNow: window === undefined && items.every(({ at }) => at === undefined) });
    },
    onLook() {
      if (!world.nodes.some(({ process }) => process.isPaused)) return;
      ofTenants.clear();
      ofDags.clear();
      pausedAt = world.now;
    },
    onTake({ kind, nodeId, taken }) {
      if (kind !== 'take') return;
      const wall = world.nodes.find((one) => one.nodeId === nodeId)?.process.wall() ?? Number.POSITIVE_INFINITY;
      for (const { shard } of taken) {
        for (const [tenantId, list] of ofTenants)
          if (quotaHome(tenantId) === shard) ofTenants.set(tenantId, kept(list, wall, MINUTE_MS));
        for (const book of ofDags.values()) if (book.shard === shard) book.counted = kept(book.counted, wall, DAY_MS);
      }
    },
    onChange(change) {
      if (change.kind === 'QuotaSet') note(change);
      if (change.kind === 'RunCreated') countRun(change);
    },
  };
}
