import { rm, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { SignalboxError } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { compileFolder } from './compile.ts';
import { deployCompiled } from './deploy-compiled.ts';
import { makeFolder, writeInto } from './folder.testing.ts';

const dagOf = (name: string, body = '1'): string =>
  `import { dag } from '@signalbox/sdk';
   import { value } from './lib.ts';
   export default dag('${name}', ({ task }) => { task('t', () => [value, ${body}, ${Math.random()}]); });`;
const old = new Date(Date.now() - 60_000);

test('a hundred files of YAML take less than a second', async () => {
  const yaml = (no: number) =>
    `name: dag-${no}\ntasks:\n  - { name: a, run: x }\n  - { name: b, run: y, needs: [a] }\n`;
  const folder = await makeFolder(
    Object.fromEntries(Array.from({ length: 100 }, (_, no) => [`d${no}.yaml`, yaml(no)])),
  );
  // Of this process alone: the machine may have other things to do.
  const before = process.cpuUsage();
  expect((await compileFolder({ folder })).dags.length).toBe(100);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test('what has not changed is not made again, and what an import has changed is', async () => {
  const folder = await makeFolder({ 'a.ts': dagOf('a'), 'b.ts': dagOf('b'), 'lib.ts': 'export const value = 1;' });
  for (const name of ['a.ts', 'b.ts', 'lib.ts']) await utimes(join(folder, name), old, old);
  const first = await compileFolder({ folder });
  expect(first.dags.length).toBe(2);
  // The very same bundle: nothing was built.
  const again = await compileFolder({ folder });
  expect(again.dags[0]?.bundle).toBe(first.dags[0]?.bundle);
  await utimes(join(folder, 'a.ts'), new Date(), new Date());
  expect((await compileFolder({ folder })).dags[0]?.bundle).toBe(first.dags[0]?.bundle);
  await writeInto(folder, 'b.ts', dagOf('b', '2'));
  const changed = await compileFolder({ folder });
  expect(changed.dags[0]?.bundle).toBe(first.dags[0]?.bundle);
  expect(changed.dags[1]?.bundle?.hash).not.toBe(first.dags[1]?.bundle?.hash);
  await writeInto(folder, 'lib.ts', 'export const value = 2;');
  const both = await compileFolder({ folder });
  expect(both.dags.map(({ bundle }, no) => bundle?.hash === changed.dags[no]?.bundle?.hash)).toEqual([false, false]);
  await rm(join(folder, 'lib.ts'));
  expect((await compileFolder({ folder })).problems.map(({ file }) => file)).toEqual([
    join(folder, 'a.ts'),
    join(folder, 'b.ts'),
  ]);
  await writeInto(folder, 'lib.ts', 'export const value = 3;');
  expect((await compileFolder({ folder })).dags.length).toBe(2);
});

test('a folder that is not there is a problem, not an accident', async () => {
  const folder = join(await makeFolder(), 'gone');
  const { dags, problems } = await compileFolder({ folder });
  expect(dags).toEqual([]);
  expect(problems).toMatchObject([{ file: folder, line: null, message: expect.stringContaining('ENOENT') }]);
});

test('files are called as the caller called the folder', async () => {
  const folder = await makeFolder({ 'sub/a.yaml': 'name: a\ntasks: [{ name: t, run: x, need: [] }]' });
  const { problems } = await compileFolder({ folder: relative(process.cwd(), folder) });
  expect(problems[0]?.file).toBe(relative(process.cwd(), join(folder, 'sub/a.yaml')));
});

test('code is stored before the version that names it, once, and one refusal does not stop the others', async () => {
  const folder = await makeFolder({
    'a.ts': `import { dag } from '@signalbox/sdk';
      export const dags = ['a', 'b', 'c'].map((name) => dag(name, ({ task }) => { task('t', () => 1); }));`,
    'd.yaml': 'name: d\ntasks: [{ name: t, run: x }]',
  });
  const { dags } = await compileFolder({ folder });
  const hash = dags[0]?.bundle?.hash ?? '';
  const asked: string[] = [];
  const outcomes = await deployCompiled(
    {
      putBundle: async (of) => {
        asked.push(`code ${of}`);
        return { hash: of, bytes: 1 };
      },
      putSourceMap: async (of) => {
        asked.push(`map ${of}`);
        return { hash: of, bytes: 1 };
      },
      deployDag: async ({ name }) => {
        asked.push(name);
        if (name === 'b') throw new SignalboxError('SCHEDULE_INVALID', { reason: 'no' });
        return { name, version: 1, hash: 'h', changed: true };
      },
    },
    dags,
  );
  expect(asked).toEqual([`code ${hash}`, `map ${hash}`, 'a', 'b', 'c', 'd']);
  expect(outcomes.map(({ name, ok }) => [name, ok])).toEqual([
    ['a', true],
    ['b', false],
    ['c', true],
    ['d', true],
  ]);
  expect(outcomes[1]).toMatchObject({ file: join(folder, 'a.ts'), error: { code: 'SCHEDULE_INVALID' } });
});
