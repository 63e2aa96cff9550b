/** Turns a problem into a sentence with its place in the definition, and adds what to do if that can be guessed. */
import { dagDefinitionSchema, type Problem, taskDefinitionSchema } from '@signalbox/protocol';

const TASK_FIELDS = [...Object.keys(taskDefinitionSchema.shape), 'call'].filter((field) => field !== 'function');
const DAG_FIELDS = Object.keys(dagDefinitionSchema.shape).filter((field) => field !== 'bundle');

const WORK_FIELDS = ['call', 'run', 'http', 'handler', 'dag'];

/** What was written comes back in it, and may be long. */
const LONGEST_MESSAGE = 300;

export function advise(
  problem: Problem,
  definition: unknown,
): { readonly message: string; readonly remedy: string | null } {
  const { path } = problem;
  const said = inTermsOfFiles(problem);
  const shown = said.length > LONGEST_MESSAGE ? `${said.slice(0, LONGEST_MESSAGE)}…` : said;
  return { message: path === '' ? shown : `${path} ${shown}`, remedy: remedyFor(problem, definition) };
}

/** In a file a function is written as `call`; the definition that is made of it has `function`. */
function inTermsOfFiles({ message, cause }: Problem): string {
  if (cause?.code !== 'work_not_one') return message;
  const fields = cause.fields.map((field) => (field === 'function' ? 'call' : field));
  const said = fields.length > 1 ? `has ${fields.join(' and ')}` : 'does not say what it does';
  return `${said}: give one of ${WORK_FIELDS.join(', ')}`;
}

function remedyFor({ path, cause }: Problem, definition: unknown): string | null {
  switch (cause?.code) {
    case 'unknown_task':
      return meant(cause.name, namesUnder('tasks', definition)) ?? 'Use the name of a task of this dag.';
    case 'unknown_group':
      return meant(cause.name, namesUnder('groups', definition));
    case 'unknown_field': {
      const known = path === '' ? DAG_FIELDS : /^tasks\[\d+\]$/.test(path) ? TASK_FIELDS : [];
      const fields = known.length === 0 ? '' : ` The fields are ${known.join(', ')}.`;
      return `${meant(cause.name, known) ?? 'Remove it.'}${fields}`;
    }
    case 'invalid_format':
      return path.endsWith('.function') ? 'The function name combines the names of dag and task. Shorten them.' : null;
    case 'task_name_taken':
      return 'Give each task a unique name.';
    case 'cycle':
      return 'Remove one of these needs, or the map. A task can only wait for tasks that do not wait for it.';
    default:
      return null;
  }
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
