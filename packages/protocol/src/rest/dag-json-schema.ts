/**
 * The definition of a dag for editors: JSON Schema, made from what the server itself checks, with the words that an editor
 * shows. It has `call` and a list of `files`, which the compiler knows, and not `function` and `bundle`, which nobody writes by hand.
 */
import { z } from 'zod';
import { ASSET_WORDS } from './asset-fields.ts';
import { BREAKER_WORDS } from './breaker-words.ts';
import { CLOSING_WORDS } from './closing-words.ts';
import { CONCURRENCY_WORDS } from './concurrency-fields.ts';
import { dagDefinitionSchema } from './dag-definition.ts';
import { EXPECT_WORDS } from './expect-fields.ts';
import { PAST_WORDS } from './past-fields.ts';
import { SCHEDULE_WORDS } from './schedule-words.ts';
import { SPECULATE_WORDS } from './speculate-fields.ts';
import { TRIGGER_WORDS } from './triggers.ts';

export interface Words {
  readonly description: string;
  readonly examples?: readonly unknown[];
}

const REFERENCE = '${{ tasks.extract.output.rows }}';

const MAP: Words = {
  description:
    'Run once per item of a list: a reference to an output or to params, a list, or several lists by name under over. Inputs refer to ${{ item }} and ${{ index }}.',
  examples: [
    '${{ tasks.list.output.files }}',
    { over: { file: '${{ tasks.list.output.files }}', size: [1, 2, 3] }, mode: 'product' },
  ],
};

const MAP_OVER: Words = {
  description: 'One list, or several by name. With several, the item has one field per list: ${{ item.file }}.',
};
const MAP_MODE: Words = {
  description: 'With several lists: product (every combination) or zip (first with first …). Default: product.',
};

/** By path; `[]` stands for the items of a list. */
const WORDS: Readonly<Record<string, Words>> = {
  ...BREAKER_WORDS,
  ...SPECULATE_WORDS,
  ...PAST_WORDS,
  ...ASSET_WORDS,
  ...EXPECT_WORDS,
  ...SCHEDULE_WORDS,
  ...TRIGGER_WORDS,
  '': { description: 'A dag: tasks, what each does, and what it needs.' },
  $schema: { description: 'URL of this schema, for editors.' },
  name: { description: 'Unique among the dags of a tenant.', examples: ['nightly-report'] },
  description: { description: 'Text for people. Part of the version.' },
  tags: { description: 'To find it by, among many dags. At most 20.', examples: [['billing', 'nightly']] },
  owner: { description: 'Who answers for it: a team, a person or an address.', examples: ['team-data'] },
  callbackUrl: {
    description: 'URL to call when a run has ended: a signed POST, repeated until it is answered.',
    examples: ['https://example.com/done'],
  },
  params: {
    description: 'JSON Schema of the params. Checked when a run is submitted; defaults are filled in.',
    examples: [{ type: 'object', properties: { day: { type: 'string', format: 'date' } }, required: ['day'] }],
  },
  files: {
    description:
      'Files and folders to copy into the working folder of processes: paths and patterns (* and **) in the folder of this file. Files named in run are included automatically.',
    examples: [['etl/', 'sql/**/*.sql']],
  },
  tasks: { description: 'At most 10,000, in any order. needs and inputs define what runs first.' },
  'tasks[]': { description: 'A task does one thing: call, run, http, handler or dag.' },
  'tasks[].name': { description: 'Unique within the dag.', examples: ['extract'] },
  'tasks[].call': {
    description: 'A function: a file in this folder and the name of an export. Without a name: the default export.',
    examples: ['./tasks.ts#extract'],
  },
  'tasks[].handler': { description: 'A function that the worker provides (--handlers).', examples: ['extract'] },
  'tasks[].inProcess': {
    description: 'With call: run in the worker’s own process. Faster, but a busy loop stops the whole worker.',
  },
  'tasks[].concurrency': {
    description:
      'With call: how many attempts may run at the same time in one child process, for asynchronous functions. Default: 1.',
    examples: [20],
  },
  'tasks[].isolation': {
    description: 'With call: process, for a child process in which no other attempt runs or waits meanwhile.',
  },
  'tasks[].run': {
    description: 'A process: a shell command, or a program with arguments.',
    examples: ['./load.sh "$INPUT_day"', ['node', 'load.mjs']],
  },
  'tasks[].shell': { description: 'With run as text: the shell. Default: sh.' },
  'tasks[].env': {
    description: 'With run: its environment. Values can contain ${{ secrets.NAME }}.',
    examples: [{ API_KEY: '${{ secrets.API_KEY }}' }],
  },
  'tasks[].exitCodes': {
    description:
      'With run: meaning of exit codes, by number or range: succeeded, transient, permanent or resource. Default: 64, 65, 66, 77, 78, 126 and 127 are permanent, all others except 0 transient.',
    examples: [{ 3: 'permanent', '10-19': 'transient' }],
  },
  'tasks[].cwd': { description: 'With run: its working folder. Default: a new empty folder.' },
  'tasks[].http': { description: 'An HTTP call.', examples: [{ url: 'https://example.com/hook', method: 'POST' }] },
  'tasks[].http.method': { description: 'Default: GET.' },
  'tasks[].http.url': { description: 'Full URL.', examples: ['https://example.com/hook'] },
  'tasks[].http.headers': {
    description: 'Values can contain ${{ secrets.NAME }}.',
    examples: [{ authorization: 'Bearer ${{ secrets.API_KEY }}' }],
  },
  'tasks[].http.body': {
    description: 'JSON, or text that is sent as is. Default: the inputs, if the method has a body.',
  },
  'tasks[].http.statuses': {
    description:
      'Failure class of unexpected statuses, by number or range: transient, permanent or resource. Default: 408, 425, 429 and 5xx are transient, all others permanent.',
    examples: [{ 404: 'transient', '500-599': 'permanent' }],
  },
  'tasks[].http.expect': { description: 'Statuses that mean success. Default: 200 to 299.', examples: [[200, 204]] },
  'tasks[].http.timeout': { description: 'Timeout of the whole call. Default: 30 s.', examples: ['10s'] },
  'tasks[].dag': {
    description: 'The name of another dag. The task is a run of it, with the inputs of the task as params.',
    examples: ['clean-region'],
  },
  'tasks[].wait': {
    description: 'With dag: false to continue when that run is stored. Default: the task ends when that run ends.',
  },
  'tasks[].inputs': {
    description: 'Values by name: JSON, or a reference to a task output or to the params of the run.',
    examples: [{ rows: REFERENCE, day: '${{ params.day }}', limit: 100 }],
  },
  'tasks[].secrets': {
    description: 'Names of secrets that the function or process needs.',
    examples: [['API_KEY']],
  },
  'tasks[].queue': { description: 'Workers run tasks of the queues that they serve.', examples: ['gpu'] },
  'tasks[].needs': {
    description:
      'Tasks that must end first and, by default, succeed. Tasks that inputs or the condition refer to are included automatically.',
    examples: [['extract']],
  },
  'tasks[].retries': {
    description:
      'When to retry. The wait before attempt n+1 is random between minMs and min(maxMs, baseMs × factor^(n−1)).',
    examples: [{ maxAttempts: 5, baseMs: 1000 }],
  },
  'tasks[].retries.maxAttempts': {
    description: 'Maximum number of attempts, including the first. 1: no retry.',
  },
  'tasks[].retries.on': {
    description: 'Failure classes to retry. Default: all except permanent.',
    examples: [['transient', 'timeout']],
  },
  'tasks[].retries.codes': {
    description: 'Checked first. The first pattern that matches the failure code counts.',
  },
  'tasks[].retries.codes[]': { description: 'A pattern and its meaning.' },
  'tasks[].retries.codes[].match': {
    description: 'A failure code, or a prefix of codes.',
    examples: ['exit:75', 'http:5*'],
  },
  'tasks[].retries.codes[].retry': { description: 'Whether to retry this failure.' },
  'tasks[].retries.errors': {
    description: 'Checked after the codes and before the class. The first pattern that matches the error counts.',
  },
  'tasks[].retries.errors[]': { description: 'A pattern and its meaning.' },
  'tasks[].retries.errors[].match': {
    description: 'Part of the text. * matches anything.',
    examples: ['deadlock detected'],
  },
  'tasks[].retries.errors[].retry': { description: 'Whether to retry this failure.' },
  'tasks[].retries.budgets': {
    description: 'Maximum number of attempts per failure class, within maxAttempts.',
    examples: [{ timeout: 2 }],
  },
  'tasks[].maxActive': { description: 'Maximum number of running attempts of this task, over all runs of the dag.' },
  'tasks[].rate': {
    description: 'How many attempts of this task can start in any time of this length, over all runs of the dag.',
    examples: [{ limit: 100, per: '1m' }],
  },
  'tasks[].rate.limit': { description: 'Maximum number of starts.' },
  'tasks[].rate.per': { description: 'The time, from 1s to 7d.', examples: ['1m'] },
  'tasks[].pool': {
    description: 'Slots of a pool that it takes while it runs. Set pools with "signalbox limits set".',
    examples: [{ name: 'database', slots: 2 }],
  },
  'tasks[].pool.name': { description: 'Name of the pool. Until it is set, the task waits.', examples: ['database'] },
  'tasks[].pool.slots': { description: 'How many slots it takes. Default: 1.' },
  'tasks[].resources': {
    description:
      'What it takes of its worker while it runs: cpu in processors, memory and disk as sizes, anything else in pieces. It waits until a worker has as much left.',
    examples: [{ cpu: 2, memory: '4GiB', gpu: 1 }],
  },
  'tasks[].labels': { description: 'Only on workers with these labels.', examples: [{ disk: 'ssd' }] },
  'tasks[].zone': { description: 'Only on workers of this zone.', examples: ['eu-1'] },
  'tasks[].prefer': { description: 'Which of the workers that fit is better.', examples: [{ near: ['extract'] }] },
  'tasks[].prefer.labels': { description: 'Rather on workers with these labels.', examples: [{ cache: 'orders' }] },
  'tasks[].prefer.near': {
    description: 'Rather on the worker that ran one of these tasks of the same run.',
    examples: [['extract']],
  },
  'tasks[].spread': {
    description: 'Rather where fewer tasks of the same run, or dag, are running: per worker, or per value of a label.',
    examples: ['run', { of: 'dag', over: 'zone' }],
  },
  'tasks[].spread.of': { description: 'Which tasks to keep apart: those of the same run, or of the dag.' },
  'tasks[].spread.over': { description: 'A label of workers. Default: each worker counts for itself.' },
  'tasks[].exclusive': { description: 'It waits for an idle worker, and nothing runs beside it.' },
  'tasks[].gang': {
    description: 'So many attempts that begin together or not at all, each on a worker of its own.',
    examples: [4, { size: 4, share: true }],
  },
  'tasks[].gang.size': { description: 'How many attempts begin together.' },
  'tasks[].gang.share': { description: 'Several members may run on one worker. Default: false.' },
  'tasks[].spot': {
    description:
      'Whether it can run on workers that may be taken away at short notice (worker --spot). Default: allowed.',
  },
  'tasks[].preemptible': {
    description: 'Whether its attempts can be stopped to make room for critical tasks. Default: true.',
  },
  'tasks[].queueTimeout': {
    description: 'How long it can be ready without a worker. Then it fails.',
    examples: ['10m'],
  },
  'tasks[].stuckAfter': { description: 'How long one attempt can run without reporting progress.', examples: ['5m'] },
  'tasks[].totalTimeout': {
    description: 'Timeout of the whole task: all attempts and the waits between them.',
    examples: ['6h'],
  },
  'tasks[].softTimeout': {
    description: 'An attempt that takes longer is reported as slow and continues.',
    examples: ['20m'],
  },
  timeout: { description: 'Timeout of the whole run, from when it became active. Then it fails.', examples: ['12h'] },
  softTimeout: { description: 'A run that takes longer is reported as slow and continues.', examples: ['8h'] },
  'tasks[].memory': { description: 'Memory limit of one attempt.', examples: ['512MiB'] },
  'tasks[].onResource': {
    description: 'Memory of the next attempt after one ran out of memory.',
    examples: [{ factor: 2, max: '4GiB' }],
  },
  'tasks[].onResource.factor': { description: 'Factor of the previous memory limit. Default: 2.' },
  'tasks[].onResource.max': { description: 'Maximum.', examples: ['4GiB'] },
  'tasks[].retries.minMs': { description: 'Shortest wait.' },
  'tasks[].retries.baseMs': { description: 'Longest wait before attempt 2.' },
  'tasks[].retries.factor': { description: 'Growth factor of the longest wait, per attempt.' },
  'tasks[].retries.maxMs': { description: 'Upper limit.' },
  'tasks[].retries.maxLost': {
    description:
      'Attempts that can be lost with their worker before the task fails. Default: 10. Attempts of a worker that was told to stop do not count.',
  },
  'tasks[].timeout': {
    description: 'Timeout of one attempt, with a unit: 30s. Default: none.',
    examples: ['30s', '5m'],
  },
  'tasks[].rule': {
    description: 'Trigger rule over the tasks that it needs. Default: all_success.',
    examples: ['all_done', 'one_failed'],
  },
  'tasks[].when': {
    description:
      'A condition over params and task outputs. If it is false, the task is skipped. The task needs the tasks that the condition refers to.',
    examples: ["${{ params.mode == 'full' && length(tasks.find.output.files) > 0 }}"],
  },
  'tasks[].branch': {
    description: 'Its output is the name, or a list of names, of the next tasks to run. The others are skipped.',
  },
  'tasks[].shortCircuit': {
    description:
      'If its output is empty or false, the tasks that need it are skipped. With all: everything downstream, whatever its rule.',
    examples: [true, 'all'],
  },
  ...CLOSING_WORDS,
  'tasks[].map.over': MAP_OVER,
  'tasks[].map.mode': MAP_MODE,
  'groups[].map.over': MAP_OVER,
  'groups[].map.mode': MAP_MODE,
  'tasks[].group': { description: 'Its group: one of groups.', examples: ['each-file'] },
  'tasks[].map': MAP,
  groups: {
    description: 'Tasks that belong together. The tasks of a mapped group run once per item, independently.',
    examples: [[{ name: 'each-file', map: '${{ tasks.list.output.files }}' }]],
  },
  'groups[]': { description: 'A group. Tasks and other groups refer to it with group.' },
  'groups[].name': { description: 'Unique among groups and tasks.', examples: ['each-file'] },
  'groups[].group': { description: 'The group that it is in.' },
  'groups[].map': MAP,
  maxMapSize: { description: 'Maximum number of items of a map. Above it the map fails. Default: 10,000.' },
  'tasks[].adds': {
    description:
      'Its attempts can add tasks to their run, from the templates of the dag. They start when it has succeeded.',
  },
  templates: {
    description: 'What tasks with adds can add to a run: tasks without a place in the graph.',
    examples: [[{ name: 'load', run: './load.sh "$INPUT_file"' }]],
  },
  'templates[]': { description: 'A task without a place in the graph. Each task made from it gets its own name.' },
  'templates[].name': { description: 'Unique among the templates.', examples: ['load'] },
  'templates[].needs': { description: 'Tasks of the dag that each task made from it needs.' },
  maxAddedTasks: { description: 'Maximum number of tasks that can be added to one run. Default: 100.' },
  onFailure: {
    description:
      'When a task fails: continue (finish what does not depend on it), fail_fast (close the run) or skip_failed (continue without it). Default: continue.',
  },
  retryRun: {
    description: 'If a run fails, open it again and retry the failed tasks.',
    examples: [{ maxTimes: 2, delay: '5m' }],
  },
  'retryRun.maxTimes': { description: 'Maximum number of times, without manual retries.' },
  'retryRun.delay': { description: 'Delay before it. Default: none.', examples: ['5m'] },
  priority: { description: 'Priority of its runs, unless a run is submitted with another.' },
  maxActiveRuns: { description: 'Maximum number of active runs. Further runs wait.' },
  ...CONCURRENCY_WORDS,
  maxActiveTasks: { description: 'Maximum number of running tasks, over all runs of the dag.' },
  rate: {
    description: 'How many attempts of tasks of the dag can start in any time of this length.',
    examples: [{ limit: 100, per: '1m' }],
  },
  'rate.limit': { description: 'Maximum number of starts.' },
  'rate.per': { description: 'The time, from 1s to 7d.', examples: ['1m'] },
  maxActiveTasksPerRun: { description: 'Maximum number of running tasks of one run.' },
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
  if (/(?:[tT]imeout|stuckAfter)$|^schedule\.(?:every|phase|jitter)$/.test(path)) {
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
  // One, or a list of them: the words are the same.
  const list = schema.anyOf?.find((each) => each.items?.properties !== undefined)?.items;
  if (inner !== schema && inner !== undefined && list !== undefined) {
    for (const [name, field] of Object.entries(list.properties ?? {})) describe(field, `${path}.${name}`);
  }
}
