/** Selects the tasks of a run that a person means. */

import { type Answer, refuse } from '../../model/answer.ts';
import type { TaskSelection } from '../../model/command.ts';
import type { RunRow, TaskSlot } from '../../model/ids.ts';
import { TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { viewOf } from '../../propagate/move.ts';
import { type RunTasksView, specIn, visitNear } from '../../propagate/run-tasks-view.ts';
import type { State } from '../../tables/state.ts';
import { forEachSlot, slotOf, specNoOf, taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';

/** More than this many tasks of one run are not touched in one go. */
export const MAX_TOUCHED = 20_000;

/** Their slots, in the order of the tasks; or the refusal. A mapped task stands for all its instances. */
export function chooseTasks(state: State, run: RunRow, select: TaskSelection): readonly TaskSlot[] | Answer {
  const unknown = select.tasks?.find((taskNo) => slotOf(state, run, taskNo) < 0);
  if (unknown !== undefined) return refuse('TASK_NOT_FOUND', String(unknown));
  const { graph } = state.runs.versionOf(run);
  const isOutside = (taskNo: number) => graph.isOutside?.[specNoOf(state, slotOf(state, run, taskNo))] === 1;
  const outside = select.tasks?.find(isOutside);
  if (outside !== undefined) {
    const { name } = taskSpecOf(state, slotOf(state, run, outside));
    return refuse('TASK_OUTSIDE_RUN', `${graph.until} does not depend on ${name}`);
  }
  const named = select.tasks === null ? null : new Set<number>(select.tasks);
  const states = select.states === null ? null : new Set<string>(select.states);
  const first: number[] = [];
  forEachSlot(state, run, (slot) => {
    const isNamed = named === null || named.has(taskNoOf(state, slot)) || named.has(specNoOf(state, slot));
    if (isNamed && (states === null || states.has(TASK_STATE_NAMES[state.tasks.state[slot]!]!))) {
      first.push(taskNoOf(state, slot));
    }
  });
  const chosen = new Set(first);
  const view = viewOf(state, run);
  if (select.downstream) for (const no of walk(view, first, below)) chosen.add(no);
  if (select.upstream) for (const no of walk(view, first, above)) chosen.add(no);
  const slots: TaskSlot[] = [];
  forEachSlot(state, run, (slot) => {
    if (chosen.has(taskNoOf(state, slot))) slots.push(slot);
  });
  return slots;
}

type Next = (view: RunTasksView, spec: number) => Iterable<number>;

function* below({ graph }: RunTasksView, spec: number): Iterable<number> {
  yield* graph.below(spec);
  yield* graph.maps?.fed.get(spec) ?? [];
}

const above: Next = ({ graph }, spec) => graph.needs[spec]!;

/** All that is reached from these; of an instance of a map what lies in the same one, and what is outside of it. */
function walk(view: RunTasksView, from: readonly number[], next: Next): Set<number> {
  const [seen, stack] = [new Set<number>(), [...from]];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (const spec of next(view, specIn(view, no))) {
      visitNear(view, no, spec, (other) => {
        if (seen.has(other)) return;
        seen.add(other);
        stack.push(other);
      });
    }
  }
  return seen;
}
