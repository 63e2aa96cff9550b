/** The README's quickstart, typed as it stands there: in an empty folder beside the clone, with a server running. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sandbox } from './sandbox.ts';

const CLONE = fileURLToPath(new URL('../..', import.meta.url));

interface Run {
  readonly dag: string;
  readonly outcome: string;
  readonly tasks: readonly { readonly name: string; readonly output: unknown }[];
}

let box: Sandbox;
beforeAll(async () => {
  box = await Sandbox.make({ name: 'whoever runs this', ids: null });
  await box.start();
  await symlink(CLONE, join(box.folder, 'signalbox'));
});
afterAll(() => box.remove());

/** What stands in blocks of shell below the heading. */
async function blocksOf(heading: string): Promise<string[]> {
  const text = await readFile(join(CLONE, 'README.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return Array.from(section.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, block]) => block ?? '');
}

async function type(script: string, cwd = join(box.folder, 'dags')): Promise<{ exitCode: number; said: string }> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd, // any empty folder beside the clone
    env: { PATH: process.env.PATH, HOME: box.folder, SIGNALBOX_DATA: box.data, SIGNALBOX_URL: box.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [exitCode] = (await once(shell, 'close')) as [number];
  return { exitCode, said };
}

test('the quickstart works as it is written, and its twins give the same', { timeout: 180_000 }, async () => {
  const blocks = await blocksOf('Quickstart');
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  const { exitCode, said } = await type(blocks.join('\n'));
  expect([exitCode, said]).toEqual([0, expect.stringContaining('fails on purpose')]);
  const results = [];
  for (const dag of ['coffee', 'coffee-yaml']) {
    const { items } = await box.json<{ items: { id: string }[] }>('runs', 'list', '--dag', dag);
    const { outcome, tasks } = await box.json<Run>('runs', 'show', items[0]?.id ?? '');
    results.push({ outcome, outputs: tasks.map(({ name, output }) => [name, output]) });
  }
  const expected = {
    outcome: 'succeeded',
    outputs: [
      ['grind', { grams: 32 }],
      ['brew', 'coffee of 32 g'],
    ],
  };
  expect(results).toEqual([expected, expected]);
});

test('tsc finds the SDK in the folder of the quickstart, and a wrong wire there', { timeout: 120_000 }, async () => {
  const folder = join(box.folder, 'typed');
  await mkdir(folder);
  const quickstart = await blocksOf('Quickstart');
  const [dag = ''] = /cat > coffee\.ts[\s\S]*?^END$/m.exec(quickstart.join('\n')) ?? [];
  const path = quickstart[0] ?? '';
  const { exitCode, said } = await type(`${path}\nsignalbox init --types\n${dag}\ntsc -p .`, folder);
  expect([exitCode, said]).toEqual([0, expect.stringContaining('tsconfig.json')]);
  const wrong = await type(`${path}\nsed -i 's/grind.output.grams/grind.output.litres/' coffee.ts && tsc -p .`, folder);
  expect([wrong.exitCode, wrong.said]).toEqual([1, expect.stringMatching(/coffee\.ts\(5,.*litres/)]);
});

test('the dag of the quickstart has fewer than 15 lines', async () => {
  const dag = /<<'END'\n(import [\s\S]*?)^END$/m.exec((await blocksOf('Quickstart')).join('\n'))?.[1] ?? '';
  expect(dag.split('\n').length).toBeGreaterThan(3);
  expect(dag.trimEnd().split('\n').length).toBeLessThan(15);
});
