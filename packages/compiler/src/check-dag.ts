/** Asks of a definition, before any server does, whether it can be run; each fault at its place in the file. */
import { type DagDefinition, type Problem, SignalboxError, toDagSpec } from '@signalbox/protocol';
import { advise } from './advise.ts';
import type { CompileProblem, Spot } from './compiled.ts';

export type FindSpot = (problem: Problem) => Spot & { readonly file?: string };

export function checkDag(definition: DagDefinition, file: string, findSpot: FindSpot): CompileProblem[] {
  try {
    toDagSpec(definition);
    return [];
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    const problems = error.details.problems ?? [{ path: '', message: error.message }];
    return problems.map((problem) => {
      const { message, remedy } = advise(problem, definition);
      return { file, ...findSpot(problem), message, remedy };
    });
  }
}
