/** The grid of a dag: a row for each task that any of the runs has, in the order of the newest run. */
export interface GridRow {
  readonly name: string;
  /** By run; null where the run does not have the task, or is not read yet. */
  readonly states: readonly (string | null)[];
}

interface Stated {
  readonly name: string;
  readonly state: string;
}

/** Runs from the oldest to the newest; null for one that is not read yet. */
export function gridOf(runs: readonly (readonly Stated[] | null)[]): GridRow[] {
  const states = new Map<string, (string | null)[]>();
  for (let at = runs.length - 1; at >= 0; at--) {
    for (const { name, state } of runs[at] ?? []) {
      const known = states.get(name) ?? runs.map(() => null);
      known[at] = state;
      states.set(name, known);
    }
  }
  return [...states].map(([name, list]) => ({ name, states: list }));
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
