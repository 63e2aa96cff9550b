/** A run for a window of the caller's choice. A window has one run, whoever asks for it: the second request gets the same (I1). */
import { type Answer, refuse } from '../../model/answer.ts';
import type { ChosenWindow, SubmitRuns } from '../../model/command.ts';
import type { Instant, RunUid } from '../../model/ids.ts';
import { waitsForOthers } from '../../model/schedule/schedule-policy.ts';
import { windowAfter } from '../../model/schedule/window-after.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { askQuota, takeRuns } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { isDelayedRun } from '../schedule/delayed-run.ts';
import { newestRun } from '../schedule/newest-run.ts';
import { settleUntil } from '../schedule/settle-until.ts';
import { createWindowRun } from './create.ts';
import { describeTaken, takenKey } from './key-policy.ts';

export function submitWindow(recorder: Recorder, dag: Dag, command: SubmitRuns, window: ChosenWindow): Answer {
  const { state } = recorder;
  const { at } = window;
  const schedule = state.schedules.named(dag.id, window.schedule);
  if (schedule?.timetable == null || isDelayedRun(schedule)) return refuse('SCHEDULE_NOT_FOUND', dag.name);
  if (windowAfter(schedule.timetable, (at - 1) as Instant, state.settings.zoneData)?.at !== at) {
    return refuse('WINDOW_INVALID', 'the schedule does not fire at that time');
  }
  // Nothing fires early (I4).
  if (at > state.now) return refuse('WINDOW_INVALID', 'that time has not come yet');
  const existing = newestRun(recorder, schedule.id, at);
  if (existing != null) return answer(existing.uid, true);
  settleUntil(recorder, schedule, at);
  const fired = newestRun(recorder, schedule.id, at);
  if (fired != null) return answer(fired.uid, true);
  const [{ params, priority, until }] = command.items as [SubmitRuns['items'][number]];
  const used = params ?? dag.paramsOfWindow(schedule.spec);
  const taken = takenKey(state, dag, dag.current, used);
  if (taken !== null) return refuse('RUN_KEY_TAKEN', describeTaken(state, taken));
  const refusedByQuota = askQuota(recorder, command, 'submits') ?? takeRuns(recorder, dag);
  if (refusedByQuota !== null) return refusedByQuota;
  const runId = createWindowRun(recorder, dag, {
    ...{ at, timetable: schedule.timetable, scheduleNo: schedule.scheduleNo, spec: schedule.spec },
    ...{ cause: command.cause ?? 'api', actor: command.actor },
    // Whoever asks, it is a window of the schedule, and comes beside no other run that the schedule would wait for (I7).
    ...(waitsForOthers(schedule.spec) ? { waits: true as const } : {}),
    ...(params === null ? {} : { params }),
    ...(priority === null ? {} : { priority }),
    ...(until === undefined ? {} : { until }),
  });
  return answer(state.runs.uidOf(state.runs.find(runId)), false);
}

function answer(uid: RunUid, repeated: boolean): Answer {
  return { ok: true, kind: 'submitted', uid, count: 1, repeated };
}
