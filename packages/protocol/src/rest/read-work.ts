/** From what a task's definition says it does to what a worker is told; a field that does not go with the others is a problem. */
import type { Problem } from '../errors.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import type { ReadGroups } from './read-groups.ts';
import { readReference } from './references.ts';
import type { ChildWork, InputSource, WorkShape, workFields } from './work.ts';

type Task = Pick<ParsedDagDefinition['tasks'][number], keyof typeof workFields>;
type Kind = 'handler' | 'function' | 'run' | 'http' | 'dag';

const KINDS: readonly Kind[] = ['handler', 'function', 'run', 'http', 'dag'];
/** Fields that mean something with some kinds only. */
const GOES_WITH: Readonly<
  Record<'inProcess' | 'shell' | 'env' | 'cwd' | 'exitCodes' | 'secrets' | 'wait', readonly Kind[]>
> = {
  inProcess: ['function'],
  shell: ['run'],
  env: ['run'],
  cwd: ['run'],
  exitCodes: ['run'],
  secrets: ['handler', 'function', 'run'],
  wait: ['dag'],
};

export interface ReadWork {
  readonly handler: string;
  readonly work?: WorkShape | ChildWork;
  readonly child?: { readonly dag: string; readonly wait: boolean };
}

/** The tasks that a task's inputs come from. */
export function* tasksInInputs({ inputs }: Task): Generator<{ readonly input: string; readonly task: string }> {
  for (const [input, value] of Object.entries(inputs ?? {})) {
    const read = typeof value === 'string' ? readReference(value) : null;
    if (read?.ok === true && read.reference.from === 'task') yield { input, task: read.reference.task };
  }
}

interface Around {
  readonly taskNo: number;
  /** Where it is written, when that is not the task itself. */
  readonly path?: string;
  readonly hasBundle: boolean;
  readonly numbers: ReadonlyMap<string, number>;
  readonly groups: ReadGroups;
}

/** Where an input comes from, as the worker is told; a text says what is wrong with it. */
function sourceOf(value: unknown, { taskNo, numbers, groups }: Around): InputSource | string {
  const read = typeof value === 'string' ? readReference(value) : null;
  if (read === null || !read.ok || read.reference.from === 'secret') return { from: 'value', value };
  const { reference } = read;
  if (reference.from === 'params') return reference;
  if (reference.from === 'task') {
    const no = numbers.get(reference.task);
    const isList = no !== undefined && groups.isList(no, taskNo);
    return isList ? { ...reference, each: true } : reference;
  }
  const maps = groups.mapsOf(taskNo);
  const { group } = reference;
  const found = group === null ? maps.at(-1) : maps.find(({ name }) => name === group);
  if (found !== undefined) return { ...reference, group: found.name };
  if (group === null) return `there is no ${reference.from} here: the task is in no map. Give it, or its group, a map`;
  const known = maps.map(({ name }) => name).join(', ');
  return `the task is in no mapped group ${group}; it is in ${known === '' ? 'none' : known}`;
}

export function readWork(task: Task, around: Around, problems: Problem[]): ReadWork {
  const { taskNo, hasBundle, path = `tasks[${taskNo}]` } = around;
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
  const sources = Object.entries(task.inputs ?? {}).flatMap(([name, value]) => {
    const source = sourceOf(value, around);
    if (typeof source !== 'string') return [[name, source] as const];
    problems.push({ path: `${path}.inputs.${name}`, message: source });
    return [];
  });
  return workOf(task, kind, Object.fromEntries(sources));
}

/** Where a reference would be taken for plain text, and sent or run as it stands. */
const LOOKS_LIKE_REFERENCE = /\$\{\{\s*(?:tasks|params|secrets|item|index|groups)\b/;
const IN_COMMAND =
  'no reference is put into a command: give it under inputs and write "$INPUT_<name>", or a secret under env';
const IN_CALL = 'no reference is put in here: give it under inputs, which are the body, or make the call in a function';

function* fixedTexts({ run, http }: Task): Generator<{ field: string; text: string; instead: string }> {
  if (run !== undefined) yield { field: 'run', text: [run].flat().join('\n'), instead: IN_COMMAND };
  if (http === undefined) return;
  yield { field: 'http.url', text: http.url, instead: IN_CALL };
  if (http.body !== undefined) yield { field: 'http.body', text: JSON.stringify(http.body), instead: IN_CALL };
}

function workOf(task: Task, kind: Kind, inputs: Readonly<Record<string, InputSource>>): ReadWork {
  const common = {
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(task.secrets === undefined || task.secrets.length === 0 ? {} : { secrets: [...new Set(task.secrets)].sort() }),
  };
  if (kind === 'handler') {
    const handler = task.handler ?? '';
    return Object.keys(common).length === 0 ? { handler } : { handler, work: { kind: 'handler', ...common } };
  }
  if (kind === 'dag') {
    const child = { dag: task.dag ?? '', wait: task.wait ?? true };
    return { handler: '', child, ...(Object.keys(inputs).length === 0 ? {} : { work: { kind: 'child', inputs } }) };
  }
  if (kind === 'function') {
    const place = task.inProcess === true ? { inProcess: true as const } : {};
    return { handler: task.function ?? '', work: { kind: 'function', ...place, ...common } };
  }
  if (kind === 'http' && task.http !== undefined) {
    const { timeout, expect, statuses, body, ...call } = task.http;
    const optional = {
      ...(expect === undefined ? {} : { expect }),
      ...(statuses === undefined ? {} : { statuses }),
      ...(body === undefined ? {} : { body }),
    };
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
      ...(task.exitCodes === undefined ? {} : { exitCodes: task.exitCodes }),
      ...common,
    },
  };
}
