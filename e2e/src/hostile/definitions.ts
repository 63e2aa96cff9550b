/** Dag definitions that must be refused, with the place and a word of the answer. REST, gRPC and files are given the same ones. */

export interface HostileDefinition {
  readonly name: string;
  readonly definition: unknown;
  /** Where the answer must point. */
  readonly place: string;
  readonly says: string;
}

const task = (name: string, ...needs: string[]) => ({ name, run: 'true', needs });
const dag = (...tasks: unknown[]) => ({ name: 'hostile', tasks });
const chain = (length: number) =>
  Array.from({ length }, (_, no) => (no === 0 ? task('t0') : task(`t${no}`, `t${no - 1}`)));
const withTask = (fields: object) => dag({ ...task('a'), ...fields });
const scheduled = (schedule: object) => ({ ...dag(task('a')), schedule });

const rows: readonly (readonly [string, unknown, string, string])[] = [
  ['a circle of two', dag(task('a', 'b'), task('b', 'a')), 'tasks[0].needs', 'cycle'],
  ['a circle of 1,000', dag(task('t0', 't999'), ...chain(1_000).slice(1)), 'tasks[0].needs', 'cycle'],
  ['a task that needs itself', dag(task('a', 'a')), 'tasks[0].needs[0]', 'itself'],
  ['an unknown task', dag(task('a', 'ghost')), 'tasks[0].needs[0]', 'no task ghost'],
  ['a task of every object', dag(task('a', '__proto__')), 'tasks[0].needs[0]', 'no task __proto__'],
  ['two tasks of one name', dag(task('a'), task('a')), 'tasks[1].name', 'tasks[0] too'],
  ['no tasks', dag(), 'tasks', 'at least one'],
  ['tasks that are no list', { name: 'hostile', tasks: { a: {} } }, 'tasks', 'expected array'],
  ['a task that is no object', dag('a'), 'tasks[0]', 'expected object'],
  ['a task with nothing to do', dag({ name: 'a' }), 'tasks[0]', 'one of handler'],
  ['a task with two things to do', dag({ ...task('a'), handler: 'h' }), 'tasks[0]', 'handler and run'],
  ['an unknown field', withTask({ retires: 3 }), 'tasks[0]', 'retires'],
  [
    'a field that reaches for the prototype',
    JSON.parse('{"name":"hostile","tasks":[],"__proto__":{"x":1}}'),
    '',
    '__proto__',
  ],
  ['a name with a path in it', dag(task('../../etc/passwd')), 'tasks[0].name', '1 to 200'],
  ['a name of dots', dag(task('..')), 'tasks[0].name', 'must not be'],
  ['a name with a line break', dag(task('a\nb')), 'tasks[0].name', '1 to 200'],
  ['a name with a zero', dag(task('a\0b')), 'tasks[0].name', '1 to 200'],
  ['a name of nothing', dag(task('')), 'tasks[0].name', '1 to 200'],
  ['a name of 201 characters', dag(task('x'.repeat(201))), 'tasks[0].name', '1 to 200'],
  ['a name that is written backwards', dag(task('\u202eabc')), 'tasks[0].name', '1 to 200'],
  ['a name that is a number', dag({ ...task('a'), name: 7 }), 'tasks[0].name', 'expected string'],
  ['a command with a zero in it', withTask({ run: 'ls \0' }), 'tasks[0].run', 'must'],
  ['a program without a name', withTask({ run: [''] }), 'tasks[0].run[0]', 'program'],
  ['an env that is no name', withTask({ env: { 'A=B': 'x' } }), 'tasks[0].env', 'variable'],
  ['an env that reads the worker', withTask({ env: { A: 'x${{ env.PATH }}' } }), 'tasks[0].env.A', 'not a reference'],
  ['a secret in a command', withTask({ run: 'echo ${{ secrets.A }}' }), 'tasks[0].run', 'env or headers'],
  ['a command that quotes a value away', withTask({ run: "echo '${{ params.a }}'" }), 'tasks[0].run', 'double quotes'],
  [
    'a reference that is code',
    withTask({ inputs: { a: '${{ process.exit() }}' } }),
    'tasks[0].inputs.a',
    'not a reference',
  ],
  [
    'a reference to nobody',
    withTask({ inputs: { a: '${{ tasks.ghost.output }}' } }),
    'tasks[0].inputs.a',
    'no task ghost',
  ],
  [
    'a secret as an input',
    withTask({ inputs: { a: '${{ secrets.KEY }}' } }),
    'tasks[0].inputs.a',
    'secrets are no inputs',
  ],
  ['a call to a file', dag({ name: 'a', http: { url: 'file:///etc/passwd' } }), 'tasks[0].http.url', 'address'],
  [
    'a call with two header lines',
    dag({ name: 'a', http: { url: 'http://x', headers: { a: 'b\r\nc: d' } } }),
    'tasks[0].http.headers.a',
    'one line',
  ],
  [
    'a call with an unknown method',
    dag({ name: 'a', http: { url: 'http://x', method: 'TRACE' } }),
    'tasks[0].http.method',
    'GET',
  ],
  ['a function without code', dag({ name: 'a', function: 'f' }), 'tasks[0].function', 'bundle'],
  ['a negative timeout', withTask({ timeout: -1 }), 'tasks[0].timeout', '1 ms to 30 days'],
  ['a timeout of a century', withTask({ timeout: '36500d' }), 'tasks[0].timeout', '1 ms to 30 days'],
  ['a timeout that is no time', withTask({ timeout: '5 parsecs' }), 'tasks[0].timeout', '1 ms to 30 days'],
  ['a timeout of infinity', withTask({ timeout: '1e999s' }), 'tasks[0].timeout', '1 ms to 30 days'],
  [
    'a million attempts',
    withTask({ retries: { maxAttempts: 1_000_000 } }),
    'tasks[0].retries.maxAttempts',
    'expected number',
  ],
  ['no attempt at all', withTask({ retries: { maxAttempts: 0 } }), 'tasks[0].retries.maxAttempts', 'expected number'],
  ['half an attempt', withTask({ retries: { maxAttempts: 1.5 } }), 'tasks[0].retries.maxAttempts', 'expected int'],
  ['a backoff that shrinks', withTask({ retries: { factor: 0.1 } }), 'tasks[0].retries.factor', 'expected number'],
  ['a limit below one', { ...dag(task('a')), maxActiveRuns: 0 }, 'maxActiveRuns', 'expected number'],
  ['a priority of nobody', { ...dag(task('a')), priority: 'asap' }, 'priority', 'critical'],
  [
    'a description without end',
    { ...dag(task('a')), description: 'x'.repeat(2_001) },
    'description',
    'expected string',
  ],
  ['an event with a line break', { ...dag(task('a')), on: { event: 'a\nb' } }, 'on', ''],
  ['a bundle that is no hash', { ...dag(task('a')), bundle: '../../etc' }, 'bundle', 'SHA-256'],
  ['a cron of words', scheduled({ cron: 'every day' }), 'schedule', ''],
  ['a cron with a 61st minute', scheduled({ cron: '61 * * * *' }), 'schedule', ''],
  ['a cron of 8 fields', scheduled({ cron: '* * * * * * * *' }), 'schedule', ''],
  ['a cron of 300 characters', scheduled({ cron: '*'.repeat(300) }), 'schedule.cron', 'at most 200 characters'],
  ['a zone of nowhere', scheduled({ cron: '* * * * *', zone: 'Mars/Olympus' }), 'schedule', ''],
  ['a zone that is a path', scheduled({ cron: '* * * * *', zone: '../../etc/localtime' }), 'schedule', ''],
  ['a schedule without a time', scheduled({}), 'schedule', 'must have one of cron, every and at'],
];

export const HOSTILE_DEFINITIONS: readonly HostileDefinition[] = rows.map(([name, definition, place, says]) => ({
  name,
  definition,
  place,
  says,
}));

/** Too large to write into a file by hand; for the wires only. */
export const HUGE_DEFINITIONS: readonly HostileDefinition[] = [
  {
    name: '10,001 tasks',
    definition: dag(...Array.from({ length: 10_001 }, (_, no) => ({ name: `t${no}`, run: 'a' }))),
    place: 'tasks',
    says: 'at most 10000',
  },
];
