/** What differs between two runs, task by task. */
import type { TaskRow } from './model.ts';

export interface ComparedTask {
  readonly name: string;
  readonly state: string | null;
  readonly otherState: string | null;
  readonly tookMs: number | null;
  readonly otherMs: number | null;
  readonly differenceMs: number | null;
}

interface Divergence {
  readonly name: string;
  readonly state: string;
  readonly otherState: string;
}

export interface Comparison {
  /** Those with other states first, then by how much longer or shorter they took. */
  readonly tasks: readonly ComparedTask[];
  /** The task that ended first of those whose results differ. */
  readonly divergence: Divergence | null;
}

const tookOf = ({ startedMs, claimedMs, endedMs }: TaskRow): number | null =>
  endedMs === null ? null : endedMs - (startedMs ?? claimedMs ?? endedMs);

export function compareRows(rows: readonly TaskRow[], others: readonly TaskRow[]): Comparison {
  const byName = new Map(others.map((row) => [row.name, row]));
  const names = new Set([...rows.map(({ name }) => name), ...byName.keys()]);
  const own = new Map(rows.map((row) => [row.name, row]));
  const tasks = [...names].map((name): ComparedTask => {
    const [here, there] = [own.get(name), byName.get(name)];
    const tookMs = here === undefined ? null : tookOf(here);
    const otherMs = there === undefined ? null : tookOf(there);
    const differenceMs = tookMs === null || otherMs === null ? null : tookMs - otherMs;
    return { name, state: here?.state ?? null, otherState: there?.state ?? null, tookMs, otherMs, differenceMs };
  });
  const differs = ({ state, otherState }: ComparedTask) => state !== otherState;
  tasks.sort(
    (a, b) => Number(differs(b)) - Number(differs(a)) || Math.abs(b.differenceMs ?? 0) - Math.abs(a.differenceMs ?? 0),
  );
  const endOf = (name: string) =>
    Math.min(own.get(name)?.endedMs ?? Number.POSITIVE_INFINITY, byName.get(name)?.endedMs ?? Number.POSITIVE_INFINITY);
  const first = tasks
    .filter((task) => differs(task) && task.state !== null && task.otherState !== null)
    .sort((a, b) => endOf(a.name) - endOf(b.name))[0];
  const divergence =
    first === undefined
      ? null
      : { name: first.name, state: first.state as string, otherState: first.otherState as string };
  return { tasks, divergence };
}
