/** What lies between setups and their teardown. */

/** All that needs a task, directly or not. */
export function behind(from: number, needs: readonly (readonly number[])[]): Set<number> {
  return reach([from], (no) => needs.flatMap((of, down) => (of.includes(no) ? [down] : [])));
}

type Teardowns = ReadonlyMap<number, readonly number[]>;

interface Around {
  /** What each task comes after: what it needs, and what its maps go over. */
  readonly edges: readonly (readonly number[])[];
  /** Whether the first is in all the maps that the second is in. */
  readonly isInside: (no: number, of: number) => boolean;
}

/**
 * What tasks wait for, where a teardown waits for what it needs, its setups, and all that works with what they have made: what
 * lies between, or all behind the setups where it does not say what it needs. A teardown whose setups are among that comes first.
 * In a map it is the end of an item: what lies behind the map, for all items, is not waited for.
 */
export function withScopes(
  needs: readonly (readonly number[])[],
  teardowns: Teardowns,
  around: Around,
): readonly (readonly number[])[] {
  if (teardowns.size === 0) return needs;
  const scopes = new Map([...teardowns].map(([no, setups]) => [no, scopeOf(no, setups, needs, teardowns, around)]));
  return needs.map((of, no) => {
    const scope = scopes.get(no);
    if (scope === undefined) return of;
    const isWithin = ([other, setups]: [number, readonly number[]]) =>
      other !== no && setups.length > 0 && setups.every((each) => scope.between.has(each));
    const within = [...teardowns].filter(isWithin).map(([other]) => other);
    return [...new Set([...scope.all, ...within])].sort((a, b) => a - b);
  });
}

function scopeOf(
  teardown: number,
  setups: readonly number[],
  needs: readonly (readonly number[])[],
  teardowns: Teardowns,
  { edges, isInside }: Around,
): { readonly all: ReadonlySet<number>; readonly between: ReadonlySet<number> } {
  const below: number[][] = edges.map(() => []);
  edges.forEach((of, down) => {
    for (const up of of) below[up]?.push(down);
  });
  const own = needs[teardown] ?? [];
  const after = reach(setups, (no) => below[no] ?? []);
  const before = reach(own, (no) => edges[no] ?? []);
  const isBetween = (no: number) =>
    !teardowns.has(no) && isInside(no, teardown) && (own.length === 0 || before.has(no) || own.includes(no));
  const between = new Set([...after].filter(isBetween));
  const all = new Set([...own, ...setups, ...between]);
  all.delete(teardown);
  return { all, between };
}

/** These and all that the next ones lead to. */
function reach(from: readonly number[], next: (no: number) => readonly number[]): Set<number> {
  const [seen, stack] = [new Set<number>(), [...from]];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (const each of next(no)) {
      if (seen.has(each)) continue;
      seen.add(each);
      stack.push(each);
    }
  }
  return seen;
}
