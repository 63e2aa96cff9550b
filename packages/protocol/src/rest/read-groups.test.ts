import { expect, test } from 'vitest';
import type { SignalboxError } from '../errors.ts';
import type { DagDefinition } from './dag-definition.ts';
import { mapsAround, toDagSpec } from './dag-spec.ts';

type Task = DagDefinition['tasks'][number];
type Group = NonNullable<DagDefinition['groups']>[number];
const job = (name: string, more: Partial<Task> = {}): Task => ({ name, handler: 'h', ...more });
const specOf = (tasks: Task[], groups: Group[] = [], more: Partial<DagDefinition> = {}) =>
  toDagSpec({ name: 'd', tasks, ...(groups.length === 0 ? {} : { groups }), ...more }).spec;

test('a mapped task is a group with that task alone in it, and waits for nothing that it does not need', () => {
  const spec = specOf(
    [
      job('list'),
      job('load', { map: '${{ tasks.list.output.files }}', inputs: { path: '${{ item.path }}', no: '${{ index }}' } }),
      job('sum', { inputs: { rows: '${{ tasks.load.output.rows }}' } }),
    ],
    [],
    { maxMapSize: 100_000 },
  );
  expect(spec.groups).toEqual([
    { name: 'load', parent: null, map: { over: [{ from: 'task', task: 0, fact: 0 }], mode: 'product' } },
  ]);
  expect(spec.maxMapSize).toBe(100_000);
  expect(spec.tasks[0]).toMatchObject({ facts: [['files']] });
  expect(spec.tasks[0]).not.toHaveProperty('group');
  expect(spec.tasks[1]).toMatchObject({
    group: 0,
    needs: [],
    work: {
      inputs: { path: { from: 'item', group: 'load', path: ['path'] }, no: { from: 'index', group: 'load' } },
    },
  });
  expect(spec.tasks[2]).toMatchObject({
    needs: [1],
    work: { inputs: { rows: { from: 'task', task: 'load', path: ['rows'], each: true } } },
  });
});

test('groups lie in groups; a task sees its own instance and what is outside as one output, other instances as lists', () => {
  const spec = specOf(
    [
      job('regions'),
      job('shops', { group: 'region', inputs: { region: '${{ item }}', all: '${{ tasks.regions.output }}' } }),
      job('fetch', { group: 'shop', inputs: { of: '${{ groups.region.item.id }}', shop: '${{ item }}' } }),
      job('store', { group: 'tail', inputs: { text: '${{ tasks.fetch.output }}', no: '${{ groups.region.index }}' } }),
      job('close', { group: 'region', inputs: { rows: '${{ tasks.store.output.rows }}' } }),
      job('report', { inputs: { rows: '${{ tasks.store.output.rows }}', closed: '${{ tasks.close.output }}' } }),
    ],
    [
      { name: 'region', map: { over: '${{ tasks.regions.output }}' } },
      { name: 'tail', group: 'shop' },
      {
        name: 'shop',
        group: 'region',
        map: { over: { shop: '${{ tasks.shops.output }}', day: [1, 2], zone: '${{ params.zones }}' }, mode: 'zip' },
      },
    ],
  );
  expect(spec.groups?.map(({ name, parent }) => [name, parent])).toEqual([
    ['region', null],
    ['shop', 0],
    ['tail', 1],
  ]);
  expect(spec.tasks.map(({ group }) => group)).toEqual([undefined, 0, 1, 2, 0, undefined]);
  expect(spec.groups?.[1]?.map).toEqual({
    over: [
      { name: 'shop', from: 'task', task: 1, fact: 0 },
      { name: 'day', from: 'list', length: 2, items: [1, 2] },
      { name: 'zone', from: 'params', fact: 0 },
    ],
    mode: 'zip',
  });
  expect(spec.paramFacts).toEqual([['zones']]);
  const inputsOf = (no: number) => spec.tasks[no]?.work?.inputs;
  expect(inputsOf(1)).toMatchObject({ region: { from: 'item', group: 'region' }, all: { from: 'task', path: [] } });
  expect(inputsOf(2)).toMatchObject({
    of: { from: 'item', group: 'region', path: ['id'] },
    shop: { from: 'item', group: 'shop' },
  });
  expect(inputsOf(3)).toEqual({
    text: { from: 'task', task: 'fetch', path: [] },
    no: { from: 'index', group: 'region' },
  });
  expect(inputsOf(4)).toMatchObject({ rows: { each: true } });
  expect(inputsOf(5)).toMatchObject({ rows: { each: true }, closed: { each: true } });
  expect(mapsAround(spec, spec.tasks[3] as never).map(({ name }) => name)).toEqual(['region', 'shop']);
});

const list = job('list');
const over = '${{ tasks.list.output }}';
test.each<[string, Task[], Group[], string, RegExp, Partial<DagDefinition>?]>([
  ['a group that is not there', [job('a', { group: 'g' })], [], 'tasks[0].group', /no group g: list it under groups/],
  [
    'a parent that is not there',
    [job('a', { group: 'g' })],
    [{ name: 'g', group: 'x' }],
    'groups[0].group',
    /no group x/,
  ],
  [
    'groups in a circle',
    [job('a', { group: 'g' })],
    [
      { name: 'g', group: 'h' },
      { name: 'h', group: 'g' },
    ],
    'groups[0].group',
    /cycle: g is in h is in g/,
  ],
  ['a group in itself', [job('a', { group: 'g' })], [{ name: 'g', group: 'g' }], 'groups[0].group', /g is in g/],
  ['a group with nothing in it', [job('a')], [{ name: 'g' }], 'groups[0]', /nothing in it/],
  [
    'two groups of one name',
    [job('a', { group: 'g' })],
    [{ name: 'g' }, { name: 'g' }],
    'groups[1].name',
    /groups\[0\] too/,
  ],
  ['a group with the name of a task', [job('a', { group: 'a' })], [{ name: 'a' }], 'groups[0].name', /tasks\[0\] too/],
  ['a map over a task that is not there', [job('a', { map: over })], [], 'tasks[0].map', /no task list/],
  ['a map over itself', [job('list', { map: over })], [], 'tasks[0].map', /cycle/],
  [
    'a map over what comes behind it',
    [job('a', { map: over }), job('list', { needs: ['a'] })],
    [],
    'tasks[0].map',
    /cycle/,
  ],
  [
    'a map over one of its own tasks',
    [job('list', { group: 'g' }), job('b', { group: 'g' })],
    [{ name: 'g', map: over }],
    'groups[0].map',
    /cycle/,
  ],
  [
    'a map over a part of what is mapped itself',
    [list, job('m', { map: over }), job('n', { map: '${{ tasks.m.output.rows }}' })],
    [],
    'tasks[2].map',
    /m is itself mapped: only the list/,
  ],
  ['a map over an item', [list, job('a', { map: '${{ item }}' })], [], 'tasks[1].map', /can't go over an item/],
  ['a map over a secret', [job('a', { map: '${{ secrets.A }}' })], [], 'tasks[0].map', /a secret/],
  ['a map over a text', [job('a', { map: 'files' })], [], 'tasks[0].map', /must be a reference/],
  ['a map over code', [job('a', { map: '${{ 1 + 1 }}' })], [], 'tasks[0].map', /not a reference/],
  ['a map over a number', [job('a', { map: 3 as never })], [], 'tasks[0].map', /must be a reference/],
  ['a map over no list', [job('a', { map: { over: {} } })], [], 'tasks[0].map.over', /1 to 5/],
  [
    'lists that do not fit together',
    [job('a', { map: { over: { x: [1], y: [1, 2] }, mode: 'zip' } })],
    [],
    'tasks[0].map',
    /zips lists of 1 and 2/,
  ],
  [
    'more items than allowed',
    [job('a', { map: { over: { x: [1, 2], y: [1, 2] } } })],
    [],
    'tasks[0].map',
    /has 4 items; 3 are allowed: raise maxMapSize/,
    { maxMapSize: 3 },
  ],
  ['an item outside a map', [job('a', { inputs: { x: '${{ item.path }}' } })], [], 'tasks[0].inputs.x', /in no map/],
  ['an index outside a map', [job('a', { inputs: { x: '${{ index }}' } })], [], 'tasks[0].inputs.x', /no index here/],
  [
    'an item of a group that is around another task',
    [list, job('a', { map: over }), job('b', { map: over, inputs: { x: '${{ groups.a.item }}' } })],
    [],
    'tasks[2].inputs.x',
    /in no mapped group a; it is in b/,
  ],
  [
    'an output of a group',
    [job('a', { inputs: { x: '${{ groups.a.output }}' } })],
    [],
    'tasks[0].inputs.x',
    /item and index/,
  ],
  [
    'a condition over a mapped task',
    [list, job('m', { map: over }), job('a', { when: 'length(tasks.m.output) > 0' })],
    [],
    'tasks[2].when',
    /m is mapped/,
  ],
  [
    'a branch to the outside of its map',
    [list, job('m', { map: over, branch: true }), job('a', { needs: ['m'] })],
    [],
    'tasks[1].branch',
    /a is outside its map/,
  ],
  [
    'an item outside of a map, in a command line',
    [{ name: 'a', run: 'echo ${{ item }}' }],
    [],
    'tasks[0].run',
    /there is no item here/,
  ],
  [
    'maps four deep',
    [list, job('a', { group: 'three', map: over })],
    [
      { name: 'one', map: over },
      { name: 'two', group: 'one', map: over },
      { name: 'three', group: 'two', map: over },
    ],
    'tasks[1].map',
    /4 maps deep; 3 are allowed/,
  ],
])('%s is refused with its place (I38)', (_, tasks, groups, path, message, more = {}) => {
  try {
    specOf(tasks, groups, more);
  } catch (error) {
    const { problems = [] } = (error as SignalboxError).details;
    const found = problems.find((problem) => problem.path === path);
    expect(found?.message, JSON.stringify(problems)).toMatch(message);
    return;
  }
  throw new Error('The definition was taken.');
});

test('a map of a task may be within the group that it maps over the tasks of', () => {
  const spec = specOf(
    [list, job('find', { group: 'g' }), job('load', { group: 'g', map: '${{ tasks.find.output }}' })],
    [{ name: 'g', map: over }],
  );
  expect(spec.groups?.[1]).toMatchObject({ name: 'load', parent: 0 });
  expect(spec.tasks[2]).toMatchObject({ group: 1 });
});

test('a map may go over all outputs of another map', () => {
  const spec = specOf([list, job('m', { map: over }), job('n', { map: '${{ tasks.m.output }}' })]);
  expect(spec.groups?.[1]).toMatchObject({ name: 'n', map: { over: [{ from: 'task', task: 1, fact: 0 }] } });
  expect(spec.tasks[1]).toMatchObject({ facts: [[]] });
});
