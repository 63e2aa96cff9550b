/**
 * The definition of a dag for editors: JSON Schema, made from what the server itself checks, with the words that an editor
 * shows. It has `call` and a list of `files`, which the compiler knows, and not `function` and `bundle`, which nobody writes by hand.
 */
import { z } from 'zod';
import { BREAKER_WORDS } from './breaker-words.ts';
import { CLOSING_WORDS } from './closing-words.ts';
import { dagDefinitionSchema } from './dag-definition.ts';
import { SPECULATE_WORDS } from './speculate-fields.ts';

export interface Words {
  readonly description: string;
  readonly examples?: readonly unknown[];
}

const REFERENCE = '${{ tasks.extract.output.rows }}';

const MAP: Words = {
  description:
    'Once for each item of a list: a reference to an output or to params, a list, or several of them by name under over. Inputs have the item as ${{ item }} and its number as ${{ index }}.',
  examples: [
    '${{ tasks.list.output.files }}',
    { over: { file: '${{ tasks.list.output.files }}', size: [1, 2, 3] }, mode: 'product' },
  ],
};

const MAP_OVER: Words = {
  description: 'One list, or several by name: then the item has a field for each, as ${{ item.file }}.',
};
const MAP_MODE: Words = {
  description: 'With several lists: product (each with each; unless told) or zip (the first with the first …).',
};

/** By path; `[]` stands for the items of a list. */
const WORDS: Readonly<Record<string, Words>> = {
  ...BREAKER_WORDS,
  ...SPECULATE_WORDS,
  '': { description: 'A dag: tasks, what each does, and what must come before it.' },
  $schema: { description: 'Where this schema is; for editors.' },
  name: { description: 'Unique among the dags of a tenant.', examples: ['nightly-report'] },
  description: { description: 'For people. It is a part of the version.' },
  on: {
    description: 'A run for each event of this name, with its payload as params.',
    examples: [{ event: 'order.paid' }],
  },
  'on.event': { description: 'Name of the event.', examples: ['order.paid'] },
  callbackUrl: {
    description: 'Is called when a run has ended: a signed POST, repeated until it is answered.',
    examples: ['https://example.com/done'],
  },
  params: {
    description: 'JSON Schema of the params: checked when a run is submitted; defaults are filled in.',
    examples: [{ type: 'object', properties: { day: { type: 'string', format: 'date' } }, required: ['day'] }],
  },
  files: {
    description:
      'Files and folders that processes find in their working folder: paths and patterns (* and **) within the folder of this file. Files that a run names need not be listed.',
    examples: [['etl/', 'sql/**/*.sql']],
  },
  tasks: { description: 'At most 10,000. Their order does not matter: needs and inputs say what comes first.' },
  'tasks[]': { description: 'A task does one thing: call, run, http, handler or dag.' },
  'tasks[].name': { description: 'Unique within the dag.', examples: ['extract'] },
  'tasks[].call': {
    description: 'A function: a file of this folder, and the name that it exports; without a name its default export.',
    examples: ['./tasks.ts#extract'],
  },
  'tasks[].handler': { description: 'A function that the worker was started with.', examples: ['extract'] },
  'tasks[].inProcess': {
    description: 'With call: in the worker’s own process. Faster, and a hot loop in it stops the whole worker.',
  },
  'tasks[].run': {
    description: 'A process: a command line for the shell, or a program and its arguments.',
    examples: ['./load.sh "$INPUT_day"', ['node', 'load.mjs']],
  },
  'tasks[].shell': { description: 'With run as one text: what reads it; sh unless told.' },
  'tasks[].env': {
    description: 'With run: its environment. Values may hold ${{ secrets.NAME }}.',
    examples: [{ API_KEY: '${{ secrets.API_KEY }}' }],
  },
  'tasks[].exitCodes': {
    description:
      'With run: what its exit codes mean, by number or range: succeeded, transient, permanent or resource. Unless told 75 may pass, 64, 65, 66, 77, 78, 126 and 127 do not, and all others but 0 may.',
    examples: [{ 3: 'permanent', '10-19': 'transient' }],
  },
  'tasks[].cwd': { description: 'With run: its working folder; a fresh empty one unless told.' },
  'tasks[].http': { description: 'An HTTP call.', examples: [{ url: 'https://example.com/hook', method: 'POST' }] },
  'tasks[].http.method': { description: 'GET unless told.' },
  'tasks[].http.url': { description: 'Whole address.', examples: ['https://example.com/hook'] },
  'tasks[].http.headers': {
    description: 'Values may hold ${{ secrets.NAME }}.',
    examples: [{ authorization: 'Bearer ${{ secrets.API_KEY }}' }],
  },
  'tasks[].http.body': {
    description: 'JSON, or a text that is sent as it is. Left out: the inputs are sent, where the method has a body.',
  },
  'tasks[].http.statuses': {
    description:
      'What statuses that are not expected mean, by number or range: transient, permanent or resource. Unless told 408, 425, 429 and 5xx may pass, and all others do not.',
    examples: [{ 404: 'transient', '500-599': 'permanent' }],
  },
  'tasks[].http.expect': { description: 'Statuses that mean success; 200 to 299 unless told.', examples: [[200, 204]] },
  'tasks[].http.timeout': { description: 'For the whole call; 30 s unless told.', examples: ['10s'] },
  'tasks[].dag': {
    description: 'The name of another dag: the task is a run of it, with the inputs of the task as its params.',
    examples: ['clean-region'],
  },
  'tasks[].wait': {
    description: 'With dag: false to go on as soon as that run is stored; otherwise the task ends with it.',
  },
  'tasks[].inputs': {
    description: 'Values by name: JSON, or a reference to what a task returned or the run was submitted with.',
    examples: [{ rows: REFERENCE, day: '${{ params.day }}', limit: 100 }],
  },
  'tasks[].secrets': {
    description: 'Names of secrets that the function or process asks for.',
    examples: [['API_KEY']],
  },
  'tasks[].queue': { description: 'Workers take tasks of the queues that they were started with.', examples: ['gpu'] },
  'tasks[].needs': {
    description:
      'Tasks that come first, and by default must succeed. Those that its inputs come from, or its condition looks at, need not be named.',
    examples: [['extract']],
  },
  'tasks[].retries': {
    description:
      'When it is tried again. The wait before attempt n+1 is drawn evenly from minMs to min(maxMs, baseMs × factor^(n−1)).',
    examples: [{ maxAttempts: 5, baseMs: 1000 }],
  },
  'tasks[].retries.maxAttempts': {
    description: 'Attempts in all that may fail, the first included: 1 means no retry.',
  },
  'tasks[].retries.on': {
    description: 'Classes that are tried again; all but permanent unless told.',
    examples: [['transient', 'timeout']],
  },
  'tasks[].retries.codes': {
    description: 'Looked at first: the first pattern that fits the code of the failure counts.',
  },
  'tasks[].retries.codes[]': { description: 'A pattern, and what it means.' },
  'tasks[].retries.codes[].match': {
    description: 'A code, or what codes begin with.',
    examples: ['exit:75', 'http:5*'],
  },
  'tasks[].retries.codes[].retry': { description: 'Whether such a failure is tried again.' },
  'tasks[].retries.errors': {
    description: 'Looked at after the codes, before the class: the first pattern that fits the error counts.',
  },
  'tasks[].retries.errors[]': { description: 'A pattern, and what it means.' },
  'tasks[].retries.errors[].match': {
    description: 'A part of the text, with * for anything between parts.',
    examples: ['deadlock detected'],
  },
  'tasks[].retries.errors[].retry': { description: 'Whether such a failure is tried again.' },
  'tasks[].retries.budgets': {
    description: 'Attempts that may end so, by class, within maxAttempts.',
    examples: [{ timeout: 2 }],
  },
  'tasks[].queueTimeout': {
    description: 'How long it may be ready without a worker taking it; then it fails.',
    examples: ['10m'],
  },
  'tasks[].stuckAfter': { description: 'How long one attempt may go without telling of progress.', examples: ['5m'] },
  'tasks[].totalTimeout': {
    description: 'For the whole task: all attempts and the waits between them.',
    examples: ['6h'],
  },
  'tasks[].softTimeout': {
    description: 'An attempt that takes longer is told of as slow, and goes on.',
    examples: ['20m'],
  },
  timeout: { description: 'For a whole run, from when it became active; then it fails.', examples: ['12h'] },
  softTimeout: { description: 'A run that takes longer is told of as slow, and goes on.', examples: ['8h'] },
  'tasks[].memory': { description: 'What one attempt may have of memory.', examples: ['512MiB'] },
  'tasks[].onResource': {
    description: 'What the next attempt gets after one ran out of memory.',
    examples: [{ factor: 2, max: '4GiB' }],
  },
  'tasks[].onResource.factor': { description: 'Times what it had; 2 unless told.' },
  'tasks[].onResource.max': { description: 'The most that it gets.', examples: ['4GiB'] },
  'tasks[].retries.minMs': { description: 'Shortest wait.' },
  'tasks[].retries.baseMs': { description: 'Longest wait before the second attempt.' },
  'tasks[].retries.factor': { description: 'How the longest wait grows with each attempt.' },
  'tasks[].retries.maxMs': { description: 'Where it stops growing.' },
  'tasks[].retries.maxLost': {
    description:
      'Attempts that may be lost with their worker before the task is given up; 10 unless told. Those of a worker that was told to stop do not count.',
  },
  'tasks[].timeout': {
    description: 'For one attempt: a span with its unit, such as 30s; none unless told.',
    examples: ['30s', '5m'],
  },
  'tasks[].rule': {
    description: 'What must have become of the tasks that it needs; all_success unless told.',
    examples: ['all_done', 'one_failed'],
  },
  'tasks[].when': {
    description:
      'A condition over params and outputs of tasks; where it does not hold the task is skipped. It needs the tasks that it looks at.',
    examples: ["${{ params.mode == 'full' && length(tasks.find.output.files) > 0 }}"],
  },
  'tasks[].branch': {
    description:
      'Its output is the name, or a list of names, of the tasks needing it that go on; the others are skipped.',
  },
  'tasks[].shortCircuit': {
    description:
      'An output that is empty or false skips the tasks that need it; with all, everything behind it whatever its rule.',
    examples: [true, 'all'],
  },
  ...CLOSING_WORDS,
  'tasks[].map.over': MAP_OVER,
  'tasks[].map.mode': MAP_MODE,
  'groups[].map.over': MAP_OVER,
  'groups[].map.mode': MAP_MODE,
  'tasks[].group': { description: 'The group that it is in: one of those under groups.', examples: ['each-file'] },
  'tasks[].map': MAP,
  groups: {
    description: 'Tasks that belong together. The tasks of a mapped group run once for each item, each item by itself.',
    examples: [[{ name: 'each-file', map: '${{ tasks.list.output.files }}' }]],
  },
  'groups[]': { description: 'A group; tasks and other groups name it as their group.' },
  'groups[].name': { description: 'Unique among groups and tasks.', examples: ['each-file'] },
  'groups[].group': { description: 'The group that it is in.' },
  'groups[].map': MAP,
  maxMapSize: { description: 'How many items a map may have; over it the map fails. 10,000 unless told.' },
  'tasks[].adds': {
    description:
      'Its attempts may add tasks to their run, made of the templates of the dag; they begin once it has succeeded.',
  },
  templates: {
    description: 'What tasks with adds may add to a run: tasks without a place in the graph.',
    examples: [[{ name: 'load', run: './load.sh "$INPUT_file"' }]],
  },
  'templates[]': { description: 'All of a task but its place; a task that is made of it has a name of its own.' },
  'templates[].name': { description: 'Unique among the templates.', examples: ['load'] },
  'templates[].needs': { description: 'Tasks of the dag that each task made of it needs.' },
  maxAddedTasks: { description: 'How many tasks may be added to one run; 100 unless told.' },
  onFailure: {
    description:
      'When a task has failed: continue (finish what does not depend on it), fail_fast (close the run) or skip_failed (go on without it). continue unless told.',
  },
  retryRun: {
    description: 'A run that ended failed is opened again by the server, and what failed runs again.',
    examples: [{ maxTimes: 2, delay: '5m' }],
  },
  'retryRun.maxTimes': { description: 'So many times; not counted are those by hand.' },
  'retryRun.delay': { description: 'After so long; at once unless told.', examples: ['5m'] },
  priority: { description: 'Of its runs, unless a run is submitted with another.' },
  maxActiveRuns: { description: 'Runs at a time; further ones wait.' },
  maxActiveTasks: { description: 'Tasks at a time, over all runs of the dag.' },
  schedule: {
    description: 'When runs are created by themselves.',
    examples: [{ cron: '0 7 * * *', zone: 'Europe/Berlin' }],
  },
  'schedule.cron': {
    description:
      'Minute, hour, day of month, month, day of week; six fields begin with seconds. L, #, ? and H are known.',
    examples: ['*/15 * * * *', '0 7 * * 1-5'],
  },
  'schedule.zone': { description: 'IANA time zone; UTC unless told.', examples: ['Europe/Berlin'] },
  'schedule.gap': {
    description: 'A wall time that a clock change leaves out: skipped, or fired at the end of the gap.',
  },
  'schedule.missed': {
    description: 'Windows that were missed while nothing could run: none, the latest, or all of them.',
  },
  'schedule.missedLimit': { description: 'With missed: all, how many at most.' },
};

type Schema = Record<string, unknown> & {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  required?: string[];
};

const SIZE = { type: 'string', pattern: '^\\d{1,12}(\\.\\d{1,3})?(KiB|MiB|GiB|kB|MB|GB)$' };
const SPAN = { type: 'string', pattern: '^\\d{1,12}(\\.\\d{1,3})?(ms|s|m|h|d)$' };

export type JsonSchema = Readonly<Record<string, unknown>>;

export function dagJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(dagDefinitionSchema, { io: 'input', target: 'draft-7' }) as Schema;
  const { bundle: _bundle, files: _files, ...fields } = schema.properties ?? {};
  const files = { type: 'array', items: { type: 'string' }, maxItems: 100 };
  schema.properties = { $schema: { type: 'string' }, ...fields, files };
  const task = schema.properties.tasks?.items as Schema;
  const template = schema.properties.templates?.items;
  for (const each of [task, template, task.properties?.undo, ...hooksIn(task), ...hooksIn(schema)]) writeCall(each);
  describe(schema, '');
  return { $schema: schema.$schema, title: 'Signalbox dag', ...schema };
}

function hooksIn({ properties }: Schema): (Schema | undefined)[] {
  return Object.values(properties?.hooks?.properties ?? {});
}

/** People write `call`; the compiler makes `function` of it. */
function writeCall(task: Schema | undefined): void {
  if (task === undefined) return;
  const { name, function: _function, ...rest } = task.properties ?? {};
  task.properties = {
    ...(name === undefined ? {} : { name }),
    call: { type: 'string', pattern: '^\\.\\.?/[^#]+\\.m?[jt]s(#[A-Za-z_$][\\w$]*)?$' },
    ...rest,
  };
  const kinds = ['call', 'run', 'http', 'handler', 'dag'].filter((kind) => kind in (task.properties ?? {}));
  task.oneOf = kinds.map((kind) => ({ required: [kind] }));
}

/** An undo, a hook or a template has fields of a task, and the words for them. */
const SIDE_TASK = /^(?:(?:tasks\[\]\.)?(?:undo|hooks\.\w+)|templates\[\])\./;

function describe(schema: Schema, path: string): void {
  const words = WORDS[path] ?? WORDS[path.replace(SIDE_TASK, 'tasks[].')];
  if (words !== undefined) Object.assign(schema, words);
  if (/(?:[tT]imeout|stuckAfter)$/.test(path)) {
    const others = (schema.anyOf ?? []).filter(({ type }) => type === 'null');
    schema.anyOf = [SPAN, ...others];
  }
  if (path.endsWith('memory') || path.endsWith('onResource.max'))
    schema.anyOf = [{ type: 'integer', minimum: 1 }, SIZE];
  const inner = schema.properties === undefined ? schema.anyOf?.find((each) => each.properties !== undefined) : schema;
  for (const [name, field] of Object.entries(inner?.properties ?? {})) {
    describe(field, path === '' ? name : `${path}.${name}`);
  }
  if (schema.items?.properties !== undefined) describe(schema.items, `${path}[]`);
}
