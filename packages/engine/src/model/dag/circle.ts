import type { DagSpec } from './spec.ts';

/** Tasks that need each other in a circle, each the next one, by way of one of these; null when there are none. What a map runs over, its tasks need. */
export function circleIn(
  { tasks, groups = [] }: Pick<DagSpec, 'tasks' | 'groups'>,
  from: readonly number[],
): number[] | null {
  const sources = groups.map(({ map }) => map?.over.flatMap((one) => (one.from === 'task' ? [one.task] : [])) ?? []);
  const needsOf = (no: number): number[] => {
    const needs = [...tasks[no]!.needs];
    let group = tasks[no]!.group ?? null;
    for (; group !== null; group = groups[group]!.parent) needs.push(...sources[group]!);
    return needs;
  };
  // 1: on the way that is looked at; 2: leads into no circle.
  const seen = new Uint8Array(tasks.length);
  for (const start of from) {
    const way: { readonly no: number; readonly needs: number[] }[] = [];
    if (seen[start] === 0) enter(start);
    for (let at = way.at(-1); at !== undefined; at = way.at(-1)) {
      const next = at.needs.pop();
      if (next === undefined) {
        seen[at.no] = 2;
        way.pop();
      } else if (seen[next] === 1) return way.slice(way.findIndex(({ no }) => no === next)).map(({ no }) => no);
      else if (seen[next] === 0) enter(next);
    }
    function enter(no: number): void {
      seen[no] = 1;
      way.push({ no, needs: needsOf(no) });
    }
  }
  return null;
}
