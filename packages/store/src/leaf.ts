/** Names of partitions: one per day, and `default` for rows of a day without one. */
import { firstRunIdAt, type Instant, instantOfRun, type RunId } from '@signalbox/engine';

export const DAY_MS = 86_400_000;

/** The suffix of a partition: `d20412`, by days since 1970, or `default`. */
export type Leaf = `d${number}` | 'default';

/** Which days have partitions. The tables of runs are cut at run ids, the others at instants. */
export interface KnownDays {
  readonly run: ReadonlySet<number>;
  readonly journal: ReadonlySet<number>;
  readonly window: ReadonlySet<number>;
}

export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

function dayOfRun(id: RunId): number {
  return dayOf(instantOfRun(id));
}

export function leafOfRun(days: KnownDays, id: RunId): Leaf {
  return leafOfDay(days.run, dayOfRun(id));
}

export function leafOfJournal(days: KnownDays, at: Instant): Leaf {
  return leafOfDay(days.journal, dayOf(at));
}

export function leafOfWindow(days: KnownDays, firesAt: Instant): Leaf {
  return leafOfDay(days.window, dayOf(firesAt));
}

function leafOfDay(known: ReadonlySet<number>, day: number): Leaf {
  return known.has(day) ? `d${day}` : 'default';
}

type RunTable = 'run' | 'task' | 'attempt' | 'payload' | 'map_expansion' | 'attempt_usage';

/**
 * Where to read what belongs to a leaf. A day without a known partition may have got one since, from a node whose clock
 * leapt ahead: reading `default` alone would miss its rows without a word, so all partitions are asked.
 */
export function readable(table: RunTable, leaf: Leaf): string {
  return leaf === 'default' ? table : `${table}_${leaf}`;
}

/** The bounds of a day's partition in the tables of runs: from the first id to before the second. */
export function runBounds(day: number): readonly [RunId, RunId] {
  return [firstRunIdAt((day * DAY_MS) as Instant), firstRunIdAt(((day + 1) * DAY_MS) as Instant)];
}

/** Groups items by the partition they belong to, in the order they came. */
export function byLeaf<Item>(items: Iterable<Item>, leafOf: (item: Item) => Leaf): Map<Leaf, Item[]> {
  const groups = new Map<Leaf, Item[]>();
  for (const item of items) {
    const leaf = leafOf(item);
    const group = groups.get(leaf);
    if (group === undefined) groups.set(leaf, [item]);
    else group.push(item);
  }
  return groups;
}
