/** The packages as users have them: packed, installed into an empty project outside of the clone, and used there. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Begun, begin, type Ended } from '@signalbox/cli/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sandbox } from './sandbox.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

const DAG = `import { dag } from '@signalbox/sdk';

export default dag<{ cups: number }>('coffee', ({ task }) => {
  const grind = task('grind', ({ params }) => ({ grams: 16 * params.cups }));
  task('brew', { inputs: { grams: grind.output.grams } }, ({ inputs }) => \`coffee of \${inputs.grams} g\`);
});
`;
const DAG_TEST = `import assert from 'node:assert/strict';
import { testRun } from '@signalbox/sdk/testing';
import coffee from './coffee.ts';

const run = await testRun(coffee, { params: { cups: 2 } });
assert.equal(run.task('brew').output, 'coffee of 32 g');
`;
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
  },
  include: ['jobs'],
};

let box: Sandbox;
let tarballs: string[] = [];
let started: Begun | null = null;

async function must(command: readonly string[], cwd: string): Promise<Ended> {
  const ended = await begin(command, { cwd, env: process.env }).ended;
  if (ended.exitCode !== 0) throw new Error(`${command.join(' ')}:\n${ended.stdout}${ended.stderr}`);
  return ended;
}

const write = (path: string, text: string): Promise<void> => writeFile(join(box.folder, path), text);

beforeAll(async () => {
  box = await Sandbox.make({ name: 'this user', ids: null }, ['npx', '--no-install', 'signalbox']);
  const folder = join(box.folder, 'tarballs');
  const { stdout } = await must([process.execPath, join(ROOT, 'scripts/pack.mjs'), folder], ROOT);
  tarballs = stdout.split('\n').flatMap((line) => /^(\S+\.tgz) /.exec(line)?.[1] ?? []);
  await write('package.json', JSON.stringify({ name: 'a-project', private: true, type: 'module' }));
  await must(['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], box.folder);
  await mkdir(join(box.folder, 'jobs'));
  await write('jobs/coffee.ts', DAG);
  await write('tsconfig.json', JSON.stringify(TSCONFIG));
}, 240_000);

afterAll(() => box.remove(), 30_000);

test('a tarball has a licence and a README, and neither tests nor source maps', async () => {
  const names = tarballs.map((path) => /signalbox-([a-z]+)-[^/]*$/.exec(path)?.[1]);
  expect(names).toEqual(
    expect.arrayContaining(['cli', 'sdk', 'server', 'worker', 'protocol', 'engine', 'store', 'ui']),
  );
  for (const tarball of tarballs) {
    const files = (await must(['tar', '-tzf', tarball], box.folder)).stdout.trim().split('\n');
    expect(files).toEqual(expect.arrayContaining(['package/package.json', 'package/README.md', 'package/LICENSE']));
    expect(files.filter((file) => /\.test\.|\.map$|conformance|fixture|\/src\//.test(file))).toEqual([]);
  }
});

test('the tarball of the web UI has the licences of the libraries that are bundled in it', async () => {
  const ui = tarballs.find((path) => /signalbox-ui-[^/]*$/.test(path)) ?? '';
  const { stdout } = await must(['tar', '-xzOf', ui, 'package/dist/site/licences.txt'], box.folder);
  for (const library of ['react', 'react-dom', '@tanstack/react-router', '@fontsource-variable/inter']) {
    expect(stdout).toMatch(new RegExp(`^${library} \\d`, 'm'));
  }
  expect(stdout).toContain('SIL OPEN FONT LICENSE');
  expect(stdout).toContain('Permission is hereby granted, free of charge');
});

test('all packages have one version, and none of them is private', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const tarball of tarballs) {
    const { stdout } = await must(['tar', '-xzOf', tarball, 'package/package.json'], box.folder);
    const manifest = JSON.parse(stdout);
    expect([manifest.version, manifest.private, manifest.license]).toEqual([version, undefined, 'Apache-2.0']);
    expect(JSON.stringify(manifest.exports)).not.toContain('/src/');
  }
});

test('TypeScript finds the types: a right dag compiles, and a wrong wire does not', async () => {
  const check = () =>
    begin([process.execPath, TSC, '--project', box.folder], { cwd: box.folder, env: process.env }).ended;
  expect(await check()).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  await write('jobs/wrong.ts', DAG.replace('grind.output.grams', 'grind.output.ounces').replace("'coffee'", "'wrong'"));
  const wrong = await check();
  await write('jobs/wrong.ts', '');
  expect(wrong.exitCode).not.toBe(0);
  expect(wrong.stdout).toMatch(/jobs\/wrong\.ts\(5,.*'ounces' does not exist/);
});

test('a dag is tested without a server, by sdk/testing', async () => {
  await write('coffee-test.ts', DAG_TEST.replace('./coffee.ts', './jobs/coffee.ts'));
  // Node 20 runs no TypeScript: the compiler that came along makes JavaScript of it.
  const options = ['--bundle', '--platform=node', '--format=esm', '--packages=external', '--outfile=coffee-test.mjs'];
  await must(['npx', '--no-install', 'esbuild', 'coffee-test.ts', ...options], box.folder);
  await must([process.execPath, 'coffee-test.mjs'], box.folder);
});

test('signalbox start has the web pages and runs the examples; a dag of the project is deployed and run', async () => {
  started = await box.start();
  const token = (await readFile(join(box.data, 'admin.token'), 'utf8')).trim();
  const page = await fetch(box.url, { headers: { accept: 'text/html', authorization: `Bearer ${token}` } });
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringMatching(/<script type="module"[^>]* src="\/assets\//),
  ]);
  expect(await box.json('runs', 'show', 'last')).toMatchObject({ dag: 'hello' });
  expect(await box.json('validate', 'jobs/coffee.ts')).toMatchObject({ problems: [] });
  expect(await box.json('deploy', 'jobs/coffee.ts')).toMatchObject({ dags: [{ name: 'coffee', result: 'new' }] });
  const run = await box.json('runs', 'trigger', 'coffee', '--params', '{"cups":2}', '--wait');
  expect(run).toMatchObject({ outcome: 'succeeded', tasks: [{}, { name: 'brew', output: 'coffee of 32 g' }] });
}, 120_000);

test('init writes a project that finds the installed packages by their name', async () => {
  const { written } = await box.json<{ written: string[] }>('init', 'new', '--name', 'tea');
  expect(written).toEqual(['new/tea.ts', 'new/tea.test.ts']);
});

test('Ctrl-C stops all of it', async () => {
  process.kill(-(started?.pid ?? 0), 'SIGINT');
  await started?.ended;
  expect(box.processes()).toEqual([]);
}, 60_000);
