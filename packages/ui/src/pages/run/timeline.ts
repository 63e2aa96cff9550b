/** What happened in a run, in order, from the times of its tasks and attempts. */
import type { RunSummary, TaskView } from '@signalbox/protocol';
import { actorName } from '../../parts/format.ts';
import { lookOf } from '../../parts/states.ts';
import { uncoloured } from '../../parts/visible.ts';

export interface Happening {
  readonly at: string;
  readonly state: string;
  readonly task: string | null;
  readonly text: string;
}

export function timelineOf(
  run: RunSummary,
  tasks: readonly TaskView[],
  nameOf: (worker: string) => string,
): Happening[] {
  const found: Happening[] = [];
  const add = (at: string | null, state: string, task: string | null, text: string) => {
    if (at !== null) found.push({ at, state, task, text });
  };
  add(run.createdAt, 'queued', null, `Created by ${actorName(run.actor)}.`);
  if (run.slowAt !== null) add(run.slowAt, 'retrying', null, 'The run takes longer than its soft timeout.');
  if (run.reopenedAt !== null)
    add(run.reopenedAt, 'open', null, `Opened again by ${actorName(run.reopenedBy ?? 'somebody')}.`);
  if (run.paused !== null) add(run.paused.since, 'paused', null, `Paused by ${actorName(run.paused.by)}.`);
  for (const task of tasks) {
    for (const { attempt, worker, claimedAt, startedAt, endedAt, outcome, error, speculative } of task.attempts) {
      const which = `attempt ${attempt}${speculative ? ' (speculative)' : ''}`;
      add(
        startedAt ?? claimedAt,
        'started',
        task.name,
        `${which} started${worker === null ? '' : ` on worker ${nameOf(worker)}`}.`,
      );
      const why = outcome === 'succeeded' || error === null ? '' : `: ${uncoloured(error).split('\n')[0]}`;
      add(
        endedAt,
        outcome ?? 'ended',
        task.name,
        `${which} ${lookOf(outcome ?? 'ended').word.toLowerCase()}${why === '' ? '.' : why}`,
      );
    }
    if (task.cleared !== null) add(task.cleared.at, 'ready', task.name, `cleared by ${actorName(task.cleared.by)}.`);
    if (task.marked !== null)
      add(task.marked.at, task.state, task.name, `marked as ${task.state} by ${actorName(task.marked.by)}.`);
    if (task.paused !== null) add(task.paused.since, 'paused', task.name, `paused by ${actorName(task.paused.by)}.`);
    if (task.slowAt !== null) add(task.slowAt, 'retrying', task.name, 'takes longer than its soft timeout.');
  }
  // Last: what ends with the run comes before its end within the same millisecond.
  add(
    run.endedAt,
    run.outcome ?? 'ended',
    null,
    `Ended: ${run.outcome ?? 'no outcome'}${run.reason === 'timeout' ? ', because its time was over' : ''}.`,
  );
  return found.sort((a, b) => a.at.localeCompare(b.at));
}
