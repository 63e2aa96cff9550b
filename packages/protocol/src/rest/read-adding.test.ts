import { expect, test } from 'vitest';
import { SignalboxError } from '../errors.ts';
import { toDagSpec } from './dag-spec.ts';
import { readNewTasks } from './new-tasks.ts';

const load = { name: 'load', run: './load.sh', inputs: { day: '${{ params.day }}', of: '${{ tasks.list.output }}' } };
const list = { name: 'list', handler: 'list' };
const plan = { name: 'plan', handler: 'plan', adds: true };
const definition = { name: 'd', templates: [load], tasks: [list, plan] };

test('a template is a task without a place, that needs what its inputs come from', () => {
  const { spec } = toDagSpec({ ...definition, maxAddedTasks: 7 });
  expect(spec.tasks.map(({ name, adds }) => [name, adds])).toEqual([
    ['list', undefined],
    ['plan', true],
  ]);
  expect(spec.maxAddedTasks).toBe(7);
  expect(spec.templates).toMatchObject([
    { name: 'load', needs: [0], queue: 'default', work: { kind: 'process', inputs: { day: { from: 'params' } } } },
  ]);
});

test('a dag without templates is as it was', () => {
  expect(Object.keys(toDagSpec({ name: 'd', tasks: [list] }).spec)).not.toContain('templates');
});

test.each([
  [{ ...definition, templates: undefined }, 'tasks[1].adds has nothing to add: give the dag templates'],
  [{ ...definition, tasks: [list] }, 'templates are unused: no task has adds'],
  [{ name: 'd', tasks: [list], maxAddedTasks: 3 }, 'maxAddedTasks goes with templates'],
  [{ ...definition, maxAddedTasks: 9_999 }, 'maxAddedTasks and the 2 tasks of the dag are more than 10000'],
  [{ ...definition, templates: [load, load] }, 'templates[1].name load is duplicated'],
  [
    { ...definition, templates: [{ ...load, name: 'plan' }] },
    'templates[0].name plan is also the name of a task: use another name',
  ],
  [{ ...definition, templates: [{ ...load, needs: ['ghost'] }] }, 'templates[0].needs[0] there is no task ghost'],
  [{ ...definition, templates: [{ ...load, when: 'params.x' }] }, 'templates[0] Unrecognized key: "when"'],
  [
    { ...definition, templates: [{ name: 'load' }] },
    'templates[0] does not say what it does: give one of handler, function, run, http, dag',
  ],
  [
    { ...definition, templates: [{ ...load, onResource: { max: '4GiB' } }] },
    'templates[0].onResource requires memory: set the limit of the first attempt',
  ],
  [
    { ...definition, templates: [{ ...load, inputs: { x: '${{ item }}' } }] },
    'templates[0].inputs.x there is no item here: the task is in no map. Give it, or its group, a map',
  ],
  [
    { ...definition, tasks: [list, { ...plan, map: [1, 2] }] },
    "tasks[1].adds can't be in a map: let a task behind the map add for all items",
  ],
  [
    { ...definition, tasks: [list, { name: 'plan', dag: 'other', adds: true }] },
    'tasks[1].adds requires handler, function or run: there is no code in dag',
  ],
  [
    { ...definition, tasks: [list, { ...plan, teardown: ['list'] }] },
    'tasks[1].adds cannot be combined with teardown: the run is closing by then',
  ],
])('what can not be is refused with its place: %#', (input, message) => {
  let said: readonly string[] = [];
  try {
    toDagSpec(input);
  } catch (error) {
    said = ((error as SignalboxError).details.problems ?? []).map((problem) => `${problem.path} ${problem.message}`);
  }
  expect(said).toContain(message);
});

test('tasks to be added are read, with inputs in one order', () => {
  const tasks = [
    { name: 'a', template: 'load', inputs: { b: 1, a: { d: 2, c: '${{ params.x }}' } } },
    { name: 'b', template: 'load', inputs: {} },
  ];
  expect(readNewTasks(JSON.stringify(tasks))).toEqual({
    ok: true,
    tasks: [
      { name: 'a', template: 'load', needs: [], before: [], inputs: '{"a":{"c":"${{ params.x }}","d":2},"b":1}' },
      { name: 'b', template: 'load', needs: [], before: [], inputs: null },
    ],
  });
});

test.each([
  ['{', /not JSON/],
  ['[]', /at least one/],
  ['[{"name":"a"}]', /\[0\]\.template/],
  ['[{"name":"a[1]","template":"load"}]', /\[0\]\.name/],
  ['[{"name":"a","template":"load","run":"rm -rf /"}]', /run/],
  [JSON.stringify(Array.from({ length: 1_001 }, (_, i) => ({ name: `a${i}`, template: 'load' }))), /at most 1000/],
  [JSON.stringify([{ name: 'a', template: 'load', inputs: { x: 'y'.repeat(70_000) } }]), /bytes/],
  [
    JSON.stringify([{ name: 'a', template: 'load', needs: Array.from({ length: 101 }, (_, i) => `t${i}`) }]),
    /at most 100/,
  ],
  [`[${' '.repeat(1_100_000)}]`, /several calls/],
])('what no code should send is refused in words: %#', (text, message) => {
  const read = readNewTasks(text);
  expect(read.ok ? '' : read.fault).toMatch(message);
});
