/** A dag as a value: its definition, its functions, and where it was written. */
import type { DagDefinition } from '@signalbox/protocol';
import type { Handler } from '../handler.ts';
import type { Place } from './mistake.ts';

export const DAG: unique symbol = Symbol.for('signalbox.dag');
declare const PARAMS: unique symbol;
declare const OUTPUT: unique symbol;

/** `Output` is what a caller of the dag gets: the output of each leaf, by the name of the task. */
export interface Dag<Params = unknown, Output = unknown> {
  readonly [DAG]: true;
  /** For the types of tests, and of calls, only. */
  readonly [PARAMS]?: Params;
  readonly [OUTPUT]?: Output;
  readonly name: string;
  /** The same as in YAML. Its functions are in no bundle yet: the compiler makes one. */
  readonly definition: DagDefinition;
  /** By the names that the definition has for them: `<dag>/<task>`. */
  readonly functions: Readonly<Record<string, Handler>>;
  /** The dags that its tasks run, by name, where they were given as such. */
  readonly calls: Readonly<Record<string, Dag>>;
  /** What it has under `files`, as it was written. */
  readonly files: readonly string[];
  /** Where its tasks were written, in the order of the definition. */
  readonly places: readonly (Place | null)[];
  /** And where its groups were. */
  readonly groupPlaces: readonly (Place | null)[];
  readonly place: Place | null;
}

export function isDag(value: unknown): value is Dag {
  return typeof value === 'object' && value !== null && DAG in value;
}
