import type { RunMaps } from '../tables/map/run-maps.ts';

/** Which instances the number of a task stands for, outermost first. */
export function pathOf(maps: RunMaps, no: number): number[] {
  const path: number[] = [];
  for (let at = maps.holding(no), index = no; at !== undefined; ) {
    path.unshift(Math.floor((index - at.firstNo) / at.group.members.length));
    if (at.parent === null) break;
    index = at.scope;
    at = at.parent;
  }
  return path;
}
