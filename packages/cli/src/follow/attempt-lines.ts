/**
 * Attempts that have ended since the last look. The tasks can skip a whole attempt between two looks; the list of attempts
 * does not.
 */
import type { TaskView } from '@signalbox/sdk';
import { coloured, short, spanBetween } from '../output.ts';

type Attempt = TaskView['attempts'][number];

export class AttemptLines {
  /** By task: the attempts that were told. */
  readonly #told = new Map<string, Set<number>>();

  /** A line for each attempt that has ended and failed. How the last one of a task ended is told with the task. */
  of({ name, state, attempt: newest, attempts }: TaskView): string[] {
    const told = this.#told.get(name) ?? new Set<number>();
    this.#told.set(name, told);
    const isOver = state === 'failed' || state === 'succeeded';
    const news = attempts.filter(({ attempt, outcome }) => outcome !== null && !told.has(attempt));
    for (const { attempt } of news) told.add(attempt);
    return news
      .filter(({ attempt, outcome }) => outcome !== 'succeeded' && !(isOver && attempt === newest))
      .map((attempt) => lineOf(name, attempt));
  }
}

function lineOf(name: string, { attempt, outcome, startedAt, endedAt, error, speculative }: Attempt): string {
  const took = startedAt === null || endedAt === null ? '' : ` after ${spanBetween(startedAt, endedAt)}`;
  const why = error === null ? '' : `: ${short(error.split('\n', 1)[0] ?? '')}`;
  const beside = speculative ? ' (speculative)' : '';
  return `  ${short(name)} attempt ${attempt}${beside} ended: ${coloured(outcome ?? '')}${took}${why}`;
}
