/** A schedule in the working set: which windows are decided, and when the next one is due. */
import { BrokenInvariant } from '../../model/assert.ts';
import { DEFAULT_SCHEDULE } from '../../model/change/schedule.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import { type DagId, type Instant, type ScheduleId, scheduleIdOf } from '../../model/ids.ts';
import { describeTiming } from '../../model/schedule/describe-timing.ts';
import { compileTimetable, type Timetable } from '../../model/schedule/timetable.ts';
import type { StoredSchedule } from '../../model/stored.ts';

export interface Schedule extends Omit<StoredSchedule, 'decidedUntil' | 'fired' | 'dueAt'> {
  readonly id: ScheduleId;
  /** Null while it has a fault: nothing of it is looked at. */
  readonly timetable: Timetable | null;
  /** Windows up to here are decided. Only grows: a clock that goes back fires nothing again (I5). */
  decidedUntil: Instant;
  /** How many of its windows have become runs. */
  fired: number;
  /** Nobody needs to look at it before this: see `ScheduleParked`. */
  dueAt: Instant | null;
  /** The last batch that used it: one that is not due soon leaves memory once that is settled. */
  usedIn: number;
  /** The last window that was decided since the schedule was set or loaded; null before the first. */
  lastWindowAt: Instant | null;
  /** It is in the table of schedules: not removed, nor replaced by a newer version. */
  isKept: boolean;
  /** Its place in the wheel of windows; null while it waits for none. */
  watch: Watch | null;
}

/** When a schedule fires next, in the wheel of windows. It counts while its schedule points at it. */
export interface Watch {
  readonly at: number;
  readonly schedule: Schedule;
}

export function makeSchedule(stored: StoredSchedule): Schedule {
  if (stored.fault !== null) return scheduleWith(stored, null);
  const compiled = compileTimetable(stored.spec, spreadSeedOf(stored));
  if (!compiled.ok) throw new BrokenInvariant(`a stored schedule compiles: ${describeTiming(stored.spec)}`);
  return scheduleWith(stored, compiled.timetable);
}

/** One that can't be used as it is. */
export function withoutTimetable(stored: StoredSchedule): Schedule {
  return scheduleWith(stored, null);
}

/** Written out: copied by a spread, an object of so many fields took as long as all the rest of an import. */
function scheduleWith(stored: StoredSchedule, timetable: Timetable | null): Schedule {
  return {
    shard: stored.shard,
    dagId: stored.dagId,
    scheduleNo: stored.scheduleNo,
    name: stored.name,
    origin: stored.origin,
    revision: stored.revision,
    spec: stored.spec,
    paused: stored.paused,
    decidedUntil: stored.decidedUntil,
    fault: stored.fault,
    fired: stored.fired,
    dueAt: stored.dueAt,
    id: scheduleIdOf(stored),
    timetable,
    usedIn: 0,
    lastWindowAt: null,
    isKept: false,
    watch: null,
  };
}

/** Where an `H` of the expression falls. That of the default schedule is as it was when a dag had only one. */
export function spreadSeedOf({ dagId, name }: { readonly dagId: DagId; readonly name: string }): string {
  return name === DEFAULT_SCHEDULE ? String(dagId) : `${dagId}/${name}`;
}

/** What the engine knows about a schedule and the store keeps. */
export function storedOf(schedule: Schedule): Omit<StoredSchedule, 'decidedUntil' | 'dueAt'> {
  const { shard, dagId, scheduleNo, name, origin, revision, spec, paused, fault, fired } = schedule;
  return { shard, dagId, scheduleNo, name, origin, revision, spec, paused, fault, fired };
}

/** Equal as values: specs are plain data from JSON. */
export function isSameSpec(a: ScheduleSpec, b: ScheduleSpec): boolean {
  return canonical(a) === canonical(b);
}

/** A setting that is left out and one that is undefined are the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
