/** From what a task's definition says it does to what a worker is told; a field that does not go with the others is a problem. */
import type { Problem } from '../errors.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import type { ReadGroups } from './read-groups.ts';
import { looksAtRun, type ReadTexts, readTexts, tasksInTexts } from './read-texts.ts';
import type { Reference } from './references.ts';
import type { InputSource } from './template.ts';
import { readTemplate, type Template, type ToSource } from './template.ts';
import type { ChildWork, WorkShape, workFields } from './work.ts';

type Task = Pick<ParsedDagDefinition['tasks'][number], keyof typeof workFields>;
type Kind = 'handler' | 'function' | 'run' | 'http' | 'dag';

const KINDS: readonly Kind[] = ['handler', 'function', 'run', 'http', 'dag'];
/** Fields that mean something with some kinds only. */
const GOES_WITH: Readonly<
  Record<
    'inProcess' | 'concurrency' | 'isolation' | 'shell' | 'env' | 'cwd' | 'exitCodes' | 'secrets' | 'wait',
    readonly Kind[]
  >
> = {
  inProcess: ['function'],
  concurrency: ['function'],
  isolation: ['function'],
  shell: ['run'],
  env: ['run'],
  cwd: ['run'],
  exitCodes: ['run'],
  secrets: ['handler', 'function', 'run'],
  wait: ['dag'],
};

export interface ReadWork {
  readonly handler: string;
  readonly runInfo?: true;
  readonly work?: WorkShape | ChildWork;
  readonly child?: { readonly dag: string; readonly wait: boolean };
}

/** The tasks that a task's inputs, and its texts, come from. */
export function* tasksInInputs(task: Task): Generator<{ readonly path: string; readonly task: string }> {
  const found: string[] = [];
  const note: ToSource = (reference) => {
    if (reference.from === 'task') found.push(reference.task);
    return { from: 'value', value: null };
  };
  for (const [name, value] of Object.entries(task.inputs ?? {})) {
    readTemplate(value, note);
    for (const each of found.splice(0)) yield { path: `inputs.${name}`, task: each };
  }
  yield* tasksInTexts(task);
}

interface Around {
  readonly taskNo: number;
  /** Where it is written, when that is not the task itself. */
  readonly path?: string;
  readonly hasBundle: boolean;
  /** Of the dag, for functions that say nothing about it. */
  readonly concurrency: number | undefined;
  readonly numbers: ReadonlyMap<string, number>;
  readonly groups: ReadGroups;
}

/** What a reference is for the worker; a text says what is wrong with it. */
function sourceOf(
  reference: Exclude<Reference, { from: 'secret' }>,
  { taskNo, numbers, groups }: Around,
): InputSource | string {
  if (reference.from === 'params' || reference.from === 'run') return reference;
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
    problems.push({
      path,
      message: `${said}: give one of ${KINDS.join(', ')}`,
      cause: { code: 'work_not_one', fields: kinds },
    });
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
  if (task.inProcess === true && (task.concurrency ?? 1) > 1) {
    problems.push({ path: `${path}.concurrency`, message: 'does not go with inProcess, which has no child process' });
  }
  if (task.isolation !== undefined && (task.inProcess === true || (task.concurrency ?? 1) > 1)) {
    const other = task.inProcess === true ? 'inProcess' : 'concurrency';
    problems.push({ path: `${path}.isolation`, message: `does not go with ${other}: give one of the two` });
  }
  if (task.shell !== undefined && typeof task.run !== 'string') {
    problems.push({ path: `${path}.shell`, message: 'goes with run as one text' });
  }
  if (Array.isArray(task.run) && task.run[0] === '') {
    problems.push({ path: `${path}.run[0]`, message: 'must name a program' });
  }
  const toSource = (reference: Exclude<Reference, { from: 'secret' }>) => sourceOf(reference, around);
  const inputs: [string, InputSource][] = [];
  for (const [name, value] of Object.entries(task.inputs ?? {})) {
    const read = readTemplate(value, (reference) =>
      reference.from === 'secret' ? { from: 'value', value: null } : toSource(reference),
    );
    if (read.ok) inputs.push([name, inputOf(read.template)]);
    else problems.push({ path: `${path}.inputs.${name}${read.path}`, message: read.message });
  }
  const texts = readTexts(task, toSource, { path, problems });
  const work = workOf(withDefault(task, kind, around.concurrency), kind, Object.fromEntries(inputs), texts);
  const sources = inputs.map(([, source]) => (source.from === 'template' ? source.template : { source }));
  return looksAtRun([...sources, ...Object.values(texts.fill)]) ? { ...work, runInfo: true } : work;
}

/** A function that has a process for itself, or none, takes no part in what the dag says of its processes. */
function withDefault(task: Task, kind: Kind, concurrency: number | undefined): Task {
  const isAlone = task.inProcess === true || task.isolation !== undefined;
  if (kind !== 'function' || isAlone || concurrency === undefined || task.concurrency !== undefined) return task;
  return { ...task, concurrency };
}

/** What is no more than a value or one reference is told as just that. */
function inputOf(template: Template): InputSource {
  if ('value' in template) return { from: 'value', value: template.value };
  return 'source' in template ? template.source : { from: 'template', template };
}

function workOf(
  task: Task,
  kind: Kind,
  inputs: Readonly<Record<string, InputSource>>,
  { fill, run }: ReadTexts,
): ReadWork {
  const common = {
    ...(Object.keys(fill).length === 0 ? {} : { fill }),
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
    const place = {
      ...(task.inProcess === true ? { inProcess: true as const } : {}),
      ...(task.concurrency === undefined || task.concurrency === 1 ? {} : { concurrency: task.concurrency }),
      ...(task.isolation === undefined ? {} : { isolation: task.isolation }),
    };
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
      run: run ?? '',
      ...(task.shell === 'bash' ? { shell: 'bash' as const } : {}),
      ...(task.env === undefined ? {} : { env: task.env }),
      ...(task.cwd === undefined ? {} : { cwd: task.cwd }),
      ...(task.exitCodes === undefined ? {} : { exitCodes: task.exitCodes }),
      ...common,
    },
  };
}
