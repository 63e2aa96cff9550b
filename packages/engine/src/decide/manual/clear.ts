/**
 * Tasks are to run again, by hand. Two changes say all of it: `RunReopened` for a run that had ended, `TaskCleared` for each task
 * that has a state of its own. What has none is what its upstream makes of it, and needs no change.
 */
import type { Answer } from '../../model/answer.ts';
import type { ClearTasks } from '../../model/command.ts';
import type { Recorder } from '../recorder.ts';
import { chooseTasks } from './choose.ts';
import { clearSlots } from './clear-slots.ts';
import { manually } from './manually.ts';

export function clearTasks(recorder: Recorder, command: ClearTasks): Answer {
  return manually(recorder, command, (on, run) => {
    const chosen = chooseTasks(on.state, run, command.select);
    if (!isList(chosen)) return chosen;
    return clearSlots(on, run, chosen, command);
  });
}

const isList = (value: readonly number[] | Answer): value is readonly number[] => Array.isArray(value);
