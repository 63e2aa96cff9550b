/** A run keeps the version it started with, code included, whatever is deployed or deleted meanwhile (I35). */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFolder, deployCompiled } from '@signalbox/compiler';
import { type Client, createClient } from '@signalbox/sdk';
import { type Rig, startRig } from '@signalbox/server/testing';
import { openPostgresStore } from '@signalbox/store';
import { afterEach, beforeEach, expect, test } from 'vitest';

const RUNS = 200;

let rig: Rig;
let folder: string;
let client: Client;

beforeEach(async () => {
  rig = await startRig();
  folder = await mkdtemp(join(tmpdir(), 'signalbox-versions-'));
  client = createClient({ url: (rig.servers[0] as { url: string }).url, token: rig.token });
});

afterEach(async () => {
  await rig.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The first task waits at a gate, so that runs are under way for as long as we like. */
const source = (version: string, gate: string) => `
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { dag } from '@signalbox/sdk';
const version = () => '${version}';
export default dag('report', ({ task }) => {
  const first = task('first', async () => {
    while (!existsSync('${gate}')) await pause(20);
    return version();
  });
  task('second', { inputs: { before: first.output } }, ({ inputs }) => \`\${inputs.before} then \${version()}\`);
});`;

async function deployAll(): Promise<void> {
  const { dags, problems } = await compileFolder({ folder });
  expect(problems).toEqual([]);
  for (const outcome of await deployCompiled(client, dags)) expect(outcome).toMatchObject({ ok: true });
}

async function outputsOf(ids: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const run = await client.waitForRun(id, { timeoutMs: 120_000 });
    const said = `${run.version} ${run.outcome}: ${String(run.tasks.find(({ name }) => name === 'second')?.output)}`;
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  return counts;
}

test.each([
  ['a new version is deployed', false],
  ['the file is deleted, too, and the dag with it', true],
])(
  `${RUNS} runs under way finish on their own code when %s`,
  async (_, isDeleted) => {
    const gate = join(folder, 'gate');
    const file = join(folder, 'report.ts');
    await writeFile(file, source('one', gate));
    await deployAll();
    await rig.addWorker({}, { slots: 4, cacheFolder: join(folder, '.cache') });
    const { ids } = await client.submitMany('report', new Array(RUNS).fill({}));
    // Some of them hold a worker by now, the others wait for one.
    await expect
      .poll(async () => (await client.getRun(ids[0] as string)).tasks[0]?.state, { timeout: 30_000 })
      .toBe('running');

    await writeFile(file, source('two', gate));
    await deployAll();
    const { id: newer } = await client.submit('report');
    if (isDeleted) {
      await rm(file);
      await client.deleteDag('report');
      await expect(client.submit('report')).rejects.toMatchObject({ code: 'DAG_NOT_FOUND' });
    }
    await writeFile(gate, '');

    expect([...(await outputsOf(ids))]).toEqual([['1 succeeded: one then one', RUNS]]);
    expect([...(await outputsOf([newer]))]).toEqual([['2 succeeded: two then two', 1]]);
  },
  180_000,
);

test('a run keeps the scripts that it started with, and a changed script is a new version', async () => {
  const gate = join(folder, 'gate');
  const script = (word: string) => `#!/bin/sh\necho '"${word}"' > "$SIGNALBOX_OUTPUT"\n`;
  const definition = [
    'name: scripts',
    'files: [lib/]',
    'tasks:',
    '  - name: first',
    `    run: while ! test -e ${gate}; do sleep 0.02; done; ./lib/say.sh`,
    '  - name: second',
    '    run: sh -c "exec lib/say.sh"',
    '    needs: [first]',
  ].join('\n');
  await mkdir(join(folder, 'lib'));
  await writeFile(join(folder, 'scripts.yaml'), definition);
  await writeFile(join(folder, 'lib/say.sh'), script('one'), { mode: 0o755 });
  await deployAll();
  await rig.addWorker({}, { slots: 2, cacheFolder: join(folder, '.cache') });
  const { id: older } = await client.submit('scripts');
  await expect.poll(async () => (await client.getRun(older)).tasks[0]?.state, { timeout: 30_000 }).toBe('running');
  await deployAll();
  expect((await client.getDag('scripts')).version).toBe(1);
  await writeFile(join(folder, 'lib/say.sh'), script('two'));
  await deployAll();
  expect((await client.getDag('scripts')).version).toBe(2);
  // Upkeep leaves alone what a version names, however long ago it was sent.
  await rig.sql(`update bundle set touched_at = '2000-01-01'`);
  const store = await openPostgresStore({ url: rig.databaseUrl });
  expect(await store.dropUnusedBundles()).toMatchObject({ dropped: 0 });
  await store.close();
  const { id: newer } = await client.submit('scripts');
  await writeFile(gate, '');
  const outputs = async (id: string) =>
    (await client.waitForRun(id, { timeoutMs: 60_000 })).tasks.map(({ output }) => output);
  expect([await outputs(older), await outputs(newer)]).toEqual([
    ['one', 'one'],
    ['two', 'two'],
  ]);
}, 120_000);
