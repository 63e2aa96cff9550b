/**
 * Schedules of given times that were created without a deploy: what a delayed run is made of. Such a schedule removes itself when
 * the last of its times is decided; its windows stay recorded (I2). One of a definition stays, because the definition names it.
 */
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import type { Actor, Instant } from '../../model/ids.ts';
import { fault, type ScheduleFault } from '../../model/schedule/fault.ts';
import { compileTimetable } from '../../model/schedule/timetable.ts';
import { windowAfter } from '../../model/schedule/window-after.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import { nextOf } from '../../tables/schedule/watch-schedule.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { decideWindow } from './decide-windows.ts';

const SCHEDULE = 'schedule' as Actor;
/**
 * A time that has passed by no more than this still fires: the command waited in a queue, or whoever wrote it has a slower clock.
 * A delay of 5 ms must not be lost.
 */
const JUST_PASSED_MS = 60_000;

/**
 * Where the windows of a new schedule of given times begin; null for other schedules. What other schedules of the dag have decided
 * does not count, even with a clock that went back: each time was asked for by itself, and a new number makes it another window.
 */
export function startOfTimes({ now, settings }: State, spec: ScheduleSpec): Instant | null {
  if (spec.at === undefined) return null;
  const compiled = compileTimetable(spec, '');
  if (!compiled.ok) return null;
  const from = (now - JUST_PASSED_MS) as Instant;
  const first = windowAfter(compiled.timetable, from, settings.zoneData);
  return first === null || first.at > now ? now : from;
}

/** Those that passed a moment ago. */
export function decidePassedTimes(recorder: Recorder, schedule: Schedule): void {
  const { state } = recorder;
  for (;;) {
    const next = nextOf(state, schedule, schedule.decidedUntil);
    if (next === null || next.firesAt > state.now) return;
    decideWindow(recorder, schedule, next);
  }
}

/** All given times have passed: it would never fire. One that is edited goes on after what it has decided. */
export function passedFault({ now, settings }: State, spec: ScheduleSpec, known?: Schedule): ScheduleFault | null {
  if (spec.at === undefined) return null;
  const compiled = compileTimetable(spec, '');
  if (!compiled.ok) return compiled.fault;
  const from = known === undefined ? now - JUST_PASSED_MS : Math.max(now, known.decidedUntil);
  if (windowAfter(compiled.timetable, from as Instant, settings.zoneData) !== null) return null;
  const times = spec.at.length === 1 ? 'Its time has' : 'All its times have';
  return fault('at', `${times} passed.`, 'Give a time in the future.').fault;
}

export function removeIfOver(recorder: Recorder, schedule: Schedule): void {
  const { state } = recorder;
  const { shard, dagId, scheduleNo, name, decidedUntil, origin, timetable, id } = schedule;
  if (origin !== 'api' || timetable?.rule.kind !== 'at' || state.schedules.get(id) !== schedule) return;
  if (nextOf(state, schedule, decidedUntil) !== null) return;
  const removed = { shard, dagId, scheduleNo, name, decidedUntil };
  recorder.record({ kind: 'ScheduleRemoved', ...removed, actor: SCHEDULE, at: state.now });
}
