import { toDagSpec } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import type { DagBuilder } from './builder.ts';
import { dag } from './dag.ts';
import { type Dag, isDag } from './dag-value.ts';
import { DagMistake } from './mistake.ts';
import { secret } from './ref.ts';

const make = (build: (builder: DagBuilder<{ cups: number }>) => void): Dag => dag('coffee', build);

test('a dag is its definition, and its functions by the names that it has for them', () => {
  const coffee = dag<{ cups: number }>(
    'coffee',
    {
      schedule: { cron: '0 7 * * *', zone: 'Europe/Berlin' },
      priority: 'high',
      maxActiveRuns: 1,
      on: { event: 'tired' },
    },
    ({ task, params }) => {
      const grind = task('grind', ({ params }) => ({ grams: 16 * params.cups, beans: [{ kind: 'a' }] }));
      const heat = task('heat', { queue: 'kitchen', inProcess: true, secrets: ['PIN'] }, () => 93);
      task(
        'brew',
        {
          needs: [heat],
          inputs: { grams: grind.output.grams, kind: grind.output.beans[0]!.kind, cups: params.cups, strong: true },
          timeout: '30s',
          concurrency: 4,
          retries: { maxAttempts: 3 },
        },
        ({ inputs }) => `${inputs.cups} of ${inputs.grams} g`,
      );
    },
  );
  expect(isDag(coffee)).toBe(true);
  expect(coffee.definition).toEqual({
    name: 'coffee',
    schedule: { cron: '0 7 * * *', zone: 'Europe/Berlin' },
    priority: 'high',
    maxActiveRuns: 1,
    on: { event: 'tired' },
    tasks: [
      { name: 'grind', function: 'coffee/grind' },
      { name: 'heat', function: 'coffee/heat', queue: 'kitchen', inProcess: true, secrets: ['PIN'] },
      {
        name: 'brew',
        function: 'coffee/brew',
        needs: ['heat'],
        inputs: {
          grams: '${{ tasks.grind.output.grams }}',
          kind: '${{ tasks.grind.output.beans[0].kind }}',
          cups: '${{ params.cups }}',
          strong: true,
        },
        timeout: '30s',
        concurrency: 4,
        retries: { maxAttempts: 3 },
      },
    ],
  });
  expect(Object.keys(coffee.functions)).toEqual(['coffee/grind', 'coffee/heat', 'coffee/brew']);
  const { spec } = toDagSpec({ ...coffee.definition, bundle: '0'.repeat(64) });
  expect(spec.tasks.map(({ needs }) => needs)).toEqual([[], [], [0, 1]]);
});

test('templates stand beside the tasks, functions and processes alike', () => {
  const { definition, functions } = dag('grow', { maxAddedTasks: 9 }, ({ task, template, params }) => {
    const list = task('list', () => [1]);
    const load = template('load', { retries: { maxAttempts: 2 }, needs: [list], inputs: { day: params } }, () => 1);
    template('shell', { run: 'echo', adds: true });
    task('plan', { adds: true }, ({ addTasks }) => addTasks([{ name: 'a', template: load }]));
  });
  expect(definition).toMatchObject({
    maxAddedTasks: 9,
    templates: [
      {
        name: 'load',
        function: 'grow/load',
        needs: ['list'],
        inputs: { day: '${{ params }}' },
        retries: { maxAttempts: 2 },
      },
      { name: 'shell', run: 'echo', adds: true },
    ],
    tasks: [{ name: 'list' }, { name: 'plan', adds: true }],
  });
  expect(Object.keys(functions)).toEqual(['grow/list', 'grow/load', 'grow/plan']);
  expect(toDagSpec({ ...definition, bundle: '0'.repeat(64) }).spec.templates).toHaveLength(2);
  expect(() => dag('twice', ({ task, template }) => [task('a', () => 1), template('a', () => 1)])).toThrow(
    /two tasks a/,
  );
});

test('maps and groups are those of the definition; what a map returns is seen from outside as lists', () => {
  const { definition } = dag<{ days: string[] }>('etl', { maxMapSize: 50 }, ({ task, map, group, params }) => {
    const list = task('list', () => ({ files: [{ path: 'a' }] }));
    const load = task('load', { map: list.output.files }, ({ item }) => item.path.length);
    const each = map(
      'each day',
      { over: { day: params.days, n: [1, 2] }, mode: 'zip' },
      ({ item, index, map, task }) => {
        const fetched = task('fetch', { inputs: { day: item.day, no: index } }, () => ({ parts: [1] }));
        const part = map('part', fetched.output.parts, ({ item: part, task }) =>
          task('one', { inputs: { part, day: item.day } }, ({ inputs }) => inputs.part),
        );
        return { fetched, part };
      },
    );
    group('end', ({ task }) => {
      task('sum', { needs: [load], inputs: { ones: each.part.output, parts: each.fetched.output.parts } }, () => 1);
    });
  });
  expect(definition).toMatchObject({
    maxMapSize: 50,
    groups: [
      { name: 'each day', map: { over: { day: '${{ params.days }}', n: [1, 2] }, mode: 'zip' } },
      { name: 'part', group: 'each day', map: '${{ tasks.fetch.output.parts }}' },
      { name: 'end' },
    ],
    tasks: [
      { name: 'list' },
      { name: 'load', map: '${{ tasks.list.output.files }}' },
      {
        name: 'fetch',
        group: 'each day',
        inputs: { day: '${{ groups["each day"].item.day }}', no: '${{ groups["each day"].index }}' },
      },
      { name: 'one', group: 'part', inputs: { part: '${{ groups.part.item }}' } },
      {
        name: 'sum',
        group: 'end',
        needs: ['load'],
        inputs: { ones: '${{ tasks.one.output }}', parts: '${{ tasks.fetch.output.parts }}' },
      },
    ],
  });
  const named = JSON.parse(JSON.stringify(definition).replaceAll('each day', 'day').replaceAll('[\\"day\\"]', '.day'));
  const { spec } = toDagSpec({ ...named, bundle: '0'.repeat(64) });
  expect(spec.tasks[4]?.work?.inputs).toMatchObject({ ones: { each: true }, parts: { each: true } });
});

test('processes and calls have no function, and say what they are', () => {
  const { definition, functions } = dag('etl', ({ process, http, task }) => {
    const extract = process<{ rows: number }>('extract', {
      run: ['node', 'extract.mjs'],
      env: { KEY: secret('API_KEY'), MODE: 'full' },
      cwd: '/srv',
    });
    const tell = http('tell', {
      url: 'https://example.com/hook',
      method: 'POST',
      headers: { authorization: `Bearer ${secret('HOOK')}` },
      body: { text: 'done' },
      expect: [202],
      timeout: '5s',
      retries: { maxAttempts: 4 },
      needs: [extract],
    });
    task('odd names', { inputs: { n: (tell.output as unknown as Record<string, never>)['a b'] } }, () => 1);
  });
  expect(functions).toHaveProperty(['etl/odd names']);
  expect(definition.tasks).toEqual([
    {
      name: 'extract',
      run: ['node', 'extract.mjs'],
      env: { KEY: '${{ secrets.API_KEY }}', MODE: 'full' },
      cwd: '/srv',
    },
    {
      name: 'tell',
      http: {
        url: 'https://example.com/hook',
        method: 'POST',
        headers: { authorization: 'Bearer ${{ secrets.HOOK }}' },
        body: { text: 'done' },
        expect: [202],
        timeout: '5s',
      },
      retries: { maxAttempts: 4 },
      needs: ['extract'],
    },
    { name: 'odd names', function: 'etl/odd names', inputs: { n: '${{ tasks.tell.output["a b"] }}' } },
  ]);
});

/** The line of this file that the mark stands on, as the runtime counts it. */
function lineOf(act: () => unknown): { readonly error: DagMistake; readonly line: number } {
  const here = Number(/dag\.test\.ts:(\d+)/.exec(String(new Error().stack?.split('\n')[2]))?.[1]);
  try {
    act();
  } catch (error) {
    return { error: error as DagMistake, line: here };
  }
  throw new Error('Nothing was thrown.');
}

const cyclic: unknown[] = [];
cyclic.push(cyclic);

// Each on one line: the place of the call that is wrong is the line of its row.
// biome-ignore format: the rows must stay on their lines
test.each<[string, () => { readonly error: DagMistake; readonly line: number }, RegExp]>([
  ['two tasks of one name', () => lineOf(() => make(({ task }) => { task('a', () => 1); task('a', () => 2); })), /two tasks a/],
  ['no task at all', () => lineOf(() => make(() => {})), /has no tasks/],
  ['an async builder', () => lineOf(() => make(async ({ task }) => { task('a', () => 1); })), /async/],
  ['a function among the inputs', () => lineOf(() => make(({ task }) => { task('a', { inputs: { f: (): number => 1 } }, () => 1); })), /inputs\.f is a function/],
  ['a date among the inputs', () => lineOf(() => make(({ task }) => { task('a', { inputs: { at: { x: new Date() } } }, () => 1); })), /inputs\.at\.x is a Date/],
  ['a number that JSON has not', () => lineOf(() => make(({ http }) => { http('a', { url: 'http://x', body: { n: Number.NaN } }); })), /http\.body\.n is NaN/],
  ['a circle', () => lineOf(() => make(({ task }) => { task('a', { inputs: { cyclic } }, () => 1); })), /nested deeper/],
  ['a reference inside a value', () => lineOf(() => make(({ task, params }) => { task('a', { inputs: { x: [params.cups] } }, () => 1); })), /only be a whole input/],
  // oxlint-disable-next-line typescript/no-base-to-string
  ['a reference inside a text', () => lineOf(() => make(({ process, params }) => { process('a', { run: `echo ${String(params.cups)}` }); })), /no value yet/],
  ['a task of another dag', () => lineOf(() => make(({ task }) => { task('a', { needs: [{ name: 'b' }] }, () => 1); })), /not a task of dag/],
  ['a task inside a map, used outside', () => lineOf(() => make(({ task, map }) => { let inside = task('a', () => 1); map('m', [1], ({ task }) => { inside = task('b', () => 1); }); task('c', { inputs: { b: inside.output } }, () => 1); })), /of map m and has many values/],
  ['an item outside its map', () => lineOf(() => make(({ task, map }) => { let item: unknown; map('m', [1], (inside) => { item = inside.item; inside.task('b', () => 1); }); task('c', { inputs: { item } }, () => 1); })), /of map m and has many values/],
  ['a group with the name of a task', () => lineOf(() => make(({ task, group }) => { task('a', () => 1); group('a', ({ task }) => task('b', () => 1)); })), /a task or another group a/],
  ['an async map', () => lineOf(() => make(({ map }) => { map('m', [1], async ({ task }) => { task('b', () => 1); }); })), /map m is built by an async/],
  ['no function', () => lineOf(() => make(({ task }) => { task('a', {}, undefined as never); })), /has no function/],
  ['an odd secret', () => lineOf(() => make(({ process }) => { process('a', { run: 'x', env: { A: secret('a b') } }); })), /not a valid secret name/],
])('%s is a mistake that says where', (_, act, message) => {
  const { error, line } = act();
  expect(error).toBeInstanceOf(DagMistake);
  expect(error.message).toMatch(message);
  expect(error.message).toMatch(/\(at .*dag\.test\.ts:\d+:\d+\)$/);
  // Two calls go through a helper of this file.
  if (!/no tasks|async/.test(error.message)) expect(error.place?.line).toBe(line);
});

test('a task can not be added when the dag is made', () => {
  let late: DagBuilder<unknown>['task'] | undefined;
  dag('d', ({ task }) => {
    late = task;
    task('a', () => 1);
  });
  expect(() => late?.('b', () => 1)).toThrow('after dag d is made');
});

test('the run and its window are references too', () => {
  const { definition } = dag('daily', ({ task, run, window }) => {
    task('a', { inputs: { at: window.at, id: run.id, made: run.createdAt } }, () => 1);
  });
  expect(definition.tasks[0]?.inputs).toEqual({
    at: '${{ window.at }}',
    id: '${{ run.id }}',
    made: '${{ run.createdAt }}',
  });
});

test('a task says what it produces, and a dag what it waits for and expects', () => {
  const load = dag('load', ({ task }) => {
    task('x', { produces: ['orders'] }, () => 1);
  });
  expect(load.definition.tasks).toMatchObject([{ name: 'x', produces: ['orders'] }]);
  const options = { on: { assets: { all: ['orders'] } }, expect: { type: 'beat', within: '10m' } };
  const report = dag('report', options, ({ task }) => {
    task('y', () => 1);
  });
  expect(report.definition).toMatchObject(options);
});
