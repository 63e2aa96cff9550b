/**
 * `call: ./file.ts#load` of a task in YAML or JSON: a function in a code file of the same folder. All functions that a dag
 * calls go into one bundle, under the names `<dag>/<task>`.
 */
import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { HOOK_EVENTS } from '@signalbox/protocol';
import type { Bundle, CompileProblem, SourceFile, Spot } from '../compiled.ts';
import { buildBundle } from '../module/bundle.ts';
import { evaluate } from '../module/evaluate.ts';
import { SourcePlaces } from '../module/source-place.ts';
import { isObject } from './is-object.ts';
import type { ReadText } from './read-text.ts';

export interface Call {
  /** `<dag>/<task>` */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly exported: string;
  readonly spot: Spot;
  readonly written: string;
}

interface Taken {
  readonly definition: Record<string, unknown>;
  readonly calls: readonly Call[];
  readonly problems: CompileProblem[];
}

const FORM = /^(\.\.?\/[^#\0]+\.(?:ts|mts|js|mjs))(?:#([A-Za-z_$][\w$]*))?$/;
const EXAMPLE = 'Write it as call: ./file.ts#name, or call: ./file.ts for its default export.';

/** The definition with `function` where it had `call`. */
export function takeCalls(written: Record<string, unknown>, file: SourceFile, read: ReadText): Taken {
  const problems: CompileProblem[] = [];
  const calls: Call[] = [];
  if (!Array.isArray(written.tasks)) return { definition: written, calls, problems };
  /** What a task, an undo or a hook does; `name` is what its function gets in the bundle. */
  const take = (task: unknown, path: string, name: string): unknown => {
    if (!isObject(task)) return task;
    const refuse = (field: string, message: string, remedy: string): void => {
      problems.push({
        file: file.shown,
        ...read.spotOf(`${path}.${field}`),
        message: `${path}.${field} ${message}`,
        remedy,
      });
    };
    if ('function' in task && written.bundle === undefined) {
      refuse('function', 'refers to a bundle function, but there is no bundle', EXAMPLE);
      return task;
    }
    if (!('call' in task)) return task;
    const { call, ...rest } = task;
    const match = typeof call === 'string' ? FORM.exec(call) : null;
    if (match === null) refuse('call', 'is not a function in a file', EXAMPLE);
    else {
      const target = resolve(dirname(file.path), match[1] as string);
      if (!isWithin(target, file.folder)) {
        refuse(
          'call',
          'leaves the folder of the dags',
          'Move the file into it, or import it from a file that is in it.',
        );
      }
      const spot = read.spotOf(`${path}.call`);
      calls.push({ name, path: target, exported: match[2] ?? 'default', spot, written: String(call) });
    }
    return 'function' in rest ? rest : { ...rest, function: name };
  };
  const takeHooks = (owner: Record<string, unknown>, path: string, name: string): Record<string, unknown> => {
    if (!isObject(owner.hooks)) return owner;
    const hooks = Object.entries(owner.hooks).map(([field, hook]) => {
      const suffix = HOOK_EVENTS.find((event) => event.field === field)?.suffix ?? field;
      return [field, take(hook, `${path}hooks.${field}`, `${name}:${suffix}`)];
    });
    return { ...owner, hooks: Object.fromEntries(hooks) };
  };
  const tasks = written.tasks.map((task: unknown, no) => {
    const [path, name] = [`tasks[${no}]`, `${String(written.name)}/${String(isObject(task) ? task.name : '')}`];
    const taken = take(task, path, name);
    if (!isObject(taken)) return taken;
    const undone = 'undo' in taken ? { ...taken, undo: take(taken.undo, `${path}.undo`, `${name}:undo`) } : taken;
    return takeHooks(undone, `${path}.`, name);
  });
  const templates = Array.isArray(written.templates)
    ? {
        templates: written.templates.map((template: unknown, no) => {
          const name = `${String(written.name)}/${String(isObject(template) ? template.name : '')}`;
          return take(template, `templates[${no}]`, name);
        }),
      }
    : {};
  const definition = takeHooks({ ...written, tasks, ...templates }, '', `${String(written.name)}/run`);
  return { definition, calls, problems };
}

const isWithin = (path: string, folder: string): boolean => path.startsWith(folder + sep);

interface Made {
  readonly bundle: Bundle | null;
  readonly problems: CompileProblem[];
  readonly madeOf: readonly string[] | null;
}

export async function bundleCalls(calls: readonly Call[], file: SourceFile): Promise<Made> {
  const astray = await findAstray(calls, file);
  if (astray.length > 0) return { bundle: null, problems: astray, madeOf: null };
  const outcome = await buildBundle(file, entryFor(calls, file));
  if (!outcome.ok)
    return { bundle: null, problems: outcome.problems.map((it) => placed(it, calls, file)), madeOf: null };
  const { bundle, madeOf } = outcome.built;
  const problems = await checkFunctions(bundle, calls, file);
  return { bundle: problems.length === 0 ? bundle : null, problems, madeOf };
}

function entryFor(calls: readonly Call[], file: SourceFile): string {
  const imports = calls.map(({ path, exported }, no) => {
    const from = JSON.stringify(`./${relative(dirname(file.path), path).split(sep).join('/')}`);
    return `import { ${exported} as call${no} } from ${from};`;
  });
  const fields = calls.map(({ name }, no) => `${JSON.stringify(name)}: call${no}`);
  return `${imports.join('\n')}\nexport const functions = { ${fields.join(', ')} };`;
}

/** A link may lead out of the folder though its own path does not. */
async function findAstray(calls: readonly Call[], file: SourceFile): Promise<CompileProblem[]> {
  const folder = await realpath(file.folder);
  const found = await Promise.all(
    calls.map(async ({ path, spot, written }): Promise<CompileProblem | null> => {
      const real = await realpath(path).catch(() => null);
      if (real !== null && isWithin(real, folder)) return null;
      const [message, remedy] =
        real === null
          ? [`there is no file ${written.split('#')[0]}`, 'Check the path. It is relative to this file.']
          : [`${written} leads out of the folder of the dags`, 'Move the file into it.'];
      return { file: file.shown, ...spot, message, remedy };
    }),
  );
  return found.filter((problem) => problem !== null);
}

/** A fault of the list of imports that we wrote is one of a call. */
function placed(problem: CompileProblem, calls: readonly Call[], file: SourceFile): CompileProblem {
  if (problem.file !== file.shown || problem.line !== null) return problem;
  const missing = /for import "([^"]+)"/.exec(problem.message)?.[1];
  const call = calls.find(({ exported }) => exported === missing);
  if (call === undefined) return problem;
  const what = call.exported === 'default' ? 'default export' : `export ${call.exported}`;
  const message = `${call.written.split('#')[0]} has no ${what}`;
  return { file: file.shown, ...call.spot, message, remedy: EXAMPLE };
}

async function checkFunctions(bundle: Bundle, calls: readonly Call[], file: SourceFile): Promise<CompileProblem[]> {
  const evaluated = await evaluate(bundle.code, file);
  if (evaluated.kind === 'held') {
    const types = new Map(evaluated.held.functions.map(({ name, type }) => [name, type]));
    return calls
      .filter(({ name }) => types.get(name) !== 'function')
      .map(({ name, spot, written }) => {
        const message = `${written} is not a function but ${types.get(name) ?? 'nothing'}`;
        return { file: file.shown, ...spot, message, remedy: 'Export a function there.' };
      });
  }
  const [first] = calls;
  if (evaluated.kind === 'ended' || first === undefined) {
    const { message, remedy } = evaluated.kind === 'ended' ? evaluated : { message: '', remedy: null };
    return [{ file: file.shown, ...(first?.spot ?? { line: null, column: null }), message, remedy }];
  }
  const { name, message, stack } = evaluated.thrown;
  const found = new SourcePlaces(bundle, file).inStack(stack);
  const at = found ?? { file: file.shown, ...first.spot };
  return [
    {
      file: at.file,
      line: at.line,
      column: at.column,
      message: `loading the file threw ${name}: ${message}`,
      remedy: null,
    },
  ];
}
