/** A run on a terminal: a block of lines that is redrawn, no higher than the screen, however many tasks there are. */
import { counted } from '@signalbox/protocol';
import { TASK_STATES_BY_RANK, taskStateLook } from '@signalbox/protocol/words';
import type { RunView, TaskView } from '@signalbox/sdk';
import { countsText } from '../instances.ts';
import { coloured, colours, short, spanText, visible } from '../output.ts';
import { progressText } from '../progress.ts';
import { holdText, whyText } from '../why-text.ts';

interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

const MOST_LINES = 24;
const REDRAW_MS = 250;

export class LiveView {
  readonly #screen: Screen;
  readonly #now: () => number;
  #run: RunView | null = null;
  #drawn = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(screen: Screen, now: () => number = Date.now) {
    this.#screen = screen;
    this.#now = now;
  }

  show(run: RunView): void {
    this.#run = run;
    this.#draw();
    // Durations go on while nothing else happens.
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS);
  }

  /** Takes the block away: what comes next is said in full. */
  clear(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#screen.write(upAndClear(this.#drawn));
    this.#drawn = 0;
  }

  #draw(): void {
    if (this.#run === null) return;
    const lines = linesOf(this.#run, { ...sizeOf(this.#screen), now: this.#now() });
    this.#screen.write(`${upAndClear(this.#drawn)}${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }
}

function sizeOf({ columns, rows }: Screen): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}

const upAndClear = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\r\u001b[J`);

export function linesOf(
  run: RunView,
  { columns, rows, now }: { columns: number; rows: number; now: number },
): string[] {
  const room = Math.max(3, Math.min(MOST_LINES, rows - 3));
  const isWhole = run.tasks.length <= room;
  const shown = isWhole ? run.tasks : mostTelling(run.tasks, room - 1);
  const width = shown.reduce((most, { name }) => Math.max(most, Math.min(40, name.length)), 0);
  const lines = [headOf(run, now), ...shown.map((task) => lineOf(task, width, now))];
  if (!isWhole) lines.push(colours.dim(`… and ${counted(run.tasks.length - shown.length, 'more task')}`));
  return lines.map((line) => fit(line, columns));
}

/** Stable within a state, so that lines do not jump about. */
function mostTelling(tasks: readonly TaskView[], count: number): TaskView[] {
  const found: TaskView[] = [];
  for (const state of TASK_STATES_BY_RANK) {
    for (const task of tasks) {
      if (found.length >= count) return found;
      if (task.state === state) found.push(task);
    }
  }
  return found;
}

function headOf(run: RunView, now: number): string {
  const counts = new Map<string, number>();
  for (const { state } of run.tasks) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = Array.from(counts, ([state, count]) => `${count} ${coloured(state)}`);
  const why = run.why === null ? '' : ` ${colours.yellow(whyText(run.why))}`;
  return `${colours.bold(run.dag)} ${coloured(run.outcome ?? run.state)} ${spanText(now - Date.parse(run.createdAt))}: ${parts.join(', ')}${why}`;
}

function lineOf(task: TaskView, width: number, now: number): string {
  const sign = taskStateLook(task.state)?.sign ?? '·';
  const attempt = task.attempt > 1 ? ` attempt ${task.attempt}` : '';
  const span =
    task.startedAt === null
      ? ''
      : ` ${spanText((task.endedAt === null ? now : Date.parse(task.endedAt)) - Date.parse(task.startedAt))}`;
  const why = task.error === null ? '' : ` ${colours.dim(short(task.error.split('\n', 1)[0] ?? ''))}`;
  const hold = holdText(task.why);
  const held = hold === '' ? '' : ` ${colours.yellow(hold)}`;
  const told = progressText(task);
  const far = told === '' ? '' : ` ${colours.dim(short(told))}`;
  const called = task.state === 'waiting' && task.child?.run ? ` for run ${task.child.run}` : '';
  const counts = task.instances === null ? '' : ` ${countsText(task)}`;
  return `  ${sign} ${short(task.name, 40).padEnd(width)}  ${coloured(task.state)}${counts}${attempt}${called}${span}${far}${held}${why}`;
}

/** A line that wraps would be two to go up over. */
function fit(line: string, columns: number): string {
  if (visible(line).length < columns) return line;
  let room = columns - 2;
  // Colours take no room and must all come through: each that opens has its end.
  // biome-ignore lint: the escape is what colours begin with
  const parts = line.split(/(\u001b\[\d+m)/);
  const kept = parts.map((part, i) => {
    if (i % 2 === 1) return part;
    const cut = part.slice(0, Math.max(0, room));
    room -= part.length;
    return cut;
  });
  return `${kept.join('')}…`;
}
