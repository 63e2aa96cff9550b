import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { compileFile, compileFolder } from '../compile.ts';
import type { Compiled, CompiledDag } from '../compiled.ts';
import { makeFolder, writeInto } from '../folder.testing.ts';

const COFFEE = `import { dag } from '@signalbox/sdk';
export default dag<{ cups: number }>('coffee', { schedule: { cron: '0 7 * * *', zone: 'Europe/Berlin' } }, ({ task }) => {
  const grind = task('grind', ({ params }) => ({ grams: 16 * params.cups }));
  task('brew', { inputs: { grams: grind.output.grams }, timeout: '30s' }, ({ inputs }) => \`coffee of \${inputs.grams} g\`);
});
`;

/** \`file:line:column\` of each problem, files as paths within the folder. */
const placesOf = ({ problems }: Compiled, folder: string): string[] =>
  problems.map(({ file, line, column }) => `${file.replace(`${folder}/`, '')}:${line}:${column}`);

async function only(text: string): Promise<CompiledDag> {
  const compiled = await compileFolder({ folder: await makeFolder({ 'a.ts': text }) });
  expect(compiled.problems).toEqual([]);
  return compiled.dags[0] as CompiledDag;
}

test('a file of TypeScript becomes a definition and a small bundle that runs, without any node_modules', async () => {
  const { name, definition, bundle } = await only(COFFEE);
  expect(name).toBe('coffee');
  expect(definition).toMatchObject({ bundle: bundle?.hash, tasks: [{ function: 'coffee/grind' }, { name: 'brew' }] });
  const folder = await makeFolder({ 'b.mjs': bundle?.code.toString() ?? '' });
  const { functions } = await import(pathToFileURL(join(folder, 'b.mjs')).href);
  expect(functions['coffee/brew']({ inputs: { grams: 3 } })).toBe('coffee of 3 g');
  expect(JSON.parse(bundle?.sourceMap?.toString() ?? '').sources).toContain('a.ts');
  // Neither the client nor a parser is in it.
  expect(bundle?.code.length).toBeLessThan(16_000);
  expect(bundle?.code.toString()).not.toMatch(/ZodError|authorization/);
});

test.each([
  ['comments', COFFEE.replace('const grind', '/* the grinder */ // is loud\n  /*! kept by others */ const grind')],
  ['formatting', COFFEE.replaceAll('\n', '\n\n\t').replaceAll(', ', ',   ')],
  ['quotes', COFFEE.replaceAll("'", '"')],
  [
    'a type',
    COFFEE.replace('cups: number', 'cups: number; zzzzzzzzzzzzzzzzzz?: boolean; qqqqqqqqqqqqqqqqqqqqq?: string'),
  ],
])('%s does not change the hash', async (_, text) => {
  expect(text).not.toBe(COFFEE);
  expect((await only(text)).bundle?.hash).toBe((await only(COFFEE)).bundle?.hash);
});

test('what a function does changes the hash, and the folder that it lies in does not', async () => {
  const hash = (await only(COFFEE)).bundle?.hash;
  expect((await only(COFFEE.replace('16 *', '17 *'))).bundle?.hash).not.toBe(hash);
  const { dags } = await compileFolder({ folder: await makeFolder({ 'quarry/er/a.mts': COFFEE }) });
  expect(dags[0]?.bundle?.hash).toBe(hash);
  expect(dags[0]?.bundle?.code.toString()).not.toMatch(/quarry/);
});

test('errors name things as the author does', async () => {
  const { bundle } = await only(`import { dag } from '@signalbox/sdk';
    class OrderMissing extends Error { constructor(orderNumber: number) { super('order ' + orderNumber); this.name = new.target.name; } }
    const findOrder = (orderNumber: number): never => { throw new OrderMissing(orderNumber); };
    export default dag<{ rows: number[] }>('a', ({ task }) => {
      task('sum', ({ params }) => { const customerRows = params.rows; return customerRows.map((row) => row + 1); });
      task('find', () => findOrder(7));
    });`);
  const folder = await makeFolder({ 'b.mjs': bundle?.code.toString() ?? '' });
  const { functions } = await import(pathToFileURL(join(folder, 'b.mjs')).href);
  expect(() => functions['a/sum']({ params: { rows: 1 } })).toThrow('customerRows.map is not a function');
  expect(() => functions['a/find']({})).toThrow(expect.objectContaining({ name: 'OrderMissing', message: 'order 7' }));
});

test('a file that wants the client gets it', async () => {
  const { bundle } = await only(`import { createClient, dag } from '@signalbox/sdk';
    export default dag('a', ({ task }) => { task('t', () => createClient({ url: 'http://127.0.0.1:1', token: '' }).listDags()); });`);
  expect(bundle?.code.length).toBeGreaterThan(20_000);
});

test('imports of the folder, JSON, text, and packages of the user are in the bundle', async () => {
  const folder = await makeFolder({
    'orders.ts': `import { dag } from '@signalbox/sdk';
      import { twice } from './lib/twice.ts';
      import { load } from 'their-package';
      import table from './table.json' with { type: 'json' };
      import query from './query.sql';
      export const orders = dag('orders', ({ task }) => { task('a', () => [twice(table.rows), load(), query]); });`,
    'lib/twice.ts': 'export const twice = (n: number): number => n * 2;',
    'table.json': '{"rows": 3}',
    'query.sql': 'select 1',
    'node_modules/their-package/index.js': `const { sep } = require('node:path'); exports.load = () => sep;`,
    'node_modules/their-package/dag.yaml': 'name: x\ntasks: []',
  });
  const { dags, problems } = await compileFolder({ folder });
  expect(problems).toEqual([]);
  const bundle = await makeFolder({ 'b.mjs': dags[0]?.bundle?.code.toString() ?? '' });
  const { functions } = await import(pathToFileURL(join(bundle, 'b.mjs')).href);
  expect(functions['orders/a']()).toEqual([6, '/', 'select 1']);
});

test('a library is passed over unless it is named; several dags and lists of dags are fine; tests are not looked at', async () => {
  const folder = await makeFolder({
    'lib.ts': 'export const x = 1;',
    'quiet.ts': `import { PermanentError } from '@signalbox/sdk'; export const fail = () => { throw new PermanentError('x'); };`,
    'two.ts': `import { dag } from '@signalbox/sdk';
      export const a = dag('a', ({ task }) => { task('t', () => 1); });
      export const more = ['b', 'c'].map((name) => dag(name, ({ process }) => { process('t', { run: 'true' }); }));
      export default a;`,
    'two.test.ts': 'nonsense(',
    'types.d.ts': 'nonsense(',
    'tsconfig.json': '{"tasks": 1}',
    '.hidden/x.ts': 'nonsense(',
    'server.ts': 'process.exit(3); export {};',
    'scripts/report.mjs': 'process.exit(4);',
  });
  const compiled = await compileFolder({ folder });
  expect(compiled.problems).toEqual([]);
  expect(compiled.dags.map(({ name, bundle }) => [name, bundle !== null])).toEqual([
    ['a', true],
    ['b', false],
    ['c', false],
  ]);
  for (const file of ['lib.ts', 'quiet.ts']) {
    const named = await compileFile({ file: join(folder, file) });
    expect(named.problems).toMatchObject([
      { message: 'the file exports no dag', remedy: expect.stringContaining('dag()') },
    ]);
  }
});

const wrap = (lines: string): string => `import { dag } from '@signalbox/sdk';\n${lines}`;

test.each<[string, string, string, RegExp, RegExp | null]>([
  [
    'a syntax error',
    wrap('export default dag("a", ({ task }) => {\n  task("t", () => ;\n});'),
    'a.ts:3:19',
    /Unexpected ";"/,
    null,
  ],
  [
    'an import of no file',
    wrap('import { x } from "./gone.ts";\nexport default x(dag);'),
    'a.ts:2:19',
    /gone\.ts/,
    /Check the path/,
  ],
  [
    'an import of no package',
    wrap('import { x } from "@their/pad/sub";\nexport default x(dag);'),
    'a.ts:2:19',
    /pad/,
    /npm install @their\/pad$/,
  ],
  [
    'an export that is not there',
    wrap('import { x } from "./b.ts";\nexport default x(dag);'),
    'a.ts:2:10',
    /No matching export/,
    /Export it there/,
  ],
  [
    'a thrown error',
    wrap(
      'interface X { a: 1 }\nconst boom = (): never => {\n  throw new TypeError("no luck");\n};\nexport default dag("a", () => boom());',
    ),
    'a.ts:4:9',
    /TypeError: no luck/,
    null,
  ],
  [
    'an error thrown in a file that it imports',
    wrap('import { boom } from "./b2.ts";\nexport default dag("a", () => boom());'),
    'b2.ts:2:9',
    /Error: from b/,
    null,
  ],
  [
    'a rejected await',
    wrap('await Promise.reject(new Error("later"));\nexport default dag("a", () => {});'),
    'a.ts:2:22',
    /later/,
    null,
  ],
  [
    'a mistake of authoring',
    wrap('export default dag("a", ({ task }) => {\n  task("t", () => 1);\n  task("t", () => 2);\n});'),
    'a.ts:4:3',
    /two tasks t/,
    /unique name/,
  ],
  [
    'an unknown span',
    wrap(
      'export default dag("a", ({ task }) => {\n  task("t", () => 1);\n  task("u", { timeout: "99999d" }, () => 1);\n});',
    ),
    'a.ts:4:3',
    /tasks\[1\]\.timeout must be/,
    null,
  ],
  [
    'a bad name of a dag',
    wrap('\n  export default dag("a b", ({ process }) => {\n  process("t", { run: "x" });\n});'),
    'a.ts:3:18',
    /name must have/,
    null,
  ],
  [
    'an early exit',
    wrap('process.exit(7);\nexport default dag("a", () => {});'),
    'a.ts:null:null',
    /exit code 7/,
    /process\.exit/,
  ],
  [
    'no end',
    wrap('for (;;);\nexport default dag("a", () => {});'),
    'a.ts:null:null',
    /did not load within 6 s/,
    /into a task/,
  ],
  [
    'no memory',
    wrap('const all = [];\nfor (;;) all.push("x".repeat(9) + all.length);\nexport default dag("a", () => {});'),
    'a.ts:null:null',
    /256 MiB/,
    null,
  ],
])('%s is reported at its place, and the other file still compiles', async (name, text, place, message, remedy) => {
  const folder = await makeFolder({ 'a.ts': text, 'b.ts': 'export const y = 1;', 'ok.ts': COFFEE });
  await writeInto(folder, 'b2.ts', 'export const boom = (): never => {\n  throw new Error("from b");\n};');
  const compiled = await compileFolder({ folder, timeLimitMs: name === 'no end' ? 6_000 : 25_000 });
  expect(placesOf(compiled, folder)).toEqual([place]);
  expect(compiled.problems[0]?.message).toMatch(message);
  if (remedy !== null) expect(compiled.problems[0]?.remedy).toMatch(remedy);
  expect(compiled.dags.map((dag) => dag.name)).toEqual(['coffee']);
});

test('what the file prints, and what it finds in its environment, is its own', async () => {
  process.env.SIGNALBOX_TOKEN_FOR_TEST = 'secret';
  const { definition } = await only(
    wrap(`console.log('{"dags": []}'); console.error('loud'); process.stdout.write('x'.repeat(1e6));
      export default dag('a', { description: JSON.stringify(process.env) }, ({ task }) => { task('t', () => 1); });`),
  );
  delete process.env.SIGNALBOX_TOKEN_FOR_TEST;
  expect(definition.description).toContain('PATH');
  expect(definition.description).not.toMatch(/secret|VITEST/);
});

test('a large definition arrives whole, whatever letters it has', async () => {
  const { definition } = await only(
    wrap(`export default dag('a', ({ process }) => {
      for (let no = 0; no < 3_000; no++) process('t' + no, { run: 'x', inputs: { text: 'aäß→😀'.repeat(10) } });
    });`),
  );
  expect(definition.tasks.length).toBe(3_000);
  expect(new Set(definition.tasks.map(({ inputs }) => inputs?.text))).toEqual(new Set(['aäß→😀'.repeat(10)]));
});

test('a name that can not be is told once, and names that are too long together say so', async () => {
  const folder = await makeFolder({
    'a.ts': wrap(`export const a = dag('a b', ({ task }) => { task('t', () => 1); });
      export const b = dag('b', ({ task }) => { task('t'.repeat(199), () => 1); });`),
  });
  const { problems } = await compileFolder({ folder });
  expect(problems.map(({ message, remedy }) => [message.split(' ')[0], remedy])).toEqual([
    ['name', null],
    ['tasks[0].function', expect.stringContaining('Shorten them')],
  ]);
});

test('code that no server would take is refused here', async () => {
  const folder = await makeFolder({
    'a.ts': wrap(`import text from './text.txt'; export default dag('a', ({ task }) => { task('t', () => text); });`),
    'text.txt': 'x'.repeat(11 * 1024 * 1024),
  });
  const { problems } = await compileFolder({ folder });
  expect(problems).toMatchObject([{ message: expect.stringContaining('the limit is 10485760') }]);
});

test('what a file starts is ended with it', async () => {
  const folder = await makeFolder();
  await mkdir(join(folder, 'out'));
  await writeFile(
    join(folder, 'a.ts'),
    wrap(`import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      writeFileSync('out/pid', String(child.pid));
      export default dag('a', ({ task }) => { task('t', () => 1); });`),
  );
  const { dags } = await compileFolder({ folder });
  expect(dags.length).toBe(1);
  const { readFile } = await import('node:fs/promises');
  const pid = Number(await readFile(join(folder, 'out/pid'), 'utf8'));
  const isGone = async (): Promise<boolean> => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State: X');
    return /State:\s+[XZ]/.test(status);
  };
  await expect.poll(isGone, { timeout: 20_000 }).toBe(true);
});

test('two files with one name are both refused, and a link is not followed around', async () => {
  const folder = await makeFolder({ 'a.ts': COFFEE, 'b/b.ts': COFFEE.replace('16', '17') });
  await symlink(folder, join(folder, 'b/again'));
  const { dags, problems } = await compileFolder({ folder });
  expect(dags).toEqual([]);
  expect(problems.map(({ file, message }) => [file, message])).toEqual([
    [join(folder, 'a.ts'), `dag coffee is in ${join(folder, 'b/b.ts')} too`],
    [join(folder, 'b/b.ts'), `dag coffee is in ${join(folder, 'a.ts')} too`],
  ]);
});
