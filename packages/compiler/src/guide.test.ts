/** What docs/guides/writing-dags.md and graphs.md show can be copied: each block that begins with the name of its file is compiled. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { compileFolder } from './compile.ts';
import type { CompiledDag } from './compiled.ts';
import { makeFolder } from './folder.testing.ts';
import { tryCompiled } from './try-compiled.testing.ts';

const GUIDE = new URL('../../../docs/guides/writing-dags.md', import.meta.url);

async function filesOf(page: URL): Promise<Record<string, string>> {
  const blocks = (await readFile(page, 'utf8')).matchAll(
    /^```\w+\n(?:\/\/|#) ([\w/-]+\.(?:ts|yaml|sh|sql|py))\n(.*?)^```/gms,
  );
  return Object.fromEntries(Array.from(blocks, ([, name, text]) => [name as string, text as string]));
}

test('every file of the guide compiles', async () => {
  const files = await filesOf(GUIDE);
  const { dags, problems } = await compileFolder({ folder: await makeFolder(files) });
  expect(problems).toEqual([]);
  expect(dags.map(({ name }) => name)).toEqual([
    'coffee-yaml',
    'coffee',
    'fetch-yaml',
    'invoices',
    'load-yaml',
    'load',
    'nightly',
    'notify-yaml',
    'notify',
    'report-yaml',
  ]);
});

test('the files beside a dag of the guide go along, and its script runs', async () => {
  const { dags } = await compileFolder({ folder: await makeFolder(await filesOf(GUIDE)) });
  const nightly = dags.find(({ name }) => name === 'nightly') as CompiledDag;
  expect(nightly.files?.paths).toEqual(['etl/transform.py', 'load.sh', 'sql/day.sql']);
  const { tasks } = await tryCompiled({
    ...nightly,
    definition: { ...nightly.definition, tasks: nightly.definition.tasks.slice(0, 1) },
  });
  expect(tasks.map(({ state }) => state)).toEqual(['succeeded']);
});

test('every file of the guide to graphs compiles', async () => {
  const files = await filesOf(new URL('../../../docs/guides/graphs.md', import.meta.url));
  const { dags, problems } = await compileFolder({ folder: await makeFolder(files) });
  expect(problems).toEqual([]);
  expect(dags.map(({ name }) => name)).toEqual([
    'cluster',
    'each-file',
    'each-order',
    'import-all',
    'import-files',
    'import',
    'mend',
    'night',
    'nightly',
    'orders',
    'regions',
    'load-region',
    'shops',
  ]);
});

test('every file of the guide to failures compiles', async () => {
  const files = await filesOf(new URL('../../../docs/guides/failures.md', import.meta.url));
  const { dags, problems } = await compileFolder({ folder: await makeFolder(files) });
  expect(problems).toEqual([]);
  expect(dags.map(({ name }) => name)).toEqual(expect.arrayContaining(['booking', 'loud']));
});

const README = new URL('../../../README.md', import.meta.url);

/** What the README has its reader paste into a shell. */
async function pastedFiles(): Promise<Record<string, string>> {
  const pasted = (await readFile(README, 'utf8')).matchAll(/^cat > (\S+) <<'END'\n(.*?)^END$/gms);
  return Object.fromEntries(Array.from(pasted, ([, name, text]) => [name as string, text as string]));
}

test.each([
  ['the README', pastedFiles],
  ['the guide', () => filesOf(GUIDE)],
])('the first dag of %s has less than 15 lines, and its twin in YAML gives the same result', async (_, read) => {
  const files = await read();
  expect(files['coffee.ts']?.trim().split('\n').length).toBeLessThan(15);
  const { dags, problems } = await compileFolder({ folder: await makeFolder(files) });
  expect(problems).toEqual([]);
  const [first, twin] = await Promise.all(
    ['coffee', 'coffee-yaml'].map(async (name) => {
      const run = await tryCompiled(dags.find((dag) => dag.name === name) as CompiledDag, { cups: 2 });
      return run.tasks.map((task) => [task.name, task.state, task.output]);
    }),
  );
  expect(first).toEqual([
    ['grind', 'succeeded', { grams: 32 }],
    ['brew', 'succeeded', 'coffee of 32 g'],
  ]);
  expect(twin).toEqual(first);
});

test('every file of the guide to user code compiles', async () => {
  const files = await filesOf(new URL('../../../docs/guides/user-code.md', import.meta.url));
  const { dags, problems } = await compileFolder({ folder: await makeFolder(files) });
  expect(problems).toEqual([]);
  expect(dags.map(({ name }) => name)).toEqual(['import']);
});
