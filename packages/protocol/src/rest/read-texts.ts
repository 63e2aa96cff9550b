/** The texts of a task that may have references in them, apart from its inputs: what each may refer to, and where it stands. */
import type { Problem } from '../errors.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import { hasReference, type Reference } from './references.ts';
import { readShellLine } from './shell-references.ts';
import { readTemplate, sourcesIn, type Template, type ToSource } from './template.ts';

type Task = Pick<ParsedDagDefinition['tasks'][number], 'run' | 'env' | 'http'>;

interface Text {
  /** Its place in the work that a worker gets, and in the definition. */
  readonly place: string;
  readonly path: string;
  readonly value: unknown;
  readonly maySecret: boolean;
}

function* textsOf({ run, env, http }: Task): Generator<Text> {
  if (Array.isArray(run)) {
    for (const [no, value] of run.entries()) yield { place: `run[${no}]`, path: `run[${no}]`, value, maySecret: false };
  }
  if (typeof run === 'string') {
    const line = readShellLine(run);
    const references = line.ok ? line.references : [];
    for (const [no, value] of references.entries()) yield { place: `ref[${no}]`, path: 'run', value, maySecret: false };
  }
  for (const [name, value] of Object.entries(env ?? {})) {
    yield { place: `env.${name}`, path: `env.${name}`, value, maySecret: true };
  }
  if (http === undefined) return;
  yield { place: 'url', path: 'http.url', value: http.url, maySecret: false };
  for (const [name, value] of Object.entries(http.headers)) {
    yield { place: `headers.${name}`, path: `http.headers.${name}`, value, maySecret: true };
  }
  if (http.body !== undefined) yield { place: 'body', path: 'http.body', value: http.body, maySecret: false };
}

const NO_SECRET = 'a secret would be seen here: use it in env or headers, or name it under secrets';

/** The tasks that they refer to. */
export function* tasksInTexts(task: Task): Generator<{ readonly path: string; readonly task: string }> {
  const found: string[] = [];
  const note: ToSource = (reference) => {
    if (reference.from === 'task') found.push(reference.task);
    return { from: 'value', value: null };
  };
  for (const { path, value } of textsOf(task)) {
    readTemplate(value, note);
    for (const name of found.splice(0)) yield { path, task: name };
  }
}

export interface ReadTexts {
  readonly fill: Readonly<Record<string, Template>>;
  /** A command line names variables where it had references. */
  readonly run: Task['run'];
}

export function readTexts(
  task: Task,
  sourceOf: (reference: Exclude<Reference, { from: 'secret' }>) => ReturnType<ToSource>,
  { path: taskPath, problems }: { readonly path: string; readonly problems: Problem[] },
): ReadTexts {
  const fill: [string, Template][] = [];
  for (const { place, path, value, maySecret } of textsOf(task)) {
    const read = readTemplate(value, (reference) => {
      if (reference.from !== 'secret') return sourceOf(reference);
      return maySecret ? reference : NO_SECRET;
    });
    if (!read.ok) problems.push({ path: `${taskPath}.${path}${read.path}`, message: read.message });
    else if (!read.isFixed) fill.push([place, read.template]);
  }
  if (Array.isArray(task.run) && hasReference(task.run[0] ?? '')) {
    problems.push({ path: `${taskPath}.run[0]`, message: 'must name the program itself: references go behind it' });
  }
  const line = typeof task.run === 'string' ? readShellLine(task.run) : null;
  if (line?.ok === false) problems.push({ path: `${taskPath}.run`, message: line.message });
  return { fill: Object.fromEntries(fill), run: line?.ok === true ? line.line : task.run };
}

/** Whether anything in it is about the run itself, which the worker is told only then. */
export function looksAtRun(templates: Iterable<Template>): boolean {
  for (const template of templates) for (const source of sourcesIn(template)) if (source.from === 'run') return true;
  return false;
}
