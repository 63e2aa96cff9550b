/** What schedules require of other dags, drawn. */
import { type DagSpec, UNMET_POLICIES } from '@signalbox/engine';
import type { Chance } from './chance.ts';

export function planRequires(chance: Chance, spec: DagSpec): DagSpec {
  if (spec.schedule === null || !chance.happens(0.2)) return spec;
  const count = chance.int(1, 2);
  const requires = Array.from({ length: count }, () => {
    const dag = chance.pick(['dag0', 'dag1', 'nobody']);
    return chance.happens(0.4) ? { dag, window: 'same' as const } : { dag, withinMs: chance.int(5_000, 60_000) };
  });
  const waitMs = chance.pick([0, 3_000, 15_000]);
  const unmet = chance.pick(UNMET_POLICIES);
  const looks = chance.happens(0.3) ? { lookMs: chance.int(1_000, 8_000) } : {};
  return { ...spec, schedule: { ...spec.schedule, requires, unmet, waitMs, ...looks } };
}
