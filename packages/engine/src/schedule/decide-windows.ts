/**
 * What becomes of windows that are due: each ends as a run, or as skipped with a reason, in order (I2). Windows that are
 * late, because no server was there or the clock leapt, go by the schedule's `missed`; how many there were is bounded,
 * not how long the pause was (I8).
 */
import type { SkipReason } from '../change.ts';
import type { Instant } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { createScheduledRun } from '../run/create.ts';
import { removedWindows } from './cron.ts';
import { type Schedule, watchSchedule, windowAfter } from './schedule.ts';

/** Skipped windows are counted one by one up to here; beyond, the row says "many". */
const COUNTED = 10_000;
const DAY_MS = 86_400_000;

/** Decides what is due. Answers false when the step is full and more is left; what was done stays done. */
export function decideDueWindows(recorder: Recorder, schedule: Schedule): boolean {
  const { state } = recorder;
  const lateUntil = (state.now - state.settings.missedAfterMs) as Instant;
  if (schedule.decidedUntil < lateUntil && !decideLate(recorder, schedule, lateUntil)) return false;
  for (;;) {
    const next = windowAfter(state, schedule, schedule.decidedUntil);
    if (next === null || next > state.now) break;
    if (recorder.isFull()) return false;
    recordGaps(recorder, schedule, next);
    fire(recorder, schedule, next);
  }
  watchSchedule(state, schedule);
  return true;
}

/** On pause and resume: windows of the time in between are recorded as skipped. */
export function skipUntil(recorder: Recorder, schedule: Schedule, until: Instant, reason: SkipReason): void {
  const first = windowAfter(recorder.state, schedule, schedule.decidedUntil);
  if (first === null || first > until) return;
  let [last, count] = [first, 1];
  for (; count < COUNTED; count++) {
    const next = windowAfter(recorder.state, schedule, last);
    if (next === null || next > until) break;
    last = next;
  }
  const isMany = count === COUNTED;
  recordSkip(recorder, schedule, first, isMany ? until : last, isMany ? 0 : count, reason);
}

function decideLate(recorder: Recorder, schedule: Schedule, lateUntil: Instant): boolean {
  const { missed, missedLimit } = schedule.spec;
  const wanted = missed === 'skip' ? 0 : missed === 'latest' ? 1 : missedLimit;
  const newest = newestWindows(recorder, schedule, lateUntil, wanted);
  const skipTo = newest.length === 0 ? lateUntil : ((newest[0]! - 1) as Instant);
  skipUntil(recorder, schedule, skipTo, 'missed');
  for (const at of newest) {
    if (recorder.isFull()) return false;
    fire(recorder, schedule, at);
  }
  return true;
}

/** The last `wanted` windows in (decidedUntil, until]. Looks back over growing spans, so that a year off costs no more than a day. */
function newestWindows(recorder: Recorder, schedule: Schedule, until: Instant, wanted: number): Instant[] {
  if (wanted === 0) return [];
  for (let spanMs = 3_600_000; ; spanMs *= 4) {
    const from = Math.max(schedule.decidedUntil, until - spanMs) as Instant;
    const found: Instant[] = [];
    for (let at = windowAfter(recorder.state, schedule, from); at !== null && at <= until; ) {
      found.push(at);
      if (found.length > 2 * wanted) found.splice(0, wanted);
      at = windowAfter(recorder.state, schedule, at);
    }
    if (found.length >= wanted || from === schedule.decidedUntil) return found.slice(-wanted);
  }
}

function fire(recorder: Recorder, schedule: Schedule, firesAt: Instant): void {
  const runId = createScheduledRun(recorder, schedule, firesAt);
  recorder.record({
    kind: 'WindowDecided',
    shard: schedule.shard,
    dagId: schedule.dagId,
    firesAt,
    wallTime: null,
    runId,
    skipped: null,
    count: 1,
    untilAt: firesAt,
    at: recorder.state.now,
  });
}

function recordSkip(
  recorder: Recorder,
  { shard, dagId }: Schedule,
  firesAt: Instant,
  untilAt: Instant,
  count: number,
  skipped: SkipReason,
): void {
  const at = recorder.state.now;
  recorder.record({
    kind: 'WindowDecided',
    shard,
    dagId,
    firesAt,
    wallTime: null,
    runId: null,
    skipped,
    count,
    untilAt,
    at,
  });
}

/** Wall times between the last window and this one that a clock change removed (I3). */
function recordGaps(recorder: Recorder, schedule: Schedule, next: Instant): void {
  const { state } = recorder;
  if (schedule.spec.gap !== 'skip') return;
  const zone = state.settings.zoneData(schedule.spec.zone, schedule.decidedUntil, (next + DAY_MS) as Instant);
  for (const { wallTime, gapAtMs } of removedWindows(schedule.cron, zone, schedule.decidedUntil, next)) {
    recorder.record({
      kind: 'WindowDecided',
      shard: schedule.shard,
      dagId: schedule.dagId,
      firesAt: gapAtMs as Instant,
      wallTime,
      runId: null,
      skipped: 'gap',
      count: 1,
      untilAt: gapAtMs as Instant,
      at: state.now,
    });
  }
}
