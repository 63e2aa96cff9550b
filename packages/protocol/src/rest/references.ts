/**
 * References in a definition: `${{ tasks.extract.output.rows[0].id }}`, `${{ params.day }}`, `${{ secrets.API_KEY }}`; within a
 * map also `${{ item.path }}`, `${{ index }}`, and of a map further out `${{ groups.outer.item }}`.
 * What they point to is data, and stays data wherever it is put (I69): they are read here once, never evaluated.
 */

export type Path = readonly (string | number)[];

export type Reference =
  | { readonly from: 'task'; readonly task: string; readonly path: Path }
  | { readonly from: 'params'; readonly path: Path }
  /** Without a group: the innermost map. */
  | { readonly from: 'item'; readonly group: string | null; readonly path: Path }
  | { readonly from: 'index'; readonly group: string | null }
  /** A value of the run, or of the window that it was created for. */
  | { readonly from: 'run'; readonly field: RunField }
  | { readonly from: 'secret'; readonly name: string };

export const RUN_FIELDS = [
  'run.id',
  'run.dag',
  'run.createdAt',
  'run.priority',
  'run.unmet',
  'run.assets',
  'window.at',
  'window.start',
  'window.end',
] as const;
export type RunField = (typeof RUN_FIELDS)[number];

export type ReadReference =
  | { readonly ok: true; readonly reference: Reference }
  | { readonly ok: false; readonly message: string };

const OPEN = '${{';
const CLOSE = '}}';
const STEP = /^(?:\.([A-Za-z_][A-Za-z0-9_-]{0,199})|\[(\d{1,9})\]|\["((?:[^"\\\x00-\x1f]){1,200})"\])/;
export const UNCLOSED = 'a reference is not closed: write ${{ … }} with two braces on each side';
const FORMS =
  '${{ tasks.<name>.output }}, ${{ params.<name> }}, ${{ run.id }}, ${{ window.at }} or ${{ secrets.<NAME> }}, or ${{ item }} or ${{ index }} within a map';

export const hasReference = (text: string): boolean => text.includes(OPEN);

/** A text that is one reference and nothing else; null when it has none in it at all. */
export function readReference(text: string): ReadReference | null {
  if (!hasReference(text)) return null;
  const trimmed = text.trim();
  if (!trimmed.startsWith(OPEN) || !trimmed.endsWith(CLOSE) || trimmed.indexOf(OPEN, 1) !== -1) {
    return {
      ok: false,
      message: 'a reference must be the whole value: write it alone, with nothing before or after it',
    };
  }
  return readInner(trimmed.slice(OPEN.length, -CLOSE.length).trim());
}

export function readInner(inner: string): ReadReference {
  const root = /^(tasks|params|secrets|item|index|groups|run|window)(?![A-Za-z0-9_-])/.exec(inner)?.[1];
  if (root === undefined) return { ok: false, message: `"${inner.slice(0, 100)}" is not a reference: write ${FORMS}` };
  const { steps, length } = readSteps(inner.slice(root.length));
  const rest = inner.slice(root.length + length);
  if (rest !== '') {
    return {
      ok: false,
      message: `"${rest.slice(0, 100)}" is not a valid step of a reference: write .name, [0] or ["a name"]`,
    };
  }
  if (root === 'run' || root === 'window') return readRunField(`${root}${showPath(steps)}`);
  if (root === 'params') return { ok: true, reference: { from: 'params', path: steps } };
  if (root === 'item') return { ok: true, reference: { from: 'item', group: null, path: steps } };
  if (root === 'index' || root === 'groups') return readPlace(root === 'index' ? [null, 'index', ...steps] : steps);
  const [name, output, ...path] = steps;
  if (root === 'secrets') {
    if (typeof name === 'string' && output === undefined) return { ok: true, reference: { from: 'secret', name } };
    return { ok: false, message: 'a secret is named by one word: write ${{ secrets.<NAME> }}' };
  }
  if (typeof name !== 'string' || output !== 'output') {
    return {
      ok: false,
      message: `only the output of a task is available: write \${{ tasks.${String(name ?? '<name>')}.output }}`,
    };
  }
  return { ok: true, reference: { from: 'task', task: name, path } };
}

function readRunField(text: string): ReadReference {
  const field = RUN_FIELDS.find((known) => known === text);
  if (field !== undefined) return { ok: true, reference: { from: 'run', field } };
  return { ok: false, message: `"${text.slice(0, 100)}" is not known: there are ${RUN_FIELDS.join(', ')}` };
}

/** `groups.<name>.item…`, `groups.<name>.index`; `index` alone is that of no named group. */
function readPlace([group, what, ...path]: readonly (string | number | null | undefined)[]): ReadReference {
  const steps = path as Path;
  if (typeof group === 'string' || group === null) {
    if (what === 'item') return { ok: true, reference: { from: 'item', group, path: steps } };
    if (what === 'index' && path.length === 0) return { ok: true, reference: { from: 'index', group } };
  }
  return {
    ok: false,
    message:
      'only item and index of a map are available: write ${{ groups.<name>.item }} or ${{ groups.<name>.index }}',
  };
}

/** The steps that a text begins with, and how much of it they are. */
export function readSteps(text: string): { readonly steps: (string | number)[]; readonly length: number } {
  const steps: (string | number)[] = [];
  let length = 0;
  for (let match = STEP.exec(text); match !== null; match = STEP.exec(text.slice(length))) {
    steps.push(match[1] ?? match[3] ?? Number(match[2]));
    length += match[0].length;
  }
  return { steps, length };
}

/** How a path is written, for messages and for definitions made by programs. */
export function showPath(path: Path): string {
  return path
    .map((step) =>
      typeof step === 'number' ? `[${step}]` : /^[A-Za-z_][A-Za-z0-9_-]*$/.test(step) ? `.${step}` : `["${step}"]`,
    )
    .join('');
}

export const taskReference = (task: string, path: Path = []): string =>
  `\${{ tasks${showPath([task])}.output${showPath(path)} }}`;

/** What lies at the end of a path; undefined when nothing does. Own properties only: a path never reaches a prototype. */
export function follow(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

export const EMBEDDED = /\$\{\{([^{}]*)\}\}/g;
