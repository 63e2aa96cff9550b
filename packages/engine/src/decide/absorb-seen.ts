import { restoreRuns } from '../apply/restore.ts';
import { deadLetterName } from '../model/dead-letter.ts';
import { scheduleIdOf } from '../model/ids.ts';
import { keyName } from '../model/key-name.ts';
import { requirementName } from '../model/requirement-name.ts';
import type { Seen } from '../model/stored.ts';
import { windowName } from '../model/window-name.ts';
import { pastName } from './past/check-past.ts';
import type { Recorder } from './recorder.ts';
import { absorbSchedules } from './schedule/park.ts';

/** What the host fetched for a step. */
export function absorbSeen(recorder: Recorder, seen: Seen): void {
  const { state } = recorder;
  recorder.seen = seen;
  restoreRuns(state, seen);
  absorbSchedules(recorder, seen);
  for (const run of seen.runs) {
    recorder.runsByUid.set(run.uid, run);
    if (state.runs.find(run.runId) < 0) recorder.endedRuns.set(run.runId, run);
  }
  recorder.seenVersions = seen.versions;
  for (const deadLetter of seen.deadLetters) recorder.deadLetters.set(deadLetterName(deadLetter), deadLetter);
  for (const window of seen.windows) recorder.windows.set(windowName(scheduleIdOf(window), window.at), window);
  for (const one of seen.requirements) recorder.requirements.set(requirementName(one), one.isMet);
  for (const past of seen.pasts) recorder.pasts.set(pastName(past), past);
  for (const key of seen.tables.keys ?? []) recorder.keys.set(keyName(key), key);
}
