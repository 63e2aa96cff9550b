import { expect, test } from 'vitest';
import { SignalboxError } from '../errors.ts';
import { contentHash, toDagSpec } from './dag-spec.ts';

const task = (name: string, ...needs: string[]) => ({ name, handler: 'h', needs });
const dag = (...tasks: unknown[]) => ({ name: 'd', tasks });
const chain = (length: number) =>
  Array.from({ length }, (_, no) => (no === 0 ? task('t0') : task(`t${no}`, `t${no - 1}`)));

function refusal(input: unknown): SignalboxError {
  try {
    toDagSpec(input);
  } catch (error) {
    if (error instanceof SignalboxError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

test.each([
  ['nothing', undefined, '', 'expected object'],
  ['null', null, '', 'expected object'],
  ['a list', [], '', 'expected object'],
  ['no tasks', dag(), 'tasks', 'at least one task'],
  ['too many tasks', dag(...chain(10_001)), 'tasks', 'at most 10000 tasks'],
  ['an unknown field', { ...dag(task('a')), colour: 'red' }, '', 'colour'],
  ['an unknown field of a task', dag({ ...task('a'), neds: [] }), 'tasks[0]', 'neds'],
  ['a field that reaches for the prototype', JSON.parse('{"name":"d","tasks":[],"__proto__":{}}'), '', '__proto__'],
  ['an empty name', { ...dag(task('a')), name: '' }, 'name', '1 to 200'],
  ['a name that is a path', { ...dag(task('a')), name: '../x' }, 'name', '1 to 200'],
  ['a name that vanishes from a path', { ...dag(task('a')), name: '..' }, 'name', 'must not be'],
  ['a name with a line break at its end', dag(task('a\n')), 'tasks[0].name', '1 to 200'],
  ['a name too long', dag(task('a'.repeat(201))), 'tasks[0].name', '1 to 200'],
  ['a name that is no text', dag({ name: 7, handler: 'h' }), 'tasks[0].name', 'expected string'],
  ['nothing to do', dag({ name: 'a' }), 'tasks[0]', 'one of handler, function, run, http'],
  ['two things to do', dag({ ...task('a'), run: 'ls' }), 'tasks[0]', 'has handler and run'],
  ['a function without a bundle', dag({ name: 'a', function: 'f' }), 'tasks[0].function', 'in no bundle'],
  [
    'concurrency of a process',
    dag({ name: 'a', run: 'ls', concurrency: 2 }),
    'tasks[0].concurrency',
    'goes with function',
  ],
  ['isolation of a handler', dag({ ...task('a'), isolation: 'process' }), 'tasks[0].isolation', 'goes with function'],
  ['no concurrency at all', dag({ name: 'a', function: 'f', concurrency: 0 }), 'tasks[0].concurrency', '>=1'],
  [
    'concurrency in the worker’s own process',
    dag({ name: 'a', function: 'f', inProcess: true, concurrency: 2 }),
    'tasks[0].concurrency',
    'does not go with inProcess',
  ],
  [
    'isolation beside concurrency',
    dag({ name: 'a', function: 'f', isolation: 'process', concurrency: 2 }),
    'tasks[0].isolation',
    'does not go with concurrency',
  ],
  ['a shell for a handler', dag({ ...task('a'), shell: 'bash' }), 'tasks[0].shell', 'goes with run'],
  [
    'an input of no task',
    dag({ ...task('a'), inputs: { x: '${{ tasks.b.output }}' } }),
    'tasks[0].inputs.x',
    'no task b',
  ],
  ['an input of itself', dag({ ...task('a'), inputs: { x: '${{ tasks.a.output }}' } }), 'tasks[0].inputs.x', 'itself'],
  [
    'an input that runs code',
    dag({ ...task('a'), inputs: { x: '${{ 1 + 1 }}' } }),
    'tasks[0].inputs.x',
    'is not a reference',
  ],
  [
    'a secret as an input',
    dag({ ...task('a'), inputs: { x: '${{ secrets.A }}' } }),
    'tasks[0].inputs.x',
    'secrets are no',
  ],
  [
    'a secret in a command line',
    dag({ name: 'a', run: 'curl -H "k: ${{ secrets.A }}"' }),
    'tasks[0].run',
    'use it in env or headers',
  ],
  [
    'a reference in single quotes',
    dag({ name: 'a', run: "echo '${{ params.a }}'" }),
    'tasks[0].run',
    'use double quotes',
  ],
  [
    'a reference to a task that is not there, in an argument',
    dag({ name: 'a', run: ['cat', '${{tasks.b.output}}'] }),
    'tasks[0].run[1]',
    'there is no task b',
  ],
  [
    'a reference as the program',
    dag({ name: 'a', run: ['${{ params.program }}'] }),
    'tasks[0].run[0]',
    'must name the program itself',
  ],
  [
    'a reference as the host of an address',
    dag({ name: 'a', http: { url: 'http://${{ params.host }}/x' } }),
    'tasks[0].http.url',
    'must',
  ],
  [
    'a secret in a body',
    dag({ name: 'a', http: { url: 'http://a', body: { deep: ['${{ secrets.A }}'] } } }),
    'tasks[0].http.body.deep[0]',
    'use it in env or headers',
  ],
  [
    'half a reference in a header',
    dag({ name: 'a', http: { url: 'http://a', headers: { k: '${{ params' } } }),
    'tasks[0].http.headers.k',
    'not closed',
  ],
  [
    'a call to no address',
    dag({ name: 'a', http: { url: 'file:///etc/passwd' } }),
    'tasks[0].http.url',
    'must be an address',
  ],
  [
    'a header of two lines',
    dag({ name: 'a', http: { url: 'http://a', headers: { a: 'b\r\nc: d' } } }),
    'tasks[0].http.headers.a',
    'one line',
  ],
  ['a name used twice', dag(task('a'), task('b'), task('a')), 'tasks[2].name', 'tasks[0] too'],
  ['an unknown need', dag(task('a'), task('b', 'a', 'x')), 'tasks[1].needs[1]', 'there is no task x'],
  ['a need that is a property of every object', dag(task('a', 'constructor')), 'tasks[0].needs[0]', 'there is no task'],
  ['a task that needs itself', dag(task('a', 'a')), 'tasks[0].needs[0]', 'needs itself'],
  ['a need named twice', dag(task('a'), task('b', 'a', 'a')), 'tasks[1].needs[1]', 'named twice'],
  ['a circle of two', dag(task('a', 'b'), task('b', 'a')), 'tasks[0].needs', 'a needs b needs a'],
  [
    'a circle behind a chain',
    dag(task('a'), task('b', 'a', 'd'), task('c', 'b'), task('d', 'c'), task('e', 'd')),
    'tasks[1].needs',
    'b needs d needs c needs b',
  ],
  ['a circle of 10,000', dag(task('t0', 't9999'), ...chain(10_000).slice(1)), 'tasks[0].needs', '10000 tasks'],
  ['needs nested without end', dag({ ...task('a'), needs: nested(5_000) }), 'tasks[0].needs[0]', 'expected string'],
  [
    'no attempts',
    dag({ ...task('a'), retries: { maxAttempts: 0 } }),
    'tasks[0].retries.maxAttempts',
    'expected number',
  ],
  [
    'half an attempt',
    dag({ ...task('a'), retries: { maxAttempts: 1.5 } }),
    'tasks[0].retries.maxAttempts',
    'expected int',
  ],
  [
    'a factor without bound',
    dag({ ...task('a'), retries: { factor: Infinity } }),
    'tasks[0].retries.factor',
    'expected number',
  ],
  ['min above max', dag({ ...task('a'), retries: { minMs: 2, maxMs: 1 } }), 'tasks[0].retries.minMs', 'above maxMs'],
  ['a timeout of nothing', dag({ ...task('a'), timeout: '0s' }), 'tasks[0].timeout', 'from 1 ms to 30 days'],
  [
    'a timeout without a unit',
    dag({ ...task('a'), timeout: 5 }),
    'tasks[0].timeout',
    'must have a unit: write "5s" for seconds',
  ],
  ['a timeout below nothing', dag({ ...task('a'), timeout: -5 }), 'tasks[0].timeout', 'from 1 ms to 30 days'],
  ['a timeout of half a year', dag({ ...task('a'), timeout: '180d' }), 'tasks[0].timeout', 'from 1 ms to 30 days'],
  ['a timeout in fortnights', dag({ ...task('a'), timeout: '2fn' }), 'tasks[0].timeout', 'from 1 ms to 30 days'],
  ['a timeout that is no number', dag({ ...task('a'), timeout: Number.NaN }), 'tasks[0].timeout', 'must be'],
  ['an unknown priority', { ...dag(task('a')), priority: 'urgent' }, 'priority', 'critical'],
  ['a limit of zero', { ...dag(task('a')), maxActiveRuns: 0 }, 'maxActiveRuns', 'expected number'],
  ['a schedule without a time', { ...dag(task('a')), schedule: {} }, 'schedule', 'must have one of cron, every and at'],
  [
    'a schedule with two of them',
    { ...dag(task('a')), schedule: { cron: '@daily', every: '5m' } },
    'schedule.every',
    'must not be given with cron',
  ],
  [
    'an iCal file by its name',
    { ...dag(task('a')), schedule: { cron: '@daily', calendar: { ical: 'holidays.ics' } } },
    'schedule.calendar.ical',
    'must be the text of an iCal file',
  ],
  ['a time that is none', { ...dag(task('a')), schedule: { at: 'tomorrow' } }, 'schedule.at', 'must be a time'],
  ['a cron too long', { ...dag(task('a')), schedule: { cron: '*'.repeat(201) } }, 'schedule.cron', 'at most 200'],
])('%s is refused with its place (I38, I68)', (_, input, path, message) => {
  const error = refusal(input);
  expect(error.code).toBe('DAG_INVALID');
  const places = error.details.problems ?? [];
  expect(places.length).toBeLessThanOrEqual(50);
  const found = places.find((problem) => problem.path === path);
  expect(found, JSON.stringify(places.slice(0, 3))).toBeDefined();
  expect(found?.message).toContain(message);
});

test('needs over the limit of all together are refused before they are looked at (I68)', () => {
  const wide = Array.from({ length: 1_000 }, (_, no) => task(`w${no}`));
  const all = wide.map(({ name }) => name);
  const error = refusal(dag(...wide, ...Array.from({ length: 101 }, (_, no) => task(`n${no}`, ...all))));
  expect(error.details.problems).toEqual([{ path: 'tasks', message: 'have 101000 needs in all; 100000 are allowed' }]);
});

test('what is left out gets its default', () => {
  expect(toDagSpec({ name: 'd', tasks: [{ name: 'a', handler: 'h' }], schedule: { cron: '* * * * *' } })).toEqual({
    name: 'd',
    spec: {
      tasks: [
        {
          name: 'a',
          handler: 'h',
          queue: 'default',
          needs: [],
          retry: { maxAttempts: 1, minMs: 0, baseMs: 1000, factor: 2, maxMs: 300_000, maxLost: 10 },
          timeoutMs: null,
        },
      ],
      priority: 'normal',
      maxActiveRuns: null,
      maxActiveTasks: null,
      schedule: {
        cron: '* * * * *',
        zone: 'UTC',
        gap: 'fire_after',
        overlap: 'first',
        missed: 'most_recent',
        missedLimit: 100,
      },
    },
  });
});

test.each([
  ['500ms', 500],
  ['1.5s', 1_500],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['30d', 2_592_000_000],
])('a timeout of %j is %i ms', (timeout, expected) => {
  expect(toDagSpec(dag({ ...task('a'), timeout })).spec.tasks[0]?.timeoutMs).toBe(expected);
});

test('a chain of 10,000 tasks is taken, in any order of writing (I38)', () => {
  const { spec } = toDagSpec(dag(...chain(10_000).reverse()));
  expect(spec.tasks[0]?.needs).toEqual([1]);
  expect(spec.tasks.at(-1)?.needs).toEqual([]);
});

test('the hash is that of the meaning: not of the order of keys, of needs, or of written defaults', () => {
  const plain = toDagSpec({ name: 'd', tasks: [task('a'), task('b'), task('c', 'a', 'b')] }).spec;
  const same = toDagSpec({
    priority: 'normal',
    tasks: [task('a'), { needs: [], handler: 'h', queue: 'default', name: 'b', timeout: null }, task('c', 'b', 'a')],
    name: 'd',
  }).spec;
  expect(contentHash(same)).toBe(contentHash(plain));
  expect(contentHash(plain)).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ['a handler', { tasks: [{ name: 'a', handler: 'other' }] }],
  ['a name', { tasks: [{ name: 'b', handler: 'h' }] }],
  ['a timeout', { tasks: [{ name: 'a', handler: 'h', timeout: '1ms' }] }],
  ['a limit', { tasks: [{ name: 'a', handler: 'h' }], maxActiveRuns: 1 }],
])('another %s is another meaning', (_, changed) => {
  const before = toDagSpec({ name: 'd', tasks: [{ name: 'a', handler: 'h' }] }).spec;
  expect(contentHash(toDagSpec({ name: 'd', ...changed }).spec)).not.toBe(contentHash(before));
});

test('references in texts are told apart from what is written, and are needs (I69)', () => {
  const { spec } = toDagSpec(
    dag(
      { name: 'find', handler: 'find' },
      { name: 'day', run: 'echo ${{ params.day }} "at ${{ window.at }}"', env: { F: 'x-${{ tasks.find.output.f }}' } },
      { name: 'plain', run: 'echo done', env: { A: 'b' } },
    ),
  );
  expect(spec.tasks[1]).toMatchObject({
    needs: [0],
    runInfo: true,
    work: {
      run: 'echo "${SIGNALBOX_REF_0}" "at ${SIGNALBOX_REF_1}"',
      env: { F: 'x-${{ tasks.find.output.f }}' },
      fill: {
        'ref[0]': { source: { from: 'params', path: ['day'] } },
        'ref[1]': { source: { from: 'run', field: 'window.at' } },
        'env.F': { text: ['x-', { from: 'task', task: 'find', path: ['f'] }] },
      },
    },
  });
  expect(spec.tasks[2]).not.toHaveProperty('runInfo');
  expect(spec.tasks[2]?.work).not.toHaveProperty('fill');
});

test('tags and owner are for people, and part of the version', () => {
  const tasks = [{ name: 'a', handler: 'x' }];
  const { spec } = toDagSpec({
    name: 'd',
    tasks,
    tags: ['billing', 'nightly/eu'],
    owner: 'Team Data <data@example.com>',
  });
  expect(spec).toMatchObject({ tags: ['billing', 'nightly/eu'], owner: 'Team Data <data@example.com>' });
  const plain = toDagSpec({ name: 'd', tasks }).spec;
  expect(contentHash(toDagSpec({ name: 'd', tasks, tags: [] }).spec)).toBe(contentHash(plain));
  expect(contentHash(spec)).not.toBe(contentHash(plain));
  for (const wrong of [
    { tags: ['a', 'a'] },
    { tags: ['two words'] },
    { tags: [''] },
    { owner: 'two\nlines' },
    { owner: '' },
  ])
    expect(() => toDagSpec({ name: 'd', tasks, ...wrong })).toThrow();
});

test('several schedules have names, and params that fit those of the dag', () => {
  const params = { type: 'object', properties: { region: { type: 'string' } }, required: ['region'] };
  const dag = (more: object) => ({ name: 'x', tasks: [{ name: 'a', run: 'true' }], params, ...more });
  const region = (name: string) => ({ params: { region: name } });
  const { spec } = toDagSpec(
    dag({
      schedules: [
        { cron: '@daily', ...region('eu') },
        { name: 'b', every: '1h', ...region('us') },
      ],
    }),
  );
  expect(spec.schedule).toBeNull();
  expect(spec.schedules).toMatchObject([
    { name: 'schedule-1', spec: { cron: '@daily', params: '{"region":"eu"}' } },
    { name: 'b', spec: { everyMs: 3_600_000, params: '{"region":"us"}' } },
  ]);
  const problems = (more: object) => {
    try {
      toDagSpec(dag(more));
      return [];
    } catch (error) {
      return (error as SignalboxError).body().problems?.map(({ path }) => path);
    }
  };
  expect(problems({ schedule: { cron: '@daily' } })).toEqual(['schedule.params']);
  const eu = { cron: '@daily', ...region('eu') };
  expect(
    problems({
      schedules: [
        { name: 'a', ...eu },
        { name: 'a', ...eu },
      ],
    }),
  ).toEqual(['schedules[1].name']);
  expect(problems({ schedule: eu, schedules: [eu] })).toEqual(['schedules']);
});

test('concurrency of the dag is the default of its functions, hooks and templates, and of nothing else', () => {
  const { spec } = toDagSpec({
    name: 'd',
    bundle: 'a'.repeat(64),
    concurrency: 20,
    tasks: [
      { name: 'plain', function: 'f', hooks: { after: { function: 'h' } } },
      { name: 'own', function: 'f', concurrency: 3 },
      { name: 'single', function: 'f', concurrency: 1 },
      { name: 'alone', function: 'f', isolation: 'process' },
      { name: 'inside', function: 'f', inProcess: true },
      { name: 'process', run: 'ls' },
      { name: 'adds', function: 'f', adds: true },
    ],
    templates: [{ name: 'added', function: 'f' }],
  });
  const said = [...spec.tasks, ...(spec.templates ?? [])].map(({ name, work }) => [
    name,
    work !== undefined && 'concurrency' in work ? work.concurrency : undefined,
  ]);
  expect(Object.fromEntries(said)).toMatchObject({ plain: 20, own: 3, adds: 20, added: 20 });
  for (const name of ['single', 'alone', 'inside', 'process']) {
    expect(Object.fromEntries(said)[name], name).toBeUndefined();
  }
  expect(said.filter(([, concurrency]) => concurrency === 20)).toHaveLength(4);
});
