/** From what a task's definition says it does to what a worker is told; a field that does not go with the others is a problem. */
import type { Problem } from '../errors.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import { readReference } from './references.ts';
import type { InputSource, WorkShape } from './work.ts';

type Task = ParsedDagDefinition['tasks'][number];
type Kind = 'handler' | 'function' | 'run' | 'http';

const KINDS: readonly Kind[] = ['handler', 'function', 'run', 'http'];
/** Fields that mean something with some kinds only. */
const GOES_WITH: Readonly<Record<'inProcess' | 'shell' | 'env' | 'cwd' | 'secrets', readonly Kind[]>> = {
  inProcess: ['function'],
  shell: ['run'],
  env: ['run'],
  cwd: ['run'],
  secrets: ['handler', 'function', 'run'],
};

export interface ReadWork {
  readonly handler: string;
  readonly work?: WorkShape;
}

/** The tasks that a task's inputs come from. */
export function* tasksInInputs({ inputs }: Task): Generator<{ readonly input: string; readonly task: string }> {
  for (const [input, value] of Object.entries(inputs ?? {})) {
    const source = sourceOf(value);
    if (source.from === 'task') yield { input, task: source.task };
  }
}

function sourceOf(value: unknown): InputSource {
  const read = typeof value === 'string' ? readReference(value) : null;
  if (read === null || !read.ok || read.reference.from === 'secret') return { from: 'value', value };
  return read.reference;
}

export function readWork(
  task: Task,
  { taskNo, hasBundle }: { readonly taskNo: number; readonly hasBundle: boolean },
  problems: Problem[],
): ReadWork {
  const path = `tasks[${taskNo}]`;
  const kinds = KINDS.filter((kind) => task[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const said = kinds.length > 1 ? `has ${kinds.join(' and ')}` : 'does not say what it does';
    problems.push({ path, message: `${said}: give one of ${KINDS.join(', ')}` });
    return { handler: '' };
  }
  for (const [field, allowed] of Object.entries(GOES_WITH) as [keyof typeof GOES_WITH, readonly Kind[]][]) {
    if (task[field] !== undefined && !allowed.includes(kind)) {
      problems.push({ path: `${path}.${field}`, message: `goes with ${allowed.join(' or ')}, not with ${kind}` });
    }
  }
  if (kind === 'function' && !hasBundle) {
    problems.push({
      path: `${path}.function`,
      message: 'is in no bundle: deploy the folder with "signalbox deploy", which makes one',
    });
  }
  if (task.shell !== undefined && typeof task.run !== 'string') {
    problems.push({ path: `${path}.shell`, message: 'goes with run as one text' });
  }
  if (Array.isArray(task.run) && task.run[0] === '') {
    problems.push({ path: `${path}.run[0]`, message: 'must name a program' });
  }
  for (const { field, text, instead } of fixedTexts(task)) {
    if (LOOKS_LIKE_REFERENCE.test(text)) problems.push({ path: `${path}.${field}`, message: instead });
  }
  return workOf(task, kind);
}

/** Where a reference would be taken for plain text, and sent or run as it stands. */
const LOOKS_LIKE_REFERENCE = /\$\{\{\s*(?:tasks|params|secrets)\b/;
const IN_COMMAND =
  'no reference is put into a command: give it under inputs and write "$INPUT_<name>", or a secret under env';
const IN_CALL = 'no reference is put in here: give it under inputs, which are the body, or make the call in a function';

function* fixedTexts({ run, http }: Task): Generator<{ field: string; text: string; instead: string }> {
  if (run !== undefined) yield { field: 'run', text: [run].flat().join('\n'), instead: IN_COMMAND };
  if (http === undefined) return;
  yield { field: 'http.url', text: http.url, instead: IN_CALL };
  if (http.body !== undefined) yield { field: 'http.body', text: JSON.stringify(http.body), instead: IN_CALL };
}

function workOf(task: Task, kind: Kind): ReadWork {
  const sources = Object.entries(task.inputs ?? {}).map(([name, value]) => [name, sourceOf(value)] as const);
  const common = {
    ...(sources.length === 0 ? {} : { inputs: Object.fromEntries(sources) }),
    ...(task.secrets === undefined || task.secrets.length === 0 ? {} : { secrets: [...new Set(task.secrets)].sort() }),
  };
  if (kind === 'handler') {
    const handler = task.handler ?? '';
    return Object.keys(common).length === 0 ? { handler } : { handler, work: { kind: 'handler', ...common } };
  }
  if (kind === 'function') {
    const place = task.inProcess === true ? { inProcess: true as const } : {};
    return { handler: task.function ?? '', work: { kind: 'function', ...place, ...common } };
  }
  if (kind === 'http' && task.http !== undefined) {
    const { timeout, expect, body, ...call } = task.http;
    const optional = { ...(expect === undefined ? {} : { expect }), ...(body === undefined ? {} : { body }) };
    return { handler: '', work: { kind: 'http', ...call, ...optional, timeoutMs: timeout, ...common } };
  }
  return {
    handler: '',
    work: {
      kind: 'process',
      run: task.run ?? '',
      ...(task.shell === 'bash' ? { shell: 'bash' as const } : {}),
      ...(task.env === undefined ? {} : { env: task.env }),
      ...(task.cwd === undefined ? {} : { cwd: task.cwd }),
      ...common,
    },
  };
}
