/** Makes the same checks on a definition as the server, and reports each problem at its place in the file. */
import { type Instant, scheduleFault, type TimetableSpec } from '@signalbox/engine';
import { type DagDefinition, type Problem, SignalboxError, toDagSpec } from '@signalbox/protocol';
import { zoneData } from '@signalbox/protocol/zones';
import { advise } from './advise.ts';
import type { CompileProblem, Spot } from './compiled.ts';

type FindSpot = (problem: Problem) => Spot & { readonly file?: string };

export function checkDag(definition: DagDefinition, file: string, findSpot: FindSpot): CompileProblem[] {
  try {
    const { schedule, schedules = [], expect = [] } = toDagSpec(definition).spec;
    const isList = Array.isArray(definition.expect);
    const places = [
      ...(schedule === null ? [] : [['schedule', schedule] as const]),
      ...schedules.map(({ spec }, no) => [`schedules[${no}]`, spec] as const),
      ...expect.flatMap(({ by }, no) => (by === undefined ? [] : [[isList ? `expect[${no}]` : 'expect', by] as const])),
    ];
    return places.flatMap(([place, spec]) => {
      // The grammar of cron is the engine's: a schedule is refused here for what a server would refuse it for.
      const fault = scheduleFault(spec as TimetableSpec, Date.now() as Instant, zoneData);
      if (fault === null) return [];
      // Where events are expected, the expression is under `by`.
      const path = `${place}.${place.startsWith('expect') && fault.field === 'cron' ? 'by' : fault.field}`;
      const { message, remedy } = fault;
      return [{ file, ...findSpot({ path, message }), message: `${path}: ${message}`, remedy }];
    });
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    const problems = error.details.problems ?? [{ path: '', message: error.message }];
    return withoutEchoes(problems).map((problem) => {
      const { message, remedy } = advise(problem, definition);
      return { file, ...findSpot(problem), message, remedy };
    });
  }
}

/** The name of a function is made of two others: what is wrong with one of them is said there. */
function withoutEchoes(problems: readonly Problem[]): readonly Problem[] {
  const paths = new Set(problems.map(({ path }) => path));
  return problems.filter(({ path }) => {
    const task = /^(tasks\[\d+\])\.function$/.exec(path)?.[1];
    return task === undefined || !(paths.has('name') || paths.has(`${task}.name`));
  });
}
