/** Draws a group of tasks as one node. */
interface Folded {
  /** The tasks that each node stands for. */
  readonly members: readonly (readonly number[])[];
  /** The group that a node stands for; null where it is a single task. */
  readonly groups: readonly (string | null)[];
  /** Pairs of nodes: the one that is needed, then the one that needs it. */
  readonly edges: readonly number[];
  /** The node of each task. */
  readonly nodeOf: readonly number[];
}

/** `groupOf`: the group that each task is drawn as, or null for one that is drawn by itself. */
export function foldGroups(groupOf: readonly (string | null)[], edges: readonly number[]): Folded {
  const members: number[][] = [];
  const groups: (string | null)[] = [];
  const known = new Map<string, number>();
  const nodeOf = groupOf.map((group, task) => {
    const found = group === null ? undefined : known.get(group);
    if (found !== undefined) {
      members[found]?.push(task);
      return found;
    }
    const node = members.push([task]) - 1;
    groups.push(group);
    if (group !== null) known.set(group, node);
    return node;
  });
  const folded: number[] = [];
  const seen = new Set<number>();
  for (let i = 0; i < edges.length; i += 2) {
    const [from, to] = [nodeOf[edges[i] as number] ?? 0, nodeOf[edges[i + 1] as number] ?? 0];
    const key = from * members.length + to;
    if (from === to || seen.has(key)) continue;
    seen.add(key);
    folded.push(from, to);
  }
  return { members, groups, edges: folded, nodeOf };
}

export interface Group {
  readonly name: string;
  /** Place of the group that it is in. */
  readonly parent: number | null;
  readonly mapped: boolean;
}

/** The outermost group of each task that is not a map of its own; those in `open` are drawn task by task. */
export function outermost(
  groups: readonly Group[],
  groupOfTask: readonly (number | null)[],
  open: ReadonlySet<string>,
): (string | null)[] {
  const tops = groups.map((_, place) => {
    let at = place;
    for (let up = groups[at]?.parent ?? null; up !== null; up = groups[at]?.parent ?? null) at = up;
    return groups[at]?.name ?? null;
  });
  const sizes = new Map<string | null, number>();
  for (const group of groupOfTask) {
    const top = group === null ? null : (tops[group] ?? null);
    sizes.set(top, (sizes.get(top) ?? 0) + 1);
  }
  return groupOfTask.map((group) => {
    const top = group === null ? null : (tops[group] ?? null);
    // A mapped task is a group with one task, and one node already.
    return top === null || open.has(top) || (sizes.get(top) ?? 0) < 2 ? null : top;
  });
}
