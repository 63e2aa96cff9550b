/** Finds one cycle among tasks that need each other, in linear time and without recursion: a chain may be 10,000 long. */

/** The tasks of a cycle, each needing the next and the last the first; null when there is none. */
export function findCycle(needs: readonly (readonly number[])[]): readonly number[] | null {
  const unmet = needs.map((list) => list.length);
  const followers: number[][] = needs.map(() => []);
  needs.forEach((list, no) => {
    for (const need of list) followers[need]?.push(no);
  });

  const free = unmet.flatMap((count, no) => (count === 0 ? [no] : []));
  let settled = 0;
  for (let task = free.pop(); task !== undefined; task = free.pop()) {
    settled++;
    for (const follower of followers[task] ?? []) {
      const left = (unmet[follower] ?? 0) - 1;
      unmet[follower] = left;
      if (left === 0) free.push(follower);
    }
  }
  return settled === needs.length ? null : walkToCycle(needs, unmet);
}

/** Every task left has an unmet need that is left too: following those must come to a task seen before. */
function walkToCycle(needs: readonly (readonly number[])[], unmet: readonly number[]): readonly number[] {
  const isLeft = (no: number): boolean => (unmet[no] ?? 0) > 0;
  const seenAt = new Map<number, number>();
  const way: number[] = [];
  let task = unmet.findIndex((count) => count > 0);
  while (!seenAt.has(task)) {
    seenAt.set(task, way.length);
    way.push(task);
    task = needs[task]?.find(isLeft) ?? task;
  }
  return way.slice(seenAt.get(task));
}
