/**
 * Decides windows that are due, in order: each becomes a run, or is skipped with a reason (I2). Windows that were due while
 * nobody served the schedule (`service.ts`) are missed and follow its policy `missed`. A window that is late for another
 * reason, such as a full step, is not missed. The cost grows with the number of runs, not with the length of the break (I8).
 */
import { assert } from '../../model/assert.ts';
import type { SkipReason, WindowDecided } from '../../model/change.ts';
import type { Instant } from '../../model/ids.ts';
import { removedWindows } from '../../model/schedule/cron.ts';
import { zoneOrNull } from '../../model/schedule/window-after.ts';
import { type Schedule } from '../../tables/schedule/schedule.ts';
import { nextOf, watchSchedule } from '../../tables/schedule/watch-schedule.ts';
import type { Recorder } from '../recorder.ts';
import { createScheduledRun } from '../run/create.ts';

/** Skipped windows are counted one by one up to here; beyond, the row says "many". */
const COUNTED = 1_000;
/** How many wall times that a clock change removed are recorded one by one. Of a longer gap only the first are recorded. */
const GAPS_RECORDED = 100;
const DAY_MS = 86_400_000;

/** Decides what is due. Answers false when the step is full and more is left; what was done stays done. */
export function decideDueWindows(recorder: Recorder, schedule: Schedule): boolean {
  const isDone = decideWhile(recorder, schedule, () => !recorder.isFull());
  if (isDone) watchSchedule(recorder.state, schedule);
  return isDone;
}

/** Before a schedule is altered: all that is due by its old version, also in a step that is full (I2, I6). */
export function decideAllDue(recorder: Recorder, schedule: Schedule): void {
  decideWhile(recorder, schedule, () => true);
}

function decideWhile(recorder: Recorder, schedule: Schedule, hasRoom: () => boolean): boolean {
  const { state } = recorder;
  const { missedUntil } = state.shards.get(schedule.shard)!;
  // A clock that went back since must not decide windows early (I4).
  const until = Math.min(missedUntil, state.now) as Instant;
  if (schedule.decidedUntil < until && !decideMissed(recorder, schedule, until, hasRoom)) return false;
  for (;;) {
    const next = nextOf(state, schedule, schedule.decidedUntil);
    if (next === null || next > state.now) return true;
    if (!hasRoom()) return false;
    recordGaps(recorder, schedule, next);
    fire(recorder, schedule, next);
  }
}

/** On pause and resume: windows of the time in between are recorded as skipped. */
export function skipUntil(recorder: Recorder, schedule: Schedule, until: Instant, reason: SkipReason): void {
  const skipped = windowsBetween(recorder, schedule, schedule.decidedUntil, until, COUNTED);
  if (skipped.length === 0) return;
  const isMany = skipped.length === COUNTED;
  const [firesAt, untilAt] = [skipped[0]!, isMany ? until : skipped.at(-1)!];
  const count = isMany ? 0 : skipped.length;
  recordDecided(recorder, schedule, { firesAt, runId: null, skipped: reason, count, untilAt });
}

function decideMissed(recorder: Recorder, schedule: Schedule, until: Instant, hasRoom: () => boolean): boolean {
  const { missed, missedLimit } = schedule.spec;
  const wanted = missed === 'skip' ? 0 : missed === 'latest' ? 1 : missedLimit;
  const newest = newestWindows(recorder, schedule, until, wanted);
  const skipTo = newest.length === 0 ? until : ((newest[0]! - 1) as Instant);
  skipUntil(recorder, schedule, skipTo, 'missed');
  for (const at of newest) {
    if (!hasRoom()) return false;
    fire(recorder, schedule, at);
  }
  return true;
}

/**
 * The last `wanted` windows in (decidedUntil, until]. Looks back over growing spans, and halfway again where one holds far
 * too many: so a year off costs no more than a day, and an expression that fires each second, or only in January, too.
 */
function newestWindows(recorder: Recorder, schedule: Schedule, until: Instant, wanted: number): Instant[] {
  if (wanted === 0) return [];
  const most = 4 * wanted + 100;
  // Of the spans tried: the longest that held too few, the shortest that held too many.
  let [tooShort, tooLong] = [0, Number.POSITIVE_INFINITY];
  for (let spanMs = 60_000; ; spanMs = nextSpan(tooShort, tooLong)) {
    const from = Math.max(schedule.decidedUntil, until - spanMs) as Instant;
    const found = windowsBetween(recorder, schedule, from, until, most);
    if (found.length === most) tooLong = spanMs;
    else if (found.length >= wanted || from === schedule.decidedUntil) return found.slice(-wanted);
    else tooShort = spanMs;
    assert(tooShort < tooLong - 1, 'windows lie a second apart or more');
  }
}

function nextSpan(tooShort: number, tooLong: number): number {
  return tooLong === Number.POSITIVE_INFINITY ? tooShort * 4 : Math.floor((tooShort + tooLong) / 2);
}

/** The windows in (from, until], the first `most` of them. */
function windowsBetween(
  { state }: Recorder,
  schedule: Schedule,
  from: Instant,
  until: Instant,
  most: number,
): readonly Instant[] {
  const found: Instant[] = [];
  let at = nextOf(state, schedule, from);
  for (; at !== null && at <= until && found.length < most; at = nextOf(state, schedule, at)) found.push(at);
  return found;
}

function fire(recorder: Recorder, schedule: Schedule, firesAt: Instant): void {
  const runId = createScheduledRun(recorder, schedule, firesAt);
  recordDecided(recorder, schedule, { firesAt, runId, skipped: null, count: 1, untilAt: firesAt });
}

type Decided = Pick<WindowDecided, 'firesAt' | 'runId' | 'skipped' | 'count' | 'untilAt'>;

function recordDecided(recorder: Recorder, schedule: Schedule, decided: Decided, wallTime: string | null = null): void {
  const { shard, dagId, scheduleNo, name } = schedule;
  const at = recorder.state.now;
  recorder.record({ kind: 'WindowDecided', shard, dagId, scheduleNo, name, ...decided, wallTime, at });
}

/** Wall times between the last window and this one that a clock change removed (I3). */
function recordGaps(recorder: Recorder, schedule: Schedule, next: Instant): void {
  const { state } = recorder;
  const { timetable } = schedule;
  if (timetable === null || timetable.changes.gap !== 'skip') return;
  const zone = zoneOrNull(state.settings.zoneData, timetable.zone, schedule.decidedUntil, (next + DAY_MS) as Instant);
  if (zone === null) return;
  const removed = removedWindows(timetable.cron, zone, schedule.decidedUntil, next).slice(0, GAPS_RECORDED);
  for (const { wallTime, gapAtMs } of removed) {
    const firesAt = gapAtMs as Instant;
    // A window may fire at the very instant of the change: it is not decided by this.
    const untilAt = (gapAtMs - 1) as Instant;
    recordDecided(recorder, schedule, { firesAt, runId: null, skipped: 'gap', count: 1, untilAt }, wallTime);
  }
}
