/**
 * Newer zone data may move a wall time that was decided to a later instant. It is decided there, too: a nightly run of 02:30 does not
 * come again because 02:30 is an hour later by the new data (I3). By which data it was decided says the shard, until all of
 * its schedules were looked at by the new one.
 */
import type { Instant } from '../../model/ids.ts';
import { instantsOf } from '../../model/schedule/points.ts';
import type { Rule } from '../../model/schedule/timetable.ts';
import { previousWindow, type ZoneSource } from '../../model/schedule/window-after.ts';
import { readingAt } from '../../model/schedule/zone-segments.ts';
import { ZoneUnknown, zoneReader } from '../../model/schedule/zone-source.ts';
import type { State } from '../state.ts';
import type { Schedule } from './schedule.ts';

/** No zone was ever moved by more than a day. */
const REACH_MS = 2 * 86_400_000;

/** Until when its windows are decided, by the data of today. */
export function decidedByToday(state: State, schedule: Schedule): Instant {
  const { decidedUntil, timetable, fired, shard } = schedule;
  const { settings, shards } = state;
  const version = shards.get(shard)?.zoneVersion ?? null;
  if (version === null || version === settings.zoneVersion?.() || timetable === null) return decidedUntil;
  if (timetable.zone === 'UTC' || !goesByWall(timetable.rule)) return decidedUntil;
  const before = settings.zoneDataOf?.(version) ?? null;
  if (before === null) return decidedUntil;
  try {
    const last = previousWindow(timetable, (decidedUntil + 1) as Instant, before);
    // Before its first run, only a window that was skipped can have been decided: the schedule may be younger than the one before.
    if (last === null || (fired === 0 && last !== decidedUntil) || decidedUntil - last > REACH_MS) return decidedUntil;
    const moved = movedTo(schedule, last, before, settings.zoneData);
    return moved > decidedUntil && moved - last <= REACH_MS ? moved : decidedUntil;
  } catch (error) {
    // The older data does not have its zone: nothing of it was decided by that.
    if (error instanceof ZoneUnknown) return decidedUntil;
    throw error;
  }
}

/** Steps within the hour and intervals keep their pace, whatever the clock on the wall shows. */
function goesByWall(rule: Rule): boolean {
  if (rule.kind === 'cron') return rule.crons.every(({ everyHour }) => !everyHour);
  return rule.kind === 'at' && rule.walls.length > 0;
}

/** When the clock shows, by the data of today, what it showed at that instant by the data of before. */
function movedTo({ timetable }: Schedule, at: Instant, before: ZoneSource, today: ZoneSource): Instant {
  const { zone, changes } = timetable!;
  const wallMs = readingAt(zoneReader(before, zone)(at, at), at);
  return (instantsOf(wallMs, zoneReader(today, zone), changes).at(-1) ?? at) as Instant;
}
