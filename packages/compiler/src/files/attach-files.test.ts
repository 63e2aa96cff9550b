import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_FILES, unpackFiles } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { compileFolder } from '../compile.ts';
import type { CompiledDag } from '../compiled.ts';
import { makeFolder, writeInto } from '../folder.testing.ts';

const yaml = (run: string, files?: string) =>
  `name: a\n${files === undefined ? '' : `files: ${files}\n`}tasks:\n  - name: t\n    run: ${run}\n`;

const TREE = {
  'load.sh': '#!/bin/sh\necho hi\n',
  'sql/a.sql': 'select 1',
  'sql/deep/b.sql': 'select 2',
  'etl/__init__.py': '',
  'etl/load.py': 'print(1)',
  'etl/__pycache__/load.pyc': 'x',
  'etl/.env': 'PASSWORD=1',
  'node_modules/x/index.js': '1',
  '.env': 'PASSWORD=1',
  load: 'no',
};

async function only(folder: string): Promise<CompiledDag> {
  const { dags, problems } = await compileFolder({ folder });
  expect(problems).toEqual([]);
  return dags[0] as CompiledDag;
}

test.each<[string, string, string | undefined, string[]]>([
  ['a script that a command line names', './load.sh', undefined, ['load.sh']],
  ['a program and its arguments', '[python3, etl/load.py, --fast]', undefined, ['etl/load.py']],
  [
    'a file behind an option',
    `psql -v x=1 --file=sql/a.sql > out.txt && sh "./load.sh"`,
    undefined,
    ['load.sh', 'sql/a.sql'],
  ],
  ['no file: programs, folders, secrets', 'load sql . ./sql ./.env cat /etc/passwd ../x node_modules', undefined, []],
  ['a folder', 'true', '[etl/]', ['etl/__init__.py', 'etl/load.py']],
  ['patterns', 'true', `["sql/*.sql", "**/load.*"]`, ['etl/load.py', 'load.sh', 'sql/a.sql']],
  ['deep patterns', 'true', `["sql/**"]`, ['sql/a.sql', 'sql/deep/b.sql']],
  ['a file by its name', 'true', '[./load, sql/deep/b.sql]', ['load', 'sql/deep/b.sql']],
])('%s goes along', async (_, run, files, paths) => {
  const folder = await makeFolder({
    ...TREE,
    'a.yaml': yaml(JSON.stringify(run).startsWith('"[') ? run : JSON.stringify(run), files),
  });
  const { definition, files: found } = await only(folder);
  expect(found?.paths ?? []).toEqual(paths);
  expect(definition.files).toBe(found?.hash);
});

test('the whole folder goes along without what is hidden or made by tools', async () => {
  const folder = await makeFolder({ ...TREE, 'a.yaml': yaml('date', '["."]') });
  const { files } = await only(folder);
  expect(files?.paths).toEqual([
    'a.yaml',
    'etl/__init__.py',
    'etl/load.py',
    'load',
    'load.sh',
    'sql/a.sql',
    'sql/deep/b.sql',
  ]);
});

test('files of a dag in TypeScript and in JSON are the same as in YAML', async () => {
  const inTypeScript = `import { dag } from '@signalbox/sdk';
    export default dag('a', { files: ['sql/'] }, ({ process }) => { process('t', { run: './load.sh' }); });`;
  const json = JSON.stringify({ name: 'a', files: ['sql/'], tasks: [{ name: 't', run: './load.sh' }] });
  const hashes = await Promise.all(
    [{ 'a.ts': inTypeScript }, { 'a.json': json }, { 'a.yaml': yaml('./load.sh', '[sql/]') }].map(
      async (source) => (await only(await makeFolder({ ...TREE, ...source }))).files?.hash,
    ),
  );
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(hashes).size).toBe(1);
});

test('content, name and the right to execute are in the hash; times and other rights are not', async () => {
  const folder = await makeFolder({ ...TREE, 'a.yaml': yaml('./load.sh') });
  const hash = async () => (await only(folder)).definition.files;
  const first = await hash();
  await chmod(join(folder, 'load.sh'), 0o600);
  execFileSync('touch', ['-d', '2020-01-01', join(folder, 'load.sh')]);
  expect(await hash()).toBe(first);
  await chmod(join(folder, 'load.sh'), 0o700);
  const executable = await hash();
  expect(executable).not.toBe(first);
  const { files } = await only(folder);
  expect(unpackFiles(files?.archive ?? Buffer.alloc(0))).toMatchObject([{ path: 'load.sh', isExecutable: true }]);
  await writeInto(folder, 'load.sh', 'echo changed');
  expect(await hash()).not.toBe(executable);
});

test('a file that comes later, and that a pattern matches, goes along though nothing else has changed', async () => {
  const folder = await makeFolder({ ...TREE, 'a.yaml': yaml('date', '["sql/*"]') });
  expect((await only(folder)).files?.paths).toEqual(['sql/a.sql']);
  await writeInto(folder, 'sql/c.sql', 'select 3');
  expect((await only(folder)).files?.paths).toEqual(['sql/a.sql', 'sql/c.sql']);
});

test.each<[string, string, RegExp]>([
  ['"../secret.txt"', 'a path that goes up', /files\[0\] "\.\.\/secret\.txt" leaves the folder/],
  ['"sql/../../x"', 'a path that goes up later', /leaves the folder/],
  ['/etc/passwd', 'an absolute path', /absolute path/],
  ['gone.sh', 'a file that is not there', /there is no file "gone\.sh"/],
  ['"*.nothing"', 'a pattern without a match', /matches no file/],
  ['.env', 'a file of secrets', /\.env usually holds secrets/],
  ['etl/.env', 'a file of secrets further in', /\.env usually holds secrets/],
  ['out', 'a link that leads out', /"out" leaves the folder/],
  ['tree/', 'a folder with a link that leads out', /"tree\/out\.txt" leaves the folder/],
  ['alias', 'a link to a file of secrets', /\.env usually holds secrets/],
  ['linked', 'a link to a folder', /is a link to a folder/],
])('%s is refused at its place: %s', async (listed, _, message) => {
  const folder = await makeFolder({ ...TREE, 'a.yaml': yaml('date', `\n  - ${listed}`) });
  await symlink('/etc/hostname', join(folder, 'out'));
  await symlink('.env', join(folder, 'alias'));
  await symlink('sql', join(folder, 'linked'));
  await mkdir(join(folder, 'tree'));
  await symlink('/etc/hostname', join(folder, 'tree/out.txt'));
  const { dags, problems } = await compileFolder({ folder });
  expect(dags).toEqual([]);
  expect(problems).toMatchObject([{ line: 3, message: expect.stringMatching(message), remedy: expect.any(String) }]);
});

test('a link that a command line names and that leads out is not followed', async () => {
  const folder = await makeFolder({ 'a.yaml': yaml('cat ./out.txt') });
  await symlink('/etc/hostname', join(folder, 'out.txt'));
  expect((await only(folder)).files).toBeNull();
});

test('too many and too large are refused, and what is not a list', async () => {
  const problemOf = async (folder: string) => (await compileFolder({ folder })).problems[0]?.message;
  const folder = await makeFolder({ 'a.yaml': yaml('date', '[data/]') });
  await mkdir(join(folder, 'data'));
  for (let no = 0; no <= MAX_FILES; no++) await writeFile(join(folder, 'data', `${no}`), '');
  expect(await problemOf(folder)).toBe('files has 1001 files; the limit is 1000');
  const large = await makeFolder({ 'a.yaml': yaml('date', '[big.csv]'), 'big.csv': '' });
  await truncate(join(large, 'big.csv'), 9 * 1024 * 1024);
  expect(await problemOf(large)).toMatch(/^files has 9437184 bytes; the limit is 8388608\. The largest: big\.csv/);
  expect(await problemOf(await makeFolder({ 'a.yaml': yaml('date', 'load.sh') }))).toMatch(/must be a list/);
});

test('a task with a working folder of its own names no file of this one', async () => {
  const folder = await makeFolder({ ...TREE, 'a.yaml': `${yaml('./load.sh')}    cwd: /srv\n` });
  expect((await only(folder)).files).toBeNull();
});
