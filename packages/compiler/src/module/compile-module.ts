/** Compiles a code file: bundles it, loads it in a separate process, and asks it for its dags. */

import { basename } from 'node:path';
import { worksIn } from '@signalbox/protocol';
import { inlineCalendars } from '../calendar/inline-calendars.ts';
import { checkDag } from '../check-dag.ts';
import {
  type Bundle,
  type CompileProblem,
  type DraftDag,
  type FileResult,
  NOWHERE,
  type SourceFile,
} from '../compiled.ts';
import { buildBundle } from './bundle.ts';
import { type Evaluated, evaluate, type Held } from './evaluate.ts';
import { SourcePlaces } from './source-place.ts';

const entryFor = (file: string): string =>
  [
    `import * as exported from ${JSON.stringify(`./${basename(file)}`)};`,
    'import { collectDags } from "@signalbox/sdk/authoring";',
    'const collected = collectDags(exported);',
    'export const functions = collected.functions;',
    'export const dags = collected.dags;',
  ].join('\n');

export async function compileModule(file: SourceFile): Promise<FileResult> {
  const outcome = await buildBundle(file, entryFor(file.path));
  // Not kept: what it failed on, such as a file that is not there yet, is not among what it was made of.
  if (!outcome.ok) return { dags: [], problems: outcome.problems, madeOf: null };
  const { bundle, madeOf, usesSdk } = outcome.built;
  if (!usesSdk) return { dags: [], problems: noDagsIn(file), madeOf };
  const evaluated = await evaluate(bundle.code, file);
  if (evaluated.kind !== 'held') return { dags: [], problems: [failureOf(evaluated, bundle, file)], madeOf };
  const inlined = await Promise.all(evaluated.held.dags.map((dag) => inlineCalendars({ ...dag.definition }, file)));
  const fault = inlined.flatMap(({ faults }) => faults)[0];
  if (fault !== undefined) {
    const { message, remedy } = fault;
    return { dags: [], problems: [{ file: file.shown, ...NOWHERE, message, remedy }], madeOf: null };
  }
  const dags = evaluated.held.dags.map((dag, no) => {
    return { ...dag, definition: (inlined[no]?.definition ?? dag.definition) as typeof dag.definition };
  });
  const sources = inlined.flatMap(({ read }) => read);
  return { ...takeDags({ ...evaluated.held, dags }, bundle, file), madeOf: [...madeOf, ...sources] };
}

/** A file without dags is a library of others. */
function noDagsIn({ isNamed, shown }: SourceFile): CompileProblem[] {
  if (!isNamed) return [];
  const remedy = 'Export what dag() of @signalbox/sdk returns.';
  return [{ file: shown, ...NOWHERE, message: 'the file exports no dag', remedy }];
}

function takeDags({ dags }: Held, bundle: Bundle, file: SourceFile): Omit<FileResult, 'madeOf'> {
  if (dags.length === 0) return { dags: [], problems: noDagsIn(file) };
  const places = new SourcePlaces(bundle, file);
  const taken: DraftDag[] = [];
  const problems: CompileProblem[] = [];
  for (const dag of dags) {
    const spotOf = (at: Held['dags'][number]['place']) => {
      const found = at === null ? null : places.find(at);
      return found === null ? NOWHERE : { file: found.file, line: found.line, column: found.column };
    };
    const hasFunctions = worksIn(dag.definition).some((work) => work.function !== undefined);
    const definition = hasFunctions ? { ...dag.definition, bundle: bundle.hash } : dag.definition;
    const found = checkDag(definition, file.shown, ({ path }) => {
      const [, kind, no] = /^(tasks|groups)\[(\d+)\]/.exec(path) ?? [];
      const list = kind === 'groups' ? dag.groupPlaces : dag.places;
      return spotOf(no === undefined ? dag.place : (list[Number(no)] ?? dag.place));
    });
    problems.push(...found);
    if (found.length > 0) continue;
    const wanted = { listed: dag.files, spotOf: () => spotOf(dag.place) };
    taken.push({ name: definition.name, file: file.shown, definition, bundle: hasFunctions ? bundle : null, wanted });
  }
  return { dags: taken, problems };
}

function failureOf(evaluated: Exclude<Evaluated, { kind: 'held' }>, bundle: Bundle, file: SourceFile): CompileProblem {
  if (evaluated.kind === 'ended') {
    return { file: file.shown, ...NOWHERE, message: evaluated.message, remedy: evaluated.remedy };
  }
  const { name, message, stack, reason, remedy, place } = evaluated.thrown;
  const places = new SourcePlaces(bundle, file);
  const found = place === null ? places.inStack(stack) : places.find(place);
  const at = found === null ? NOWHERE : { line: found.line, column: found.column };
  return {
    file: found?.file ?? file.shown,
    ...at,
    message: place === null ? `loading the file threw ${name}: ${message}` : (reason ?? message),
    remedy,
  };
}
