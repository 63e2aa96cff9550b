/** The grid of a dag: a row for each task that any of the runs has, in the order of the newest run. */
import type { DagGrid } from '@signalbox/protocol';
import { lookOf } from '../../parts/states.ts';
import { stateAt } from '../run/model.ts';

export interface GridRow {
  readonly name: string;
  /** By run; null where the run does not have the task. */
  readonly states: readonly (string | null)[];
}

/** The answer has the newest run first; the grid has it last. */
export function gridOf({
  runs,
  shapes,
}: Pick<DagGrid, 'shapes'> & { readonly runs: readonly GridStates[] }): GridRow[] {
  const rows = new Map<string, (string | null)[]>();
  runs.forEach(({ shape, states, instances }, back) => {
    const column = runs.length - 1 - back;
    shapes[shape]?.names.forEach((name, no) => {
      const known = rows.get(name) ?? new Array<string | null>(runs.length).fill(null);
      known[column] = stateAt(states[no], instances[String(no)]);
      rows.set(name, known);
    });
  });
  return [...rows].map(([name, states]) => ({ name, states }));
}

type GridStates = Pick<DagGrid['runs'][number], 'shape' | 'states' | 'instances'>;

/** `9 succeeded, 2 failed`: what a row says to whoever does not see it. */
export function summaryOf({ states }: GridRow): string {
  const counts = new Map<string, number>();
  for (const state of states) {
    const word = state === null ? 'not in the run' : lookOf(state).word.toLowerCase();
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, number]) => `${number} ${word}`).join(', ');
}

export interface Place {
  readonly row: number;
  readonly column: number;
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Where an arrow leads; null for other keys. The first one goes to the newest run. */
export function moveIn(
  place: Place | null,
  key: string,
  size: { readonly rows: number; readonly columns: number },
): Place | null {
  const step = STEPS[key];
  if (step === undefined || size.rows === 0 || size.columns === 0) return null;
  if (place === null) return { row: 0, column: size.columns - 1 };
  const within = (value: number, most: number) => Math.min(most - 1, Math.max(0, value));
  return { row: within(place.row + step[0], size.rows), column: within(place.column + step[1], size.columns) };
}
