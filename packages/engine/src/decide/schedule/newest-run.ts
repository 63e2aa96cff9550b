/** The newest run of a window, whoever created it. */
import type { Instant, RunId, RunUid, ScheduleId } from '../../model/ids.ts';
import { RUN_OUTCOMES, type RunOutcome } from '../../model/run/phase.ts';
import { windowName } from '../../model/window-name.ts';
import { ENDED } from '../../tables/run/run-table.ts';
import type { Recorder } from '../recorder.ts';

export interface WindowRun {
  readonly uid: RunUid;
  readonly isLive: boolean;
  readonly outcome: RunOutcome | null;
}

/**
 * Null: the window has none. Undefined: nobody has looked; the command must need the window. Memory goes before the database, which
 * does not show batches in flight.
 */
export function newestRun(recorder: Recorder, scheduleId: ScheduleId, at: Instant): WindowRun | null | undefined {
  const { state } = recorder;
  const name = windowName(scheduleId, at);
  const recent = state.recentWindows.get(name);
  const stored = recorder.windows.get(name);
  const runId = recent?.runId ?? stored?.run?.runId;
  if (runId === undefined) return stored === undefined ? undefined : null;
  return inMemory(recorder, runId) ?? stored?.run ?? { uid: recent!.uid, isLive: true, outcome: null };
}

function inMemory({ state: { runs } }: Recorder, runId: RunId): WindowRun | null {
  const run = runs.find(runId);
  if (run < 0) return null;
  const isLive = runs.phase[run] !== ENDED;
  return { uid: runs.uidOf(run), isLive, outcome: RUN_OUTCOMES[runs.outcome[run]! - 1] ?? null };
}
