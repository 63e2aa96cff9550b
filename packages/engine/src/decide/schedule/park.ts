/**
 * Keeps in the database what is not due soon. `dueAt` of a stored schedule is never later than its next window, so nothing is
 * missed; where it is earlier the schedule is fetched, and parked again.
 */
import { restoreSchedule } from '../../apply/restore.ts';
import { RESIDENT } from '../../model/change/schedule.ts';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import { type Instant, type ShardNo, scheduleIdOf } from '../../model/ids.ts';
import { zoneOf } from '../../model/schedule/zone-of.ts';
import type { DueRange, Need, Seen, StoredSchedule } from '../../model/stored.ts';
import { dueAtOf, endOfInstant, useSchedule } from '../../tables/schedule/due.ts';
import { makeSchedule, type Schedule } from '../../tables/schedule/schedule.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';

/** How many schedules one step takes in. */
const PER_STEP = 1_000;
const FIRST_MS = 30_000;
/** A row that is parked is written to all indexes, 20 µs each. */
const PARKED_PER_STEP = 500;
/** The version of zone data that never changes. */
const FIXED = '';

/** When a schedule that is about to be set is due. */
export function dueAtOfNew(recorder: Recorder, stored: StoredSchedule): Instant | null {
  const dueAt = dueAtOf(recorder.state, makeSchedule(stored));
  stampZones(recorder, stored.shard, stored.spec, dueAt);
  return dueAt;
}

/**
 * Stores when schedules whose windows were decided are due again. Not while other windows are due: those come first, and a due time
 * of the past is as good until then, for it means that the schedule must be looked at. A few per step, so that other work goes on.
 */
export function parkDecided(recorder: Recorder): void {
  const { toPark } = recorder.state.schedules;
  let left = PARKED_PER_STEP;
  for (const schedule of toPark) {
    if (left === 0 || recorder.isFull()) return;
    toPark.delete(schedule);
    // It may leave memory from here on.
    useSchedule(recorder.state, schedule);
    parkIfFar(recorder, schedule);
    left -= 1;
  }
}

/** After its windows are decided, or after it was fetched: it leaves memory unless it is due soon. */
export function parkIfFar(recorder: Recorder, schedule: Schedule): void {
  const { state } = recorder;
  if (!schedule.isKept || schedule.timetable === null) return;
  const dueAt = dueAtOf(state, schedule);
  stampZones(recorder, schedule.shard, schedule.spec, dueAt);
  if (dueAt === schedule.dueAt || isSoonEnough(state, schedule, dueAt)) return;
  park(recorder, schedule, dueAt);
}

/** It stays in memory, and its row says so early enough. So a schedule that fires each minute does not write its row anew. */
function isSoonEnough({ shards }: State, schedule: Schedule, dueAt: Instant | null): boolean {
  if (dueAt === null || dueAt === RESIDENT || schedule.dueAt === null) return false;
  return schedule.dueAt <= dueAt && dueAt <= shards.get(schedule.shard)!.nearUntil;
}

function park(recorder: Recorder, schedule: Schedule, dueAt: Instant | null): void {
  const { shard, dagId, scheduleNo, decidedUntil, spec } = schedule;
  stampZones(recorder, shard, spec, dueAt);
  const at = recorder.state.now;
  recorder.record({ kind: 'ScheduleParked', shard, dagId, scheduleNo, dueAt, decidedUntil, at });
}

/**
 * Before a due time is stored that depends on zone data, the shard says on which. Also of a schedule that is always in memory, and has
 * no due time: windows that it has decided are of that data (I3).
 */
function stampZones(recorder: Recorder, shard: ShardNo, spec: ScheduleSpec, dueAt: Instant | null): void {
  const { state } = recorder;
  if (dueAt === null || state.shards.get(shard)?.zoneVersion !== null) return;
  if (zoneOf(spec) === null) return;
  recorder.record({ kind: 'ZonesApplied', shard, version: zoneVersion(state), at: state.now });
}

function zoneVersion({ settings }: State): string {
  return settings.zoneVersion?.() ?? FIXED;
}

/** What the next tick fetches: schedules that are due soon, and those whose due times are of other zone data. */
export function parkedNeeds(state: State): readonly Need[] {
  const needs: Need[] = [];
  const ranges = rangesToWalk(state);
  if (ranges.length > 0) needs.push({ kind: 'due', ranges, limit: PER_STEP });
  const moved = shardToMove(state);
  if (moved !== null) needs.push({ kind: 'zoned', shard: moved.shard, after: moved.zonedAfter, limit: PER_STEP });
  return needs;
}

/**
 * First of all shards what is due at once, then the rest: else, after a takeover, windows of the last shard would wait until ten minutes
 * of all others are in memory.
 */
function rangesToWalk(state: State): DueRange[] {
  const { horizonMs } = state.settings;
  const firstMs = Math.min(FIRST_MS, horizonMs / 2);
  const first = rangesUpTo(state, firstMs);
  return first.length > 0 ? first : rangesUpTo(state, horizonMs);
}

/** Of shards that have less than half of it in memory. */
function rangesUpTo({ shards, now }: State, aheadMs: number): DueRange[] {
  const ranges: DueRange[] = [];
  const until = Math.floor(now + aheadMs) as Instant;
  for (const { shard, nearUntil, nearAfter } of shards.values()) {
    if (nearUntil < now + aheadMs / 2) ranges.push({ shard, after: nearAfter, until });
  }
  return ranges;
}

function shardToMove(state: State) {
  const version = zoneVersion(state);
  for (const shard of state.shards.values()) {
    if (shard.zoneVersion !== null && shard.zoneVersion !== version) return shard;
  }
  return null;
}

/** When the next slice of the future must be fetched; null without any shard. */
export function nextWalkAt({ shards, settings }: State): number | null {
  let first: number | null = null;
  for (const { nearUntil } of shards.values()) if (first === null || nearUntil < first) first = nearUntil;
  return first === null ? null : first - settings.horizonMs / 2 + 1;
}

export function isMoveDue(state: State): boolean {
  return shardToMove(state) !== null;
}

/** The slice of the future that is in memory ends too soon. */
export function isWalkDue(state: State): boolean {
  return (nextWalkAt(state) ?? Number.POSITIVE_INFINITY) <= state.now;
}

/** Takes in what was fetched. What is in memory is newer, and stays. */
export function absorbSchedules(recorder: Recorder, { schedules, due, zoned }: Seen): void {
  const { state } = recorder;
  const taken = schedules.flatMap((stored) => takeIn(state, stored) ?? []);
  for (const { shard: no, until, last } of due) {
    const shard = state.shards.get(no);
    if (shard === undefined) continue;
    // Others may be due in the same millisecond as the last one.
    const nearUntil = last === null ? until : ((last.dueAt - 1) as Instant);
    shard.nearUntil = Math.max(shard.nearUntil, nearUntil) as Instant;
    shard.nearAfter = last ?? endOfInstant(until);
  }
  for (const schedule of taken) parkIfFar(recorder, schedule);
  if (zoned !== null) moveZoned(recorder, zoned);
}

function takeIn(state: State, stored: StoredSchedule): Schedule | null {
  const id = scheduleIdOf(stored);
  if (!state.shards.has(stored.shard) || state.recentlyRemoved.has(id)) return null;
  const known = state.schedules.get(id);
  const schedule = known ?? restoreSchedule(state, stored);
  useSchedule(state, schedule);
  return known === undefined ? schedule : null;
}

/**
 * Newer zone data moves wall times. A due time that comes earlier by it is stored, and so is what was decided and comes later; a due
 * time that comes later is found when the
 * schedule is fetched. A page per step, so that other work goes on; a new owner begins again (I3).
 */
function moveZoned(recorder: Recorder, { shard: no, schedules, isLast }: NonNullable<Seen['zoned']>): void {
  const { state } = recorder;
  const shard = state.shards.get(no);
  if (shard === undefined || shard.zoneVersion === zoneVersion(state)) return;
  for (const stored of schedules) {
    takeIn(state, stored);
    const schedule = state.schedules.get(scheduleIdOf(stored));
    if (schedule === undefined || schedule.timetable === null) continue;
    const dueAt = dueAtOf(state, schedule);
    const isLate = schedule.dueAt === null ? dueAt !== null : dueAt !== null && dueAt < schedule.dueAt;
    const isMoved = schedule.decidedUntil > stored.decidedUntil;
    if (isLate || isMoved) park(recorder, schedule, dueAt);
  }
  const last = schedules.at(-1);
  if (isLast) recorder.record({ kind: 'ZonesApplied', shard: no, version: zoneVersion(state), at: state.now });
  else if (last !== undefined) shard.zonedAfter = { dagId: last.dagId, scheduleNo: last.scheduleNo };
}
