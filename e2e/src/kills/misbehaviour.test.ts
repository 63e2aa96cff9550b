/**
 * Tasks that run out of memory, hang, or kill their worker: how each is classified, what the user sees, and that the worker and
 * its other tasks go on. What is printed here is in docs/guides/user-code.md.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sandbox } from '../sandbox.ts';

const DAGS: Readonly<Record<string, string>> = {
  hungry: `name: hungry
tasks:
  - name: eat
    memory: 200MiB
    run: ["node", "-e", "const held = []; setInterval(() => held.push(Buffer.alloc(8e6, 1)), 5)"]
`,
  stuck: `name: stuck
tasks:
  - name: wait
    stuckAfter: 2s
    run: "echo '0.1 begun' > $SIGNALBOX_PROGRESS; sleep 600"
`,
  deadly: `name: deadly
tasks:
  - name: kill
    retries: { maxLost: 3 }
    run: "read -r _ _ _ worker _ < /proc/$PPID/stat; kill -9 $worker; sleep 600"
`,
  orphan: `name: orphan
tasks:
  - name: kill
    retries: { maxLost: 2 }
    run: "kill -9 $PPID; sleep 600"
`,
  quiet: `name: quiet
tasks:
  - name: work
    run: "sleep 3; echo 42 > $SIGNALBOX_OUTPUT"
`,
};

interface Run {
  readonly outcome: string;
  readonly tasks: readonly {
    readonly state: string;
    readonly outcome: string;
    readonly code: string | null;
    readonly error: string;
    readonly attempts: readonly { readonly outcome: string }[];
  }[];
}

let box: Sandbox;
beforeAll(async () => {
  box = await Sandbox.make({ name: 'whoever runs this', ids: null });
  for (const [name, text] of Object.entries(DAGS)) await writeFile(join(box.folder, 'dags', `${name}.yaml`), text);
  await box.start('--no-examples');
}, 120_000);
afterAll(() => box.remove());

async function trigger(dag: string): Promise<{ readonly run: Run; readonly shown: string }> {
  const { stdout, stderr } = await box.run('runs', 'trigger', dag, '--wait', '--timeout', '90s');
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(stdout + stderr)?.[0] ?? '';
  const run = await box.json<Run>('runs', 'show', id);
  const shown = (await box.run('runs', 'show', id)).stdout;
  if (process.env['SHOW'] !== undefined) console.log(shown);
  return { run, shown };
}

test('one that takes more memory than it may fails as resource, and another task of the worker goes on', async () => {
  const quiet = trigger('quiet');
  const { run, shown } = await trigger('hungry');
  expect(run.tasks[0]).toMatchObject({ state: 'failed', outcome: 'resource', code: 'memory' });
  expect(shown).toMatch(
    /eat +failed +1 .*resource: memory: The process used \d+ MiB of memory; the limit of the task is 200 MiB/,
  );
  expect((await quiet).run).toMatchObject({ outcome: 'succeeded' });
}, 120_000);

test('one that makes no progress fails as stuck, and another task of the worker goes on', async () => {
  const quiet = trigger('quiet');
  const { run, shown } = await trigger('stuck');
  expect(run.tasks[0]).toMatchObject({ state: 'failed', outcome: 'stuck' });
  expect(shown).toMatch(/wait +failed +1 .*stuck:progress: The attempt reported no progress/);
  expect((await quiet).run).toMatchObject({ outcome: 'succeeded' });
}, 120_000);

test('one that kills its parent ends no worker, and is given up as well (I28)', async () => {
  const { run, shown } = await trigger('orphan');
  expect(run.tasks[0]).toMatchObject({ state: 'failed', outcome: 'lost', code: 'lost:starter' });
  expect(run.tasks[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'lost']);
  expect(shown).toMatch(/kill +failed +2 .*lost:starter: The parent of the process/);
  expect((await trigger('quiet')).run).toMatchObject({ outcome: 'succeeded' });
}, 120_000);

test('one that kills its worker three times is given up, and the worker that comes after it goes on (I28)', async () => {
  const { run, shown } = await trigger('deadly');
  expect(run.tasks[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'lost', 'lost']);
  expect(run.tasks[0]).toMatchObject({ state: 'failed', outcome: 'lost' });
  expect(shown).toMatch(/kill +failed +3 .*lost:silent: The worker sent no heartbeat/);
  expect((await trigger('quiet')).run).toMatchObject({ outcome: 'succeeded' });
}, 180_000);
