/** A run where nothing can be redrawn: one line per change of a task. */
import type { RunView, TaskView } from '@signalbox/sdk';
import { countsText } from '../instances.ts';
import { coloured, short, spanBetween } from '../output.ts';
import { holdText } from '../why-text.ts';
import { AttemptLines } from './attempt-lines.ts';

export class PlainView {
  readonly #print: (line: string) => void;
  readonly #seen = new Map<string, string>();
  readonly #attempts = new AttemptLines();
  #why = '';
  #state = '';

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  show(run: RunView): void {
    if (this.#state === '') this.#print(`run ${run.id} of ${run.dag}, version ${run.version}`);
    for (const task of run.tasks) {
      for (const line of this.#attempts.of(task)) this.#print(line);
      const held = isHeld(task) ? (task.why?.code ?? '') : '';
      const now = `${task.state} ${task.attempt} ${task.child?.run ?? ''} ${task.instances?.states.failed ?? 0} ${held}`;
      const before = this.#seen.get(task.name);
      this.#seen.set(task.name, now);
      // What was never anything but waiting for its turn is no news.
      const isNews = before === undefined ? task.state !== 'blocked' : before !== now;
      if (isNews) this.#print(lineOf(task));
    }
    const why = holdText(run.why);
    if (why !== '' && why !== this.#why && OWN.has(run.why?.code ?? '')) this.#print(`  ${why}`);
    this.#why = why;
    this.#state = run.state;
  }
}

/** Reasons of the run itself: those of a task are told with the task. */
const OWN: ReadonlySet<string> = new Set(['run_queued', 'run_key', 'requires', 'run_paused', 'set_aside']);

const isHeld = ({ why }: TaskView): boolean => why !== null && !OWN.has(why.code) && why.code !== 'upstream';

function lineOf(task: TaskView): string {
  const attempt = task.attempt > 0 ? ` attempt ${task.attempt}` : '';
  const took =
    task.startedAt === null || task.endedAt === null ? '' : ` after ${spanBetween(task.startedAt, task.endedAt)}`;
  const hold = isHeld(task) ? holdText(task.why) : '';
  // Of a task that is retried, the line of the attempt has told the error.
  const isTold = task.state === 'retrying' && task.attempts.some(({ attempt }) => attempt === task.attempt);
  const error = task.error === null || isTold ? '' : short(task.error.split('\n', 1)[0] ?? '');
  const said = [error, hold].filter((part) => part !== '');
  const why = said.length === 0 ? '' : `: ${said.join(' ')}`;
  const called = task.state === 'waiting' && task.child?.run ? ` for run ${task.child.run} of ${task.child.dag}` : '';
  const counts = task.instances === null ? '' : ` ${countsText(task)}`;
  return `  ${short(task.name)} ${coloured(task.state)}${counts}${attempt}${called}${took}${why}`;
}
