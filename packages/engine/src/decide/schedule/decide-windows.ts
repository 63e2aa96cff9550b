/**
 * Decides windows that are due, in order: each becomes a run, or is skipped with a reason (I2). Windows that were due while
 * nobody served the schedule (`service.ts`) are missed and follow its policy `missed`. A window that is late for another
 * reason, such as a full step, is not missed. The cost grows with the number of runs, not with the length of the break (I8).
 */
import type { SkipReason, WindowDecided } from '../../model/change.ts';
import type { Instant } from '../../model/ids.ts';
import { removedBetween } from '../../model/schedule/removed.ts';
import { missedPolicyOf } from '../../model/schedule/schedule-policy.ts';
import type { Window } from '../../model/schedule/window-after.ts';
import { type Schedule } from '../../tables/schedule/schedule.ts';
import { nextOf, watchNext } from '../../tables/schedule/watch-schedule.ts';
import type { State } from '../../tables/state.ts';
import { mayCreate } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { createScheduledRun } from '../run/create.ts';
import { takenKey } from '../run/key-policy.ts';
import { beginDelayedRun, isDelayedRun } from './delayed-run.ts';
import { mayRunBeside } from './if-running.ts';
import { type By, newestWindows, windowsBetween } from './newest-windows.ts';

/** Skipped windows are counted one by one up to here; beyond, the row says "many". */
const COUNTED = 1_000;
/** How many wall times that a clock change removed are recorded one by one. Of a longer gap only the first are recorded. */
const GAPS_RECORDED = 100;

/** Decides what is due, while there is room in the step. Answers false when more is left; what was done stays done. */
export function decideDueWindows(recorder: Recorder, schedule: Schedule, hasRoom: () => boolean): boolean {
  if (isDelayedRun(schedule)) {
    beginDelayedRun(recorder, schedule);
    return true;
  }
  const next = decideWhile(recorder, schedule, { by: 'firesAt', hasRoom });
  if (next === FULL) return false;
  watchNext(recorder.state, schedule, next);
  return true;
}

/** The step is full: more windows are due. */
const FULL = 'full';

/**
 * Before a schedule is altered: all that is due by its old version, also in a step that is full (I2, I6). What its jitter holds back
 * counts as due: the new version begins now, and would know nothing of it.
 */
export function decideAllDue(recorder: Recorder, schedule: Schedule): void {
  decideWhile(recorder, schedule, { by: 'at', hasRoom: () => true });
}

/** Before a schedule is resumed: windows of the time in which it was paused go by the policy for missed ones. */
export function decidePaused(recorder: Recorder, schedule: Schedule): void {
  decideMissed(recorder, schedule, { until: recorder.state.now, reason: 'paused', by: 'at', hasRoom: () => true });
}

interface Due {
  readonly by: By;
  readonly hasRoom: () => boolean;
}

/** Answers the next window, which is not due yet; null when there is none. */
function decideWhile(recorder: Recorder, schedule: Schedule, { by, hasRoom }: Due): Window | null | typeof FULL {
  const { state } = recorder;
  const { missedUntil } = state.shards.get(schedule.shard)!;
  // A clock that went back since must not decide windows early (I4).
  const until = Math.min(missedUntil, state.now) as Instant;
  const isMissed = schedule.decidedUntil < until;
  if (isMissed && !decideMissed(recorder, schedule, { until, reason: 'missed', by: 'firesAt', hasRoom })) return FULL;
  for (;;) {
    const next = nextOf(state, schedule, schedule.decidedUntil);
    if (next === null || next[by] > state.now) return next;
    if (!hasRoom()) return FULL;
    recordGaps(recorder, schedule, next.at);
    decideWindow(recorder, schedule, next);
  }
}

/** While a schedule is paused and is altered: windows of that time are recorded as skipped. */
export function skipPaused(recorder: Recorder, schedule: Schedule): void {
  skipUntil(recorder, schedule, { until: recorder.state.now, reason: 'paused', by: 'at' });
}

export function skipUntil(
  recorder: Recorder,
  schedule: Schedule,
  { until, reason, by }: Omit<Missed, 'hasRoom'>,
): void {
  const skipped = windowsBetween(recorder.state, schedule, { from: schedule.decidedUntil, until, most: COUNTED, by });
  if (skipped.length === 0) return;
  const isMany = skipped.length === COUNTED;
  const [last] = isMany ? newestWindows(recorder.state, schedule, { until, wanted: 1, by }) : skipped.slice(-1);
  const count = isMany ? 0 : skipped.length;
  const [firesAt, untilAt] = [skipped[0]!.at, last!.at];
  recordDecided(recorder, schedule, { firesAt, runId: null, skipped: reason, count, untilAt });
}

interface Missed extends Due {
  readonly until: Instant;
  /** Why those are skipped that do not run. */
  readonly reason: SkipReason;
}

function decideMissed(recorder: Recorder, schedule: Schedule, { until, reason, by, hasRoom }: Missed): boolean {
  const { state } = recorder;
  const { missedMaxAgeMs = Number.POSITIVE_INFINITY } = schedule.spec;
  const isYoung = ({ firesAt }: Window) => state.now - firesAt <= missedMaxAgeMs;
  const newest = newestWindows(state, schedule, { until, wanted: missedCount(schedule), by }).filter(isYoung);
  const skipTo = newest.length === 0 ? until : ((newest[0]!.at - 1) as Instant);
  skipUntil(recorder, schedule, { until: skipTo, reason, by: newest.length === 0 ? by : 'at' });
  for (const window of newest) {
    if (!hasRoom()) return false;
    decideWindow(recorder, schedule, window);
  }
  return true;
}

/** How many missed windows run. */
function missedCount({ spec, timetable, fired }: Schedule): number {
  const policy = missedPolicyOf(spec);
  const wanted = policy === 'skip' ? 0 : policy === 'most_recent' ? 1 : spec.missedLimit;
  const left = (timetable?.limit ?? Number.POSITIVE_INFINITY) - fired;
  return Math.min(wanted, left);
}

/** A window that is due: a run, unless it is too late for that, or another run is in its way. */
export function decideWindow(recorder: Recorder, schedule: Schedule, { at, firesAt }: Window): void {
  const { startWithinMs = Number.POSITIVE_INFINITY } = schedule.spec;
  const isLate = recorder.state.now - firesAt > startWithinMs;
  const skipped = isOfDeleted(recorder.state, schedule)
    ? 'deleted'
    : isLate
      ? 'deadline'
      : mayRunBeside(recorder, schedule) && !isKeyTaken(recorder.state, schedule)
        ? mayFire(recorder, schedule)
          ? null
          : 'quota'
        : 'overlap';
  if (skipped === null) return fire(recorder, schedule, at);
  recordDecided(recorder, schedule, { firesAt: at, runId: null, skipped, count: 1, untilAt: at });
}

/** Its dag may have one more run today: that is counted. */
function mayFire(recorder: Recorder, { dagId }: Schedule): boolean {
  const dag = recorder.state.dags.get(dagId);
  return dag === undefined || mayCreate(recorder, dag);
}

/** Its tenant is deleted: nobody could start what it creates, or look at it. */
function isOfDeleted({ dags, tenants }: State, { dagId }: Schedule): boolean {
  const dag = dags.get(dagId);
  return dag !== undefined && tenants.isDeleted(dag.tenantId);
}

/** Its key has as many runs as it may, and no further one is created then. */
function isKeyTaken(state: State, { dagId, spec }: Schedule): boolean {
  const dag = state.dags.get(dagId);
  return dag !== undefined && takenKey(state, dag, dag.current, dag.paramsOfWindow(spec)) !== null;
}

function fire(recorder: Recorder, schedule: Schedule, at: Instant): void {
  const runId = createScheduledRun(recorder, schedule, at);
  recordDecided(recorder, schedule, { firesAt: at, runId, skipped: null, count: 1, untilAt: at });
}

type Decided = Pick<WindowDecided, 'firesAt' | 'runId' | 'skipped' | 'count' | 'untilAt'>;

function recordDecided(recorder: Recorder, schedule: Schedule, decided: Decided, wallTime: string | null = null): void {
  const { shard, dagId, scheduleNo, name } = schedule;
  const { firesAt, runId, skipped, count, untilAt } = decided;
  const at = recorder.state.now;
  recorder.record({
    kind: 'WindowDecided',
    shard,
    dagId,
    firesAt,
    wallTime,
    runId,
    skipped,
    count,
    untilAt,
    at,
    scheduleNo,
    name,
  });
}

/** Wall times between the last window and this one that a clock change removed (I3). */
function recordGaps(recorder: Recorder, schedule: Schedule, next: Instant): void {
  const { state } = recorder;
  const { timetable } = schedule;
  if (timetable === null || timetable.changes.gap !== 'skip') return;
  const removed = removedBetween(timetable, schedule.decidedUntil, next, state.settings.zoneData);
  for (const { wallTime, gapAtMs } of removed.slice(0, GAPS_RECORDED)) {
    const firesAt = gapAtMs as Instant;
    // A window may fire at the very instant of the change: it is not decided by this.
    const untilAt = (gapAtMs - 1) as Instant;
    recordDecided(recorder, schedule, { firesAt, runId: null, skipped: 'gap', count: 1, untilAt }, wallTime);
  }
}
