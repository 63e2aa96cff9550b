/** Pauses a run or a task: nothing new of it is claimed. Running attempts continue, and so does time. */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { SetPaused } from '../../model/command.ts';
import type { Actor, RunId, RunRow } from '../../model/ids.ts';
import { ENDED } from '../../tables/run/run-table.ts';
import { slotOf } from '../../tables/task/task-slots.ts';
import { isWatched } from '../../tables/timer/watch-pause.ts';
import type { Recorder } from '../recorder.ts';
import { findRun } from './manually.ts';

export function setPaused(recorder: Recorder, command: SetPaused): Answer {
  const { state } = recorder;
  const { runs } = state;
  const run = findRun(recorder, command, { cancelledToo: true });
  if (typeof run !== 'number') return run;
  const { runId, taskNo, paused, actor } = command;
  if (taskNo !== null && slotOf(state, run, taskNo) < 0) return refuse('TASK_NOT_FOUND', String(taskNo));
  const known = runs.pauses.get(run)?.get(taskNo) ?? null;
  // Doing it twice is doing it once; one that would end by itself is made to stay.
  const isSo = paused ? known !== null && known.until === null : known === null;
  if (isSo) return DONE;
  // What closes a run can be held as well, and must be let go.
  if (runs.phase[run] === ENDED) return refuse('RUN_ENDED', 'ended');
  recorder.record({ kind: 'PauseSet', runId, taskNo, paused, until: null, actor, at: state.now });
  return DONE;
}

/** Whoever cancels a run wants it closed: what does that is not held back. */
export function liftPause(recorder: Recorder, run: RunRow, actor: Actor): void {
  const { runs, now } = recorder.state;
  if (runs.versionOf(run).graph.closing === null || (runs.pauses.get(run)?.run ?? null) === null) return;
  const runId = runs.id[run]!;
  recorder.record({ kind: 'PauseSet', runId, taskNo: null, paused: false, until: null, actor, at: now });
}

const SYSTEM = 'system' as Actor;

/** Its time is up, and nobody has made it another one since. */
export function endPause(recorder: Recorder, runId: RunId, until: number): void {
  const { state } = recorder;
  const run = state.runs.find(runId);
  if (run < 0 || !isWatched(state, run, until) || state.runs.phase[run] === ENDED) return;
  recorder.record({ kind: 'PauseSet', runId, taskNo: null, paused: false, until: null, actor: SYSTEM, at: state.now });
}
