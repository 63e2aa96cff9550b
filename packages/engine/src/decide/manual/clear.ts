/** The command `ClearTasks`: tasks run again because a person wants it. `clear-slots.ts` records the changes. */
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
