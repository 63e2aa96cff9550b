/** Changes the priority of a run: what waits of it goes before others from here on, or after them. Running attempts go on. */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { SetPriority } from '../../model/command.ts';
import { PRIORITIES } from '../../model/dag/spec.ts';
import { BACKFILL, ENDED } from '../../tables/run/run-table.ts';
import type { Recorder } from '../recorder.ts';
import { findRun } from './manually.ts';

export function setPriority(recorder: Recorder, command: SetPriority): Answer {
  const { state } = recorder;
  const { runs } = state;
  const run = findRun(recorder, command, { cancelledToo: true });
  if (typeof run !== 'number') return run;
  if (runs.phase[run] === ENDED) return refuse('RUN_ENDED', 'ended');
  // Its tasks wait in a lane of their own, whatever their priority: a change would do nothing.
  if (runs.has(run, BACKFILL)) return refuse('RUN_OF_BACKFILL');
  const { runId, priority, actor } = command;
  const before = PRIORITIES[runs.priority[run]!]!;
  // Doing it twice is doing it once.
  if (before === priority) return DONE;
  recorder.record({ kind: 'PrioritySet', runId, priority, before, actor, at: state.now });
  return DONE;
}
