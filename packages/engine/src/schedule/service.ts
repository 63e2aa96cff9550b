/**
 * Which windows were due while their schedule was served. A node serves the schedules of its shards as long as it looks at
 * the clock several times a second. A break of at most `windowGraceMs` (a slow turn, a quick takeover) counts as served.
 * After a longer break (no server, a frozen process, a clock that leapt) all windows that are due and undecided are missed.
 */
import type { Instant } from '../ids.ts';
import type { State } from '../state.ts';

/** The host calls this several times a second, whether something is due or not, and each step calls it too. */
export function noteLook(state: State, now: Instant): void {
  if (now - state.lookedAt > state.settings.windowGraceMs) {
    for (const shard of state.shards.values()) shard.missedUntil = Math.max(shard.missedUntil, now) as Instant;
  }
  state.lookedAt = now;
}
