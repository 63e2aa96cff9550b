/** Mapped groups, also in each other: over outputs, params and written lists; empty ones, too large ones, and what is no list. */
import type { DagSpec, GroupSpec, MapSource, Path } from '@signalbox/engine';
import type { Chance } from './chance.ts';

/** A list in every output that is no choice, and in params. */
const ITEMS: Path = ['items'];

export function planMaps(chance: Chance, spec: DagSpec): DagSpec {
  const count = spec.tasks.length;
  if (count < 2) return spec;
  const groupCount = chance.int(1, 2);
  const groupOf = spec.tasks.map((_, no) => (no > 0 && chance.happens(0.6) ? chance.int(0, groupCount - 1) : null));
  const isNested = groupCount > 1 && chance.happens(0.6);
  const groups = Array.from({ length: groupCount }, (_, no): GroupSpec => {
    const parent = no > 0 && isNested ? 0 : null;
    const first = groupOf.findIndex((group) => group === no || (no === 0 && isNested && group === 1));
    if (first < 0) return { name: `g${no}`, parent };
    // Only what comes before all of its members: so nothing waits for itself.
    const over = Array.from({ length: chance.happens(0.2) ? 2 : 1 }, () => planSource(chance, first));
    return { name: `g${no}`, parent, map: { over, mode: chance.happens(0.7) ? 'product' : 'zip' } };
  });
  return {
    ...spec,
    tasks: spec.tasks.map((task, no) => {
      const group = groupOf[no] ?? null;
      return { ...task, facts: [...(task.facts ?? [ITEMS]), ITEMS], ...(group !== null && { group }) };
    }),
    groups,
    paramFacts: [...(spec.paramFacts ?? [ITEMS]), ITEMS],
    ...(chance.happens(0.3) && { maxMapSize: 2 }),
  };
}

function planSource(chance: Chance, first: number): MapSource {
  if (first > 0 && chance.happens(0.8)) return { from: 'task', task: chance.int(0, first - 1), fact: 1 };
  return chance.happens(0.4) ? { from: 'params', fact: 1 } : { from: 'list', length: chance.int(0, 3) };
}
