/** Delayed runs, drawn: when they are to begin, and what users do about those that wait. */
import type { Command, DagId, Instant, RunUid, SetSchedulePaused, SubmitRuns } from '@signalbox/engine';
import type { ModelTables } from '@signalbox/engine/testing';
import type { Chance } from './chance.ts';

type OfDag = Pick<SetSchedulePaused, 'shard' | 'tenantId' | 'dagId' | 'actor'>;
type Item = SubmitRuns['items'][number];

/** When an item begins, as it was asked for: at a time, or so long after the request. */
export type PlannedTime = { readonly at: Instant } | { readonly delayMs: number } | null;

/** Now and then a time that has just passed, or one that is refused because it has long passed. */
export function planTimes(chance: Chance, count: number, now: number): readonly PlannedTime[] {
  return Array.from({ length: count }, () => {
    if (chance.happens(0.2)) return null;
    if (chance.happens(0.5)) return { delayMs: chance.pick([0, 1, chance.int(2, 3_000), chance.int(3_000, 25_000)]) };
    const isPast = chance.happens(0.15);
    return { at: Math.round(now + (isPast ? -chance.int(0, 90_000) : chance.int(0, 25_000))) as Instant };
  });
}

/** The edge makes a time of a delay, by the clock of its node, each time that the request is sent. */
export function itemsAt(items: readonly Item[], times: readonly PlannedTime[], wall: number): readonly Item[] {
  return items.map((item, index) => {
    const time = times[index] ?? null;
    if (time === null) return item;
    return { ...item, at: 'at' in time ? time.at : (Math.round(wall + time.delayMs) as Instant) };
  });
}

/** Cancels, pauses or resumes a delayed run of the dag; null when none waits. */
export function planDelayedUse(chance: Chance, tables: ModelTables, ofDag: OfDag): Command | null {
  const names = [...tables.schedules.values()].flatMap(({ dagId, name, spec }) =>
    dagId === ofDag.dagId && spec.run !== undefined ? [name] : [],
  );
  if (names.length === 0) return null;
  const name = chance.pick(names);
  if (chance.happens(0.4)) return { kind: 'DeleteSchedule', ...ofDag, name };
  return { kind: 'SetSchedulePaused', ...ofDag, name, paused: chance.happens(0.4) };
}

/** The dag of a delayed run that has not begun. */
export function dagOfDelayed({ schedules }: ModelTables, uid: RunUid): DagId | undefined {
  for (const { name, dagId, spec } of schedules.values()) {
    if (name === (uid as string) && spec.run !== undefined) return dagId;
  }
  return undefined;
}
