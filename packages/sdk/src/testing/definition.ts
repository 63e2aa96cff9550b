/** What can be tested: a dag of `dag()`, or a definition that was read from YAML. */
import { type DagDefinition, worksIn } from '@signalbox/protocol';
import { type Dag, isDag } from '../dag/dag-value.ts';
import type { Handler } from '../handler.ts';

export type Testable = Dag | DagDefinition;

/** Functions are found by name here; a bundle, which a server would ask for, is not needed. */
const SOME_BUNDLE = '0'.repeat(64);

export function definitionOf(dag: Testable): DagDefinition {
  const definition = isDag(dag) ? dag.definition : dag;
  const hasFunctions = worksIn(definition).some((work) => work.function !== undefined);
  return hasFunctions && definition.bundle === undefined ? { ...definition, bundle: SOME_BUNDLE } : definition;
}

export const functionsOf = (dag: Testable): Readonly<Record<string, Handler>> => (isDag(dag) ? dag.functions : {});
