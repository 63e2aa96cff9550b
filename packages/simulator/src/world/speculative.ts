/** Maps of items that take unevenly long, some of them for ever, whose tasks have opted in to speculative attempts. */
import type { DagSpec, SpeculateSpec, TaskSpec } from '@signalbox/engine';
import type { Chance } from './chance.ts';

export function planSpeculative(chance: Chance, spec: DagSpec): DagSpec {
  const wide = spec.groups === undefined ? widen(chance, spec) : spec;
  const isMapped = ({ group, child }: TaskSpec) => group !== undefined && child === undefined;
  return {
    ...wide,
    tasks: wide.tasks.map((task) =>
      isMapped(task) && chance.happens(0.7) ? { ...task, speculate: planSpeculate(chance) } : task,
    ),
  };
}

/** One of its tasks becomes a map of its own. */
function widen(chance: Chance, spec: DagSpec): DagSpec {
  const chosen = chance.int(0, spec.tasks.length - 1);
  const { branch, shortCircuit } = spec.tasks[chosen]!;
  if (branch !== undefined || shortCircuit !== undefined || spec.schedule !== null) return spec;
  const length = chance.int(3, 5);
  // What hangs twice is ended by its timeout: soon, for a schedule may ask for the next run, and nobody must fall behind for ever.
  const uneven = { handler: 'uneven', timeoutMs: chance.int(2_000, 5_000), group: 0 };
  return {
    ...spec,
    tasks: spec.tasks.map((task, no) => (no === chosen ? { ...task, ...uneven } : task)),
    groups: [{ name: 'wide', parent: null, map: { over: [{ from: 'list', length }], mode: 'product' } }],
  };
}

/** Soon, and after few: histories are short, and so are their maps. */
function planSpeculate(chance: Chance): SpeculateSpec {
  return { factor: chance.between(1, 3), minMs: chance.int(50, 1_500), minimum: 1 };
}
