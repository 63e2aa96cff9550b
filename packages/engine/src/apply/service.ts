/**
 * Which windows were due while their schedule was served. A node serves the schedules of its shards while it looks at the
 * clock several times a second. A break of at most `windowGraceMs` (a slow turn, a quick takeover) counts as served. After a
 * longer break (no server, a frozen process, a clock that jumped) all windows that are due and undecided are missed.
 */
import type { Instant } from '../model/ids.ts';
import type { State } from '../tables/state.ts';

/** The host calls this several times a second, whether something is due or not, and each step calls it too. */
export function noteLook(state: State, now: Instant): void {
  if (now - state.lookedAt > state.settings.windowGraceMs) {
    for (const shard of state.shards.values()) shard.missedUntil = Math.max(shard.missedUntil, now) as Instant;
  }
  state.lookedAt = now;
}

/**
 * Clocks of two owners may differ by so much (the fault model). A window that is later than this at a takeover is missed in
 * any case: otherwise a clock that is hours ahead of the last owner's would run all windows between the two (I5).
 */
const CLOCKS_DIFFER_MS = 60_000;

/** Windows up to here are missed for a shard that was just taken; `missedAgoMs` as in `StoredShard`. */
export function missedAtTakeover(now: Instant, missedAgoMs: number | null): Instant {
  return (now - Math.min(missedAgoMs ?? CLOCKS_DIFFER_MS, CLOCKS_DIFFER_MS)) as Instant;
}
