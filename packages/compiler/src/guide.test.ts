/** What docs/guides/writing-dags.md shows can be copied: each block that begins with the name of its file is compiled. */
import { readFile } from 'node:fs/promises';
import { testRun } from '@signalbox/sdk/testing';
import { expect, test } from 'vitest';
import { compileFolder } from './compile.ts';
import { makeFolder } from './folder.testing.ts';

const GUIDE = new URL('../../../docs/guides/writing-dags.md', import.meta.url);

async function filesOf(page: URL): Promise<Record<string, string>> {
  const blocks = (await readFile(page, 'utf8')).matchAll(/^```\w+\n(?:\/\/|#) ([\w-]+\.(?:ts|yaml))\n(.*?)^```/gms);
  return Object.fromEntries(Array.from(blocks, ([, name, text]) => [name as string, text as string]));
}

test('every file of the guide compiles', async () => {
  const files = await filesOf(GUIDE);
  const { dags, problems } = await compileFolder({ folder: await makeFolder(files) });
  expect(problems).toEqual([]);
  expect(dags.map(({ name }) => name)).toEqual(['coffee-yaml', 'coffee', 'load-yaml', 'load', 'notify-yaml', 'notify']);
});

test('a dag and its twin in YAML give the same result', async () => {
  const files = await filesOf(GUIDE);
  expect(files['coffee.ts']?.trim().split('\n').length).toBeLessThan(15);
  const folder = await makeFolder(files);
  const { dags } = await compileFolder({ folder });
  const outputs = await Promise.all(
    ['coffee', 'coffee-yaml'].map(async (name) => {
      const dag = dags.find((each) => each.name === name);
      const code = dag?.bundle?.code.toString('base64') ?? '';
      const { functions } = await import(`data:text/javascript;base64,${code}`);
      const stubs = { grind: functions[`${name}/grind`], brew: functions[`${name}/brew`] };
      const run = await testRun(dag?.definition as NonNullable<typeof dag>['definition'], {
        params: { cups: 2 },
        stubs,
      });
      return run.tasks.map(({ state, output }) => [state, output]);
    }),
  );
  expect(outputs[0]).toEqual([
    ['succeeded', { grams: 32 }],
    ['succeeded', 'coffee of 32 g'],
  ]);
  expect(outputs[1]).toEqual(outputs[0]);
});
