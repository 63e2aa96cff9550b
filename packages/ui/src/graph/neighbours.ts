/** Those tasks, what they need, and what needs them. */
export function withNeighbours(nos: readonly number[], edges: readonly number[]): Set<number> {
  const chosen = new Set(nos);
  const all = new Set(nos);
  for (let at = 0; at < edges.length; at += 2) {
    const [from, to] = [edges[at] as number, edges[at + 1] as number];
    if (chosen.has(from)) all.add(to);
    if (chosen.has(to)) all.add(from);
  }
  return all;
}
