/** The contents of a bundle: the dags among the exports of a module, and all their functions by name. */
import type { Handler } from '../handler.ts';
import { type Dag, isDag } from './dag-value.ts';

export interface Collected {
  readonly dags: readonly Pick<Dag, 'name' | 'definition' | 'files' | 'place' | 'places' | 'groupPlaces'>[];
  readonly functions: Readonly<Record<string, Handler>>;
}

/** A module may export dags one by one, or in lists. The same dag under two names is one dag. */
export function collectDags(exported: Readonly<Record<string, unknown>>): Collected {
  const dags = new Set(Object.values(exported).flat().filter(isDag));
  return { dags: [...dags], functions: Object.assign({}, ...[...dags].map((dag) => dag.functions)) };
}
