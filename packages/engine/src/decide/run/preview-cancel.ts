/**
 * What a cancel would do, decided on a copy of the run by the same code: which attempts stop, which tasks never begin, and
 * what closes the run. The closing is played to its end as if everything succeeded, because the effect of a failure can't be
 * predicted.
 */

import { type Answer, refuse, type TouchedTask } from '../../model/answer.ts';
import type { CancelRun } from '../../model/command.ts';
import type { RunRow, TaskNo, TaskSlot } from '../../model/ids.ts';
import { CANCELLED, HOLDS_CLAIM, IS_DUE, READY, RUNNING, TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { attemptsOfTask } from '../../tables/attempt/find-attempt.ts';
import { isClosingTask, mayRun } from '../../tables/task/may-run.ts';
import { forEachSlot, slotOf, taskNoOf, taskSpecOf } from '../../tables/task/task-slots.ts';
import { copyFor, findRun, statesOf } from '../manual/manually.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { cancelRun } from './cancel.ts';

export function previewCancel(recorder: Recorder, { dryRun: _dryRun, ...command }: CancelRun): Answer {
  const on = copyFor(recorder, command.runId);
  const { state } = on;
  const run = findRun(on, command, { cancelledToo: true });
  if (typeof run !== 'number') return run;
  const before = statesOf(state, run);
  const attempts = new Map([...before.keys()].map((no) => [no, state.tasks.attemptNo[slotOf(state, run, no)]!]));
  const answer = cancelRun(on, command);
  if (!answer.ok) return answer;
  if (answer.kind !== 'cancelled') return refuse('RUN_ENDED');
  const stopped = stopAll(on, run);
  const closing = playClosing(on, run);
  const tasks = [...statesOf(state, run)].flatMap(([taskNo, code]): TouchedTask[] => {
    const was = before.get(taskNo) ?? code;
    const isClosing = closing.has(taskNo);
    if (code === was && !isClosing) return [];
    const wasBusy = HOLDS_CLAIM[was] === 1;
    const isStopped = stopped.has(taskNo) || (wasBusy && code === CANCELLED);
    return [
      {
        taskNo,
        name: taskSpecOf(state, slotOf(state, run, taskNo)).name,
        before: TASK_STATE_NAMES[was]!,
        after: isClosing ? 'ready' : TASK_STATE_NAMES[code]!,
        how: isClosing ? 'closes' : code === CANCELLED ? 'cancelled' : 'decided',
        stopped: isStopped ? (attempts.get(taskNo) ?? 0) : 0,
      },
    ];
  });
  return { ok: true, kind: 'touched', dryRun: true, reopened: false, tasks };
}

/** Workers and called runs have done as they were told. */
function stopAll(on: Recorder, run: RunRow): ReadonlySet<TaskNo> {
  const { state } = on;
  const busy: TaskSlot[] = [];
  forEachSlot(state, run, (slot) => {
    if (HOLDS_CLAIM[state.tasks.state[slot]!] === 1 && !mayRun(state, slot)) busy.push(slot);
  });
  for (const attempt of busy.flatMap((slot) => attemptsOfTask(state, slot))) {
    endAttempt(on, attempt, { outcome: 'cancelled', error: null, isChildOver: true });
  }
  return new Set(busy.map((slot) => taskNoOf(state, slot)));
}

/**
 * What would begin now, and then, until nothing is left. What runs already goes on, and is nothing new. From the last one back: what
 * is undone in reverse order is found in one pass.
 */
function playClosing(on: Recorder, run: RunRow): ReadonlySet<TaskNo> {
  const { state } = on;
  const [begins, closing] = [new Set<TaskNo>(), [] as TaskSlot[]];
  forEachSlot(state, run, (slot) => {
    if (isClosingTask(state, slot) && mayRun(state, slot)) closing.push(slot);
  });
  closing.reverse();
  for (let isMoving = true; isMoving; ) {
    isMoving = false;
    for (const slot of closing) {
      const code = state.tasks.state[slot]!;
      if (IS_DUE[code] === 0 && code !== RUNNING) continue;
      isMoving = true;
      if (code === READY) begins.add(taskNoOf(state, slot));
      on.move({ kind: 'SuccessAssumed', runId: state.runIdOfTask(slot), taskNo: taskNoOf(state, slot) });
    }
  }
  return begins;
}
