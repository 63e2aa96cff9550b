/** What an input of a task is, once the tasks that it needs have ended. Workers and tests of dags ask here. */
import { follow, type Path, type RunField, showPath, taskReference } from './references.ts';
import type { InputSource } from './template.ts';
import { fillTemplate, sourcesIn } from './template.ts';

/** One of the maps that a task is in, with the item that it runs for. */
export interface MapItem {
  readonly group: string;
  readonly index: number;
  readonly item: unknown;
}

export interface InputRoots {
  readonly params: unknown;
  /** By name of the task; of a mapped one that is seen from outside its map, a list. */
  readonly upstream: Readonly<Record<string, unknown>>;
  /** Names of tasks that it needs and that did not succeed: what comes from them is null. */
  readonly absent: readonly string[];
  /** Outermost first. */
  readonly map: readonly MapItem[];
  /** Information about the run. Unknown values are null. */
  readonly run: Readonly<Partial<Record<RunField, unknown>>>;
}

/** Undefined when there is nothing at the end of the path. */
export function findInput(source: InputSource, roots: InputRoots): unknown {
  if (source.from === 'value') return source.value;
  if (source.from === 'params') return follow(roots.params, source.path);
  if (source.from === 'run') return roots.run[source.field] ?? null;
  if (source.from === 'template') {
    if (missingIn(source, roots) !== null) return undefined;
    return fillTemplate(source.template, (inner) => (inner.from === 'secret' ? null : findInput(inner, roots)));
  }
  if (source.from === 'task') {
    if (source.each === true) return pickEach(roots.upstream[source.task], source.path);
    if (roots.absent.includes(source.task)) return null;
    return follow(roots.upstream[source.task], source.path);
  }
  const place = roots.map.find(({ group }) => group === source.group);
  if (place === undefined) return undefined;
  return source.from === 'index' ? place.index : follow(place.item, source.path);
}

/** The same place in the output of each instance; null where an instance has nothing there. */
function pickEach(outputs: unknown, path: Path): unknown[] {
  return Array.isArray(outputs) ? outputs.map((output: unknown) => follow(output, path) ?? null) : [];
}

/** The first reference in a value that leads nowhere; null when all lead somewhere. */
export function missingIn(source: InputSource, roots: InputRoots): Reference | null {
  if (source.from === 'value') return null;
  if (source.from !== 'template') return findInput(source, roots) === undefined ? source : null;
  for (const inner of sourcesIn(source.template)) {
    const missing = inner.from === 'secret' ? null : missingIn(inner, roots);
    if (missing !== null) return missing;
  }
  return null;
}

type Reference = Exclude<InputSource, { from: 'value' | 'template' }>;

/** How an input was written, and why there may be nothing: for the message about one that is not there. */
export function describeInput(source: Reference): {
  readonly reference: string;
  readonly cause: string;
} {
  if (source.from === 'params') {
    return { reference: `\${{ params${showPath(source.path)} }}`, cause: 'The run was submitted without it.' };
  }
  if (source.from === 'task') {
    const cause = `What task ${source.task} returned does not have it.`;
    return { reference: taskReference(source.task, source.path), cause };
  }
  if (source.from === 'run') return { reference: `\${{ ${source.field} }}`, cause: 'The run does not have it.' };
  const path = source.from === 'item' ? showPath(source.path) : '';
  const reference = `\${{ groups${showPath([source.group])}.${source.from}${path} }}`;
  return { reference, cause: 'The item that it was made for does not have it.' };
}
