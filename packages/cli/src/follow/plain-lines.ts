/** A run where lines can't be drawn over: one line per change of a task. */
import type { RunView, TaskView } from '@signalbox/sdk';
import { countsText } from '../instances.ts';
import { coloured, short, spanBetween } from '../output.ts';

export class PlainView {
  readonly #print: (line: string) => void;
  readonly #seen = new Map<string, string>();
  #state = '';

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  show(run: RunView): void {
    if (this.#state === '') this.#print(`run ${run.id} of ${run.dag}, version ${run.version}`);
    for (const task of run.tasks) {
      const now = `${task.state} ${task.attempt} ${task.child?.run ?? ''} ${task.instances?.states.failed ?? 0}`;
      const before = this.#seen.get(task.name);
      this.#seen.set(task.name, now);
      // What was never anything but waiting for its turn is no news.
      const isNews = before === undefined ? task.state !== 'blocked' : before !== now;
      if (isNews) this.#print(lineOf(task));
    }
    this.#state = run.state;
  }
}

function lineOf(task: TaskView): string {
  const attempt = task.attempt > 0 ? ` attempt ${task.attempt}` : '';
  const took =
    task.startedAt === null || task.endedAt === null ? '' : ` after ${spanBetween(task.startedAt, task.endedAt)}`;
  const why = task.error === null ? '' : `: ${short(task.error.split('\n', 1)[0] ?? '')}`;
  const called = task.state === 'waiting' && task.child?.run ? ` for run ${task.child.run} of ${task.child.dag}` : '';
  const counts = task.instances === null ? '' : ` ${countsText(task)}`;
  return `  ${short(task.name)} ${coloured(task.state)}${counts}${attempt}${called}${took}${why}`;
}
