/** Dags that limit their runs by key, drawn, and the params that give runs their keys. */
import { type DagSpec, ON_FULL, type SubmitRuns } from '@signalbox/engine';
import type { Chance } from './chance.ts';
import type { PlannedDag } from './workload.ts';

/** In most histories nobody does. */
export function usesKeys(chance: Chance): boolean {
  return chance.fork('use of keys').happens(0.4);
}

export function planKeys(chance: Chance, dags: readonly PlannedDag[]): PlannedDag[] {
  return dags.map((dag) => {
    const isKeyed = chance.happens(0.6);
    return { ...dag, versions: dag.versions.map((spec) => (isKeyed ? withKey(chance, spec) : spec)) };
  });
}

/** Some versions have none, and others have another limit. */
function withKey(chance: Chance, spec: DagSpec): DagSpec {
  if (chance.happens(0.2)) return spec;
  const policies = spec.tasks.some(({ past }) => past !== undefined) ? (['queue', 'skip'] as const) : ON_FULL;
  const key = chance.happens(0.8) ? [['of']] : ['all'];
  return { ...spec, concurrency: { text: '', key, limit: chance.int(1, 2), onFull: chance.pick(policies) } };
}

/** Few keys, so that runs meet. */
export function withKeys(chance: Chance, items: SubmitRuns['items']): SubmitRuns['items'] {
  return items.map((item) => {
    if (item.params === null) return item;
    return { ...item, params: JSON.stringify({ ...(JSON.parse(item.params) as object), of: chance.pick(['a', 'b']) }) };
  });
}
