/** A fault as a sentence with its place in the definition, and what to do about it where that can be guessed. */
import { dagDefinitionSchema, type Problem, taskDefinitionSchema } from '@signalbox/protocol';

const TASK_FIELDS = [...Object.keys(taskDefinitionSchema.shape), 'call'].filter((field) => field !== 'function');
const DAG_FIELDS = Object.keys(dagDefinitionSchema.shape).filter((field) => field !== 'bundle');

/** What was written comes back in it, and may be long. */
const LONGEST_MESSAGE = 300;

export function advise(
  { path, message }: Problem,
  definition: unknown,
): { readonly message: string; readonly remedy: string | null } {
  const said = message
    .replace('handler, function, run, http', 'call, run, http, handler')
    .replace(/^has function and/, 'has call and');
  const shown = said.length > LONGEST_MESSAGE ? `${said.slice(0, LONGEST_MESSAGE)}…` : said;
  return { message: path === '' ? shown : `${path} ${shown}`, remedy: remedyFor(path, message, definition) };
}

function remedyFor(path: string, message: string, definition: unknown): string | null {
  const unknownTask = /^there is no task (.+)$/.exec(message)?.[1];
  if (unknownTask !== undefined)
    return meant(unknownTask, namesUnder('tasks', definition)) ?? 'Use the name of a task of this dag.';
  const unknownGroup = /^there is no group (.+): list it under groups$/.exec(message)?.[1];
  if (unknownGroup !== undefined) return meant(unknownGroup, namesUnder('groups', definition));
  const unknownKey = /^Unrecognized keys?: "([^"]+)"/.exec(message)?.[1];
  if (unknownKey !== undefined) {
    const known = path === '' ? DAG_FIELDS : /^tasks\[\d+\]$/.test(path) ? TASK_FIELDS : [];
    const fields = known.length === 0 ? '' : ` The fields are ${known.join(', ')}.`;
    return `${meant(unknownKey, known) ?? 'Remove it.'}${fields}`;
  }
  if (path.endsWith('.function') && message.startsWith('must have 1 to')) {
    return 'The function name combines the names of dag and task. Shorten them.';
  }
  if (/ is the name of tasks\[\d+\] too$/.test(message)) return 'Give each task a unique name.';
  if (message.startsWith('form a cycle'))
    return 'Remove one of these needs, or the map. A task can only wait for tasks that do not wait for it.';
  return null;
}

function namesUnder(field: 'tasks' | 'groups', definition: unknown): string[] {
  const list = (definition as { readonly tasks?: unknown; readonly groups?: unknown })[field];
  return Array.isArray(list) ? list.map((each: { readonly name?: unknown } | null) => String(each?.name)) : [];
}

const LOOKED_AT = 2_000;

function meant(written: string, known: readonly string[]): string | null {
  const limit = written.length < 3 ? 1 : Math.max(2, Math.floor(written.length / 3));
  let best: { readonly name: string; readonly far: number } | null = null;
  for (const name of known.slice(0, LOOKED_AT)) {
    const far = distance(written.toLowerCase().slice(0, 60), name.toLowerCase().slice(0, 60));
    if (far <= limit && (best === null || far < best.far)) best = { name, far };
  }
  return best === null ? null : `Did you mean ${best.name}?`;
}

/** How many letters must be changed, added or taken away. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
