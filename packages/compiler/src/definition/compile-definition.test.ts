import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { contentHash, toDagSpec } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { compileFile, compileFolder } from '../compile.ts';
import { makeFolder } from '../folder.testing.ts';
import { MAX_TEXT_BYTES } from './read-text.ts';

const COFFEE = `# yaml-language-server: $schema=https://example.com/dag.schema.json
name: coffee
schedule: { cron: '0 7 * * *', zone: Europe/Berlin }
tasks:
  - name: grind
    call: ./tasks.ts#grind
  - name: brew
    run: echo "coffee of $INPUT_grams g"
    inputs:
      grams: \${{ tasks.grind.output.grams }}
    timeout: 30s
`;
const TASKS = `export const grind = ({ params }: { params: { cups: number } }) => ({ grams: 16 * params.cups });
export default () => 'default';
export const notOne = 7;
`;

test('YAML becomes a definition, and its calls functions of a bundle', async () => {
  const folder = await makeFolder({ 'coffee.yaml': COFFEE, 'tasks.ts': TASKS });
  const { dags, problems } = await compileFolder({ folder });
  expect(problems).toEqual([]);
  const [dag] = dags;
  expect(dag?.definition).toEqual({
    name: 'coffee',
    bundle: dag?.bundle?.hash,
    schedule: { cron: '0 7 * * *', zone: 'Europe/Berlin' },
    tasks: [
      { name: 'grind', function: 'coffee/grind' },
      {
        name: 'brew',
        run: 'echo "coffee of $INPUT_grams g"',
        inputs: { grams: '${{ tasks.grind.output.grams }}' },
        timeout: '30s',
      },
    ],
  });
  const bundle = await makeFolder({ 'b.mjs': dag?.bundle?.code.toString() ?? '' });
  const { functions } = await import(pathToFileURL(join(bundle, 'b.mjs')).href);
  expect(functions['coffee/grind']({ params: { cups: 2 } })).toEqual({ grams: 32 });
});

test('YAML and JSON mean the same, whatever their order and formatting', async () => {
  const hashes = await Promise.all(
    [
      ['a.yml', 'tasks: [{run: [echo, hi], name: t, needs: []}]\nname: a'],
      ['a.yaml', 'name: &n a\ntasks:\n  - name: t # why\n    run:\n      - echo\n      - hi\n'],
      ['a.json', '{\n\t"$schema": "x",\n\t"name": "a",\n\t"tasks": [{ "name": "t", "run": ["echo", "hi"] }]\n}'],
    ].map(async ([name, text]) => {
      const { dags, problems } = await compileFolder({
        folder: await makeFolder({ [name as string]: text as string }),
      });
      expect(problems).toEqual([]);
      return contentHash(toDagSpec(dags[0]?.definition).spec);
    }),
  );
  expect(new Set(hashes).size).toBe(1);
});

test('what has no tasks is not looked at, unless it is named', async () => {
  const folder = await makeFolder({
    'values.yaml': 'a: !tag 1\n---\nb: 2',
    'table.json': '[1, 2',
    'other.yml': 'steps: []',
    'package.json': '{"tasks": []}',
  });
  expect(await compileFolder({ folder })).toEqual({ dags: [], problems: [] });
  const named = await compileFile({ file: join(folder, 'other.yml') });
  expect(named.problems).toMatchObject([{ line: 1, message: 'the file has no tasks' }]);
  const missing = await compileFile({ file: join(folder, 'gone.yml') });
  expect(missing.problems[0]?.message).toMatch(/can't be read/);
  const odd = await compileFile({ file: join(folder, 'gone.txt') });
  expect(odd.problems[0]?.message).toMatch(/neither code nor YAML/);
});

const two = (second: string): string => `name: a\ntasks:\n  - name: one\n    run: x\n  - name: two\n${second}`;
const bomb = ['name: a', 'tasks: [{name: t, run: x, inputs: {x: *i}}]', 'i: &i [x]'];
const laughs = [
  'a: &a [x, x, x, x, x, x, x, x, x, x]',
  ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[i]}`).join(', ')}]`),
  'name: x',
  'tasks: [{ name: t, run: x, inputs: { all: *h } }]',
].join('\n');

test.each<[string, string, string, RegExp, RegExp | null]>([
  [
    'an unknown field',
    two('    run: x\n    tiemout: 3s'),
    '7:5',
    /tasks\[1\] Unrecognized key: "tiemout"/,
    /Did you mean timeout\?/,
  ],
  [
    'an unknown field of the dag',
    'name: a\nshedule: { cron: x }\ntasks: [{ name: t, run: x }]',
    '2:1',
    /shedule/,
    /Did you mean schedule\?/,
  ],
  [
    'an unknown task',
    two('    run: x\n    needs:\n      - oen'),
    '8:9',
    /tasks\[1\]\.needs\[0\] there is no task oen/,
    /Did you mean one\?/,
  ],
  ['itself', two('    run: x\n    needs: [two]'), '7:13', /needs itself/, null],
  [
    'an input from no task',
    two('    run: x\n    inputs:\n      n: ${{ tasks.none.output }}'),
    '8:10',
    /no task none/,
    null,
  ],
  ['half a reference', two('    run: x\n    inputs: { n: "a ${{ params.b" }'), '7:18', /not closed/, null],
  [
    'a name twice',
    'name: a\ntasks:\n  - name: one\n    run: x\n  - name: one\n    run: y',
    '5:11',
    /is the name of tasks\[0\] too/,
    /unique name/,
  ],
  [
    'a circle',
    'name: a\ntasks:\n  - { name: b, run: x, needs: [c] }\n  - { name: c, run: x, needs: [b] }',
    '3:31',
    /cycle/,
    /Remove one/,
  ],
  [
    'nothing to do',
    two('    needs: [one]'),
    '5:5',
    /does not say what it does: give one of call, run, http, handler/,
    null,
  ],
  ['two things to do', two('    run: x\n    http: { url: "http://a" }'), '5:5', /has run and http/, null],
  ['a call and a process', two('    call: ./tasks.ts#grind\n    run: x'), '5:5', /has call and run/, null],
  ['a wrong type', 'name: 7\ntasks: [{ name: t, run: x }]', '1:7', /name .*expected string/, null],
  ['a span', two('    run: x\n    timeout: 5 minutes'), '7:14', /duration such as/, null],
  [
    'a wrong cron',
    'name: a\nschedule:\n  cron: 61 7 * * *\ntasks: [{ name: t, run: x }]',
    '3:9',
    /schedule\.cron: .*61/,
    null,
  ],
  [
    'a cron that never fires',
    'name: a\nschedule:\n  cron: 0 0 30 2 *\ntasks: [{ name: t, run: x }]',
    '3:9',
    /schedule\.cron: .*never fires/,
    /day of month/,
  ],
  [
    'a wrong cron of the second schedule',
    'name: a\nschedules:\n  - { name: one, cron: 1 7 * * * }\n  - name: two\n    cron: 0 0 30 2 *\ntasks: [{ name: t, run: x }]',
    '5:11',
    /schedules\[1\]\.cron: .*never fires/,
    null,
  ],
  [
    'a wrong time of an expected event',
    'name: a\nexpect:\n  type: x\n  by: 61 * * * *\ntasks: [{ name: t, run: x }]',
    '4:7',
    /expect\.by: .*61/,
    null,
  ],
  [
    'a wrong zone',
    'name: a\nschedule: { cron: 0 7 * * *, zone: Mars/Base }\ntasks: [{ name: t, run: x }]',
    '2:36',
    /Mars\/Base/,
    /IANA/,
  ],
  ['a number that JSON has not', two('    run: x\n    inputs: { n: .inf }'), '7:18', /not a JSON number/, null],
  ['no name', 'tasks: [{ name: t, run: x }]', '1:1', /name .*expected string/, null],
  ['tasks that are none', 'name: a\ntasks: 3', '2:8', /tasks .*expected array/, null],
  ['no tasks at all', 'name: a\ntasks: []', '2:8', /at least one task/, null],
  ['a function without a bundle', two('    function: f'), '6:15', /there is no bundle/, /call: \.\/file\.ts#name/],
  ['a call of something else', two('    call: tasks.py'), '6:11', /not a function in a file/, /call: \.\/file\.ts/],
  ['a call out of the folder', two('    call: ../tasks.ts#x'), '6:11', /leaves the folder/, /Move/],
  ['a call of a link out of the folder', two('    call: ./link.ts#x'), '6:11', /leads out of/, /Move/],
  ['a call of no file', two('    call: ./none.ts#x'), '6:11', /there is no file \.\/none\.ts/, /Check the path/],
  ['a call of no export', two('    call: ./tasks.ts#grimd'), '6:11', /has no export grimd/, null],
  ['a call of no function', two('    call: ./tasks.ts#notOne'), '6:11', /is not a function but number/, null],
  [
    'a number that is too large',
    'name: a\ntasks:\n  - { name: t, run: x, inputs: { id: 9007199254740993 } }',
    '3:38',
    /9007199254740993 cannot be stored exactly: it would become 9007199254740992/,
    /quotes/,
  ],
  ['a key twice', 'name: a\ntasks: [{ name: t, run: x }]\nname: b', '3:1', /duplicated/, /Keep one/],
  [
    'several documents',
    'name: a\ntasks: [{ name: t, run: x }]\n---\nname: b',
    '3:1',
    /several documents/,
    /file of its own/,
  ],
  [
    'a tag',
    'name: !!binary aGk=\ntasks: [{ name: t, run: x }]',
    '1:16',
    /the tag .*binary is not supported/,
    /Remove it/,
  ],
  ['a tag of its own', 'name: a\ntasks: !mine [{ name: t, run: x }]', '2:14', /the tag !mine/, null],
  ['a merge key', 'x: &x { run: y }\nname: a\ntasks: [{ <<: *x, name: t }]', '3:11', /merge keys/, null],
  ['an anchor that is not there', bomb.join('\n'), '2:39', /nresolved alias|no anchor/, null],
  ['a bomb of aliases', laughs, '', /more than 1000000 values/, /Aliases count/],
  [
    'very many keys',
    `name: a\ntasks: []\n${Array.from({ length: 30_000 }, (_, no) => `k${no}: 1`).join('\n')}`,
    '',
    /Unrecognized keys|at least one task/,
    null,
  ],
  ['very many aliases', `x: &x 1\nname: a\ntasks: [${'*x, '.repeat(20_000)}]`, '', /tasks/, null],
  [
    'an alias of itself',
    'name: a\ntasks: &t [{ name: t, run: x, inputs: { t: *t } }]',
    '',
    /nested deeper|values/,
    null,
  ],
  ['deep nesting', `name: a\ntasks: ${'['.repeat(5_000)}`, '', /nested deeper|not YAML/, null],
  [
    'deep nesting that is closed',
    `name: a\ntasks: ${'['.repeat(3_000)}${']'.repeat(3_000)}`,
    '',
    /nested deeper/,
    null,
  ],
  ['a tab', 'name: a\ntasks:\n\t- name: t', '3:1', /tab|not YAML/, null],
  ['broken quotes', 'name: "a\ntasks: []', '', /not YAML/, null],
  ['a large file', `name: a\ntasks: []\n#${'x'.repeat(MAX_TEXT_BYTES)}`, 'null:null', /larger than/, /Split/],
])('YAML with %s is refused at its place', async (_, text, place, message, remedy) => {
  const folder = await makeFolder({
    'dags/bad.yaml': text,
    'dags/tasks.ts': TASKS,
    'tasks.ts': TASKS,
    'dags/ok.yaml': two('    run: y'),
  });
  await symlink(join(folder, 'tasks.ts'), join(folder, 'dags/link.ts'));
  const before = process.cpuUsage();
  const { dags, problems } = await compileFolder({ folder: join(folder, 'dags') });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(10_000);
  const [first] = problems;
  expect(first?.message).toMatch(message);
  expect(first?.message.length).toBeLessThan(500);
  expect(first?.file).toBe(join(folder, 'dags/bad.yaml'));
  if (place !== '') expect(`${first?.line}:${first?.column}`).toBe(place);
  if (remedy !== null) expect(first?.remedy).toMatch(remedy);
  expect(dags.map(({ file }) => file)).toEqual([join(folder, 'dags/ok.yaml')]);
});

test('a file that a call names and that does not load is reported where it is wrong', async () => {
  const folder = await makeFolder({
    'a.yaml': two('    call: ./t.ts#x'),
    't.ts': 'interface A {}\nexport const x = () => 1;\nthrow new Error("at load");',
  });
  const { problems } = await compileFolder({ folder });
  expect(problems).toMatchObject([
    { file: join(folder, 't.ts'), line: 3, column: 7, message: expect.stringContaining('at load') },
  ]);
});

test('JSON is read as JSON', async () => {
  const folder = await makeFolder({ 'a.json': '{\n  "name": "a",\n  "tasks": [{ "name": "t", "run": x }]\n}' });
  const { problems } = await compileFolder({ folder });
  expect(problems).toMatchObject([{ line: 3, column: 35, message: expect.stringMatching(/not JSON/) }]);
  const twice = await makeFolder({ 'a.json': '{"name": "a", "name": "b", "tasks": []}' });
  expect((await compileFolder({ folder: twice })).problems).toMatchObject(
    [{ line: 1, column: 15, message: /duplicated/ }].map((it) => ({
      ...it,
      message: expect.stringMatching(it.message),
    })),
  );
});

test.each(['task', 'Tasks', 'taks', 'tsaks', 'taskss', 'tacks'])(
  'a file in a folder whose tasks are written %s is a problem, not passed over',
  async (word) => {
    const folder = await makeFolder({ 'a.yaml': `name: a\n${word}:\n  - { name: t, run: x }\n` });
    const { problems, dags } = await compileFolder({ folder });
    expect(dags).toEqual([]);
    expect(problems).toMatchObject([
      { line: 2, message: expect.stringContaining(`"${word}"`), remedy: 'Write "tasks".' },
    ]);
  },
);

test('files of other things beside dags are passed over', async () => {
  const folder = await makeFolder({
    'ci.yaml': 'name: ci\non: push\njobs: { build: { steps: [] } }\n',
    'compose.yaml': 'services: { db: { image: postgres } }\n',
    'data.json': '{"masks": [1], "ask": 2, "tas": 3}',
  });
  expect(await compileFolder({ folder })).toMatchObject({ problems: [], dags: [] });
});
