/**
 * Walks along the edges of the dag as deployed. An added task can be reached, but no path leads from it to a task of the
 * dag: it can be dropped again, and that must not change what was decided without it.
 */
type Edges = (no: number) => Iterable<number>;

interface WalkTask {
  readonly addedBy?: number;
}

/** All that is reached downwards from these in at least one step. */
export function walkDown(from: Iterable<number>, below: Edges, tasks: readonly WalkTask[]): Set<number> {
  return walk(from, below, (no, next) => isAdded(tasks[no]!) && !isAdded(tasks[next]!));
}

/** All that is reached upwards. */
export function walkUp(from: Iterable<number>, above: Edges, tasks: readonly WalkTask[]): Set<number> {
  return walk(from, above, (no, next) => isAdded(tasks[next]!) && !isAdded(tasks[no]!));
}

const isAdded = ({ addedBy }: WalkTask) => addedBy !== undefined;

function walk(from: Iterable<number>, next: Edges, isClosed: (no: number, other: number) => boolean): Set<number> {
  const [seen, stack] = [new Set<number>(), [...from]];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (const other of next(no)) {
      if (seen.has(other) || isClosed(no, other)) continue;
      seen.add(other);
      stack.push(other);
    }
  }
  return seen;
}
