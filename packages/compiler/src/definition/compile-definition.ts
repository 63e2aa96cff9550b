/** Compiles a YAML or JSON file: reads it, puts its calls into a bundle, and checks it. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { DagDefinition, Problem } from '@signalbox/protocol';
import { inlineCalendars } from '../calendar/inline-calendars.ts';
import { checkDag } from '../check-dag.ts';
import { type Bundle, type CompileProblem, type FileResult, NOWHERE, type SourceFile } from '../compiled.ts';
import { bundleCalls, takeCalls } from './calls.ts';
import { isObject } from './is-object.ts';
import { type ReadText, readText } from './read-text.ts';

/** Whether a text that can't be read was meant as a dag at all. */
const MENTIONS_TASKS = /(?:^|[\s{,"'])tasks["']?\s*:/;

export async function compileDefinition(file: SourceFile): Promise<FileResult> {
  const text = await readFile(file.path, 'utf8');
  const outcome = readText(text, extname(file.path) === '.json' ? 'json' : 'yaml');
  const result = (problems: CompileProblem[]): FileResult => ({ dags: [], problems, madeOf: [file.path] });
  if (!outcome.ok) {
    if (!file.isNamed && !MENTIONS_TASKS.test(text)) return result([]);
    return result(outcome.faults.map((fault) => ({ file: file.shown, ...fault })));
  }
  const { read } = outcome;
  if (!isObject(read.value) || !('tasks' in read.value)) {
    const isNamed = isObject(read.value) && 'name' in read.value;
    const misspelt = isNamed ? Object.keys(read.value as object).find(isAlmostTasks) : undefined;
    if (misspelt !== undefined) {
      const message = `the field "${misspelt}" is unknown, and the file has no tasks`;
      return result([{ file: file.shown, ...read.spotOf('', misspelt), message, remedy: 'Write "tasks".' }]);
    }
    // Other files lie in the folders of dags, too.
    if (!file.isNamed) return result([]);
    const remedy = 'A dag has a name and a list of tasks.';
    return result([{ file: file.shown, ...read.spotOf(''), message: 'the file has no tasks', remedy }]);
  }
  return compileTasks(file, read, read.value);
}

async function compileTasks(file: SourceFile, read: ReadText, written: Record<string, unknown>): Promise<FileResult> {
  const { files: listed, ...rest } = withoutSchema(written);
  const calendars = await inlineCalendars(rest, file);
  const { definition, calls, problems } = takeCalls(calendars.definition, file, read);
  if (calendars.faults.length > 0) {
    const faults = calendars.faults.map(({ path, ...fault }) => ({ file: file.shown, ...read.spotOf(path), ...fault }));
    // Not kept: a file that is not there yet is not among what it was made of.
    return { dags: [], problems: [...problems, ...faults], madeOf: null };
  }
  let bundle: Bundle | null = null;
  const sources = [file.path, ...calendars.read];
  let madeOf: readonly string[] | null = sources;
  if (calls.length > 0 && problems.length === 0) {
    const made = await bundleCalls(calls, file);
    problems.push(...made.problems);
    bundle = made.bundle;
    madeOf = made.madeOf === null ? null : [...sources, ...made.madeOf];
  }
  // A bundle that could not be made is said once; the rest is looked at as if it were there.
  const hash = bundle?.hash ?? (calls.length > 0 ? '0'.repeat(64) : undefined);
  const whole = (hash === undefined ? definition : { ...definition, bundle: hash }) as DagDefinition;
  problems.push(...checkDag(whole, file.shown, (problem) => spotOf(problem, read)));
  if (problems.length > 0) return { dags: [], problems, madeOf };
  const wanted = { listed, spotOf: (no: number | null) => read.spotOf(no === null ? 'files' : `files[${no}]`) };
  return { dags: [{ name: whole.name, file: file.shown, definition: whole, bundle, wanted }], problems: [], madeOf };
}

/** An unknown field is a fault of the field, not of what it stands in; a call stands where its function would. */
function spotOf({ path, message }: Problem, read: ReadText) {
  const key = /^Unrecognized keys?: "([^"]+)"/.exec(message)?.[1];
  const spot = read.spotOf(path.replace(/\.function$/, '.call'), key);
  return spot.line === null ? NOWHERE : spot;
}

/** Editors know `$schema` in JSON; it says nothing about the dag. */
function withoutSchema({ $schema: _, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return rest;
}

/** `task`, `Tasks`, `taks`: a letter too many, too few, another one, or two that changed places. */
function isAlmostTasks(key: string): boolean {
  const word = key.toLowerCase();
  if (word === TASKS) return true;
  const places = Array.from({ length: TASKS.length + 1 }, (_, at) => at);
  const without = places.map((at) => TASKS.slice(0, at) + TASKS.slice(at + 1));
  if (without.includes(word)) return true;
  const swapped = places.map(
    (at) => TASKS.slice(0, at) + (TASKS[at + 1] ?? '') + (TASKS[at] ?? '') + TASKS.slice(at + 2),
  );
  if (swapped.includes(word)) return true;
  // One letter too many, or another one: the word without it is what is left of ours.
  return Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1)).some(
    (rest) => rest === TASKS || (word.length === TASKS.length && without.includes(rest)),
  );
}

const TASKS = 'tasks';
