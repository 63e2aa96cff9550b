/** What new users stumbled over, each as they met it: at the prompt, with a real server. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, RealCli } from './testing/real-cli.ts';

let cli: RealCli;
beforeAll(async () => {
  cli = await RealCli.start();
  await cli.deploy({
    name: 'greet',
    params: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', description: 'who is greeted' }, times: { type: 'integer', default: 1 } },
    },
    tasks: [
      { name: 'say', run: 'echo "said=$INPUT_name" > "$SIGNALBOX_OUTPUT"', inputs: { name: '${{ params.name }}' } },
    ],
  });
  await cli.deploy({ name: 'idle', tasks: [{ name: 'wait', handler: 'noop', queue: 'gpu' }] });
}, 60_000);
afterAll(() => cli.stop());

interface Run {
  readonly id: string;
  readonly why: { readonly code: string; readonly message: string } | null;
  readonly params: unknown;
  readonly tasks: readonly {
    readonly name: string;
    readonly output: unknown;
    readonly why: { readonly code: string } | null;
  }[];
}

describe('params', () => {
  test('come from a file, from standard input, or from the word itself', async () => {
    const file = join(cli.folder, 'order.json');
    await writeFile(file, '{"name":"Ada"}\n');
    const fromFile = await cli.json<Run>('runs', 'trigger', 'greet', '--params', `@${file}`, '--wait');
    expect(fromFile).toMatchObject({ params: { name: 'Ada', times: 1 }, tasks: [{ output: { said: 'Ada' } }] });
    const piped = cli.begin(['runs', 'trigger', 'greet', '--params', '-', '--wait', '--json'], {
      stdin: '{"name":"Bob"}',
    });
    expect(JSON.parse((await piped.ended).stdout)).toMatchObject({ params: { name: 'Bob' } });
  });

  test.each([
    ['@nowhere.json', 'The file nowhere.json does not exist.'],
    ['@', 'Add a file name after the @'],
    ['@.', 'cannot be read (EISDIR)'],
    ['{', 'use a file: @params.json'],
  ])('%j is refused before anything is sent', async (word, message) => {
    const { exitCode, stderr } = await cli.run('runs', 'trigger', 'greet', '--params', word);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('a file that is no JSON is named', async () => {
    await writeFile(join(cli.folder, 'bad.json'), '{"a":');
    const { exitCode, stderr } = await cli.run('runs', 'trigger', 'greet', '--params', '@bad.json');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('bad.json is not JSON')]);
  });

  test('that the dag does not take are told by their flag, and dags show says what it takes', async () => {
    const { exitCode, stderr } = await cli.run('runs', 'trigger', 'greet', '--params', '{"name":7}');
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('--params: name must be')]);
    expect(stderr).toContain('dags show');
    const { stdout } = await cli.run('dags', 'show', 'greet');
    expect(stdout).toMatch(/name +string +required +who is greeted/);
    expect(stdout).toMatch(/times +integer +1/);
  });
});

describe('errors speak the language of the prompt', () => {
  test('a task that runs is not touched without --force', async () => {
    await cli.deploy({ name: 'slow', tasks: [{ name: 'a', run: 'sleep 60' }] });
    const { id } = await cli.client.submit('slow');
    await eventually(async () => (await cli.client.getRun(id)).tasks[0]?.state === 'running');
    const { exitCode, stderr } = await cli.run('tasks', 'mark', id, 'succeeded', 'a');
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('add --force')]);
    expect(stderr).not.toMatch(/send|without force:/);
    await cli.client.cancelRun(id, { force: true });
  });

  test.each([
    [['runs', 'list', '--limit', '100000'], '--limit '],
    [['tokens', 'create', 'x', '--expires', '99999d'], '--expires '],
    [['runs', 'cancel', 'last', '--grace', '5h'], '--grace '],
    [['runs', 'list', '--dag', '../x'], '--dag '],
  ])('%j names the flag', async (args, flag) => {
    await cli.client.submit('greet', { params: { name: 'x' } });
    const { exitCode, stderr } = await cli.run(...args);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining(flag)]);
    expect(stderr).not.toMatch(/graceMs|expiresIn|"problems"/);
  });
});

describe('unknown names', () => {
  test.each([
    [['runs', 'trigger', 'gret'], 4, 'Did you mean greet?'],
    [['dags', 'show', 'Greet'], 4, 'Did you mean greet?'],
    [['runs', 'list', '--dag', 'gret'], 4, 'Did you mean greet?'],
    [['breakers', '--dag', 'gret'], 4, 'Did you mean greet?'],
    [['dead-letters', '--dag', 'gret'], 4, 'Did you mean greet?'],
    [['runs', 'trigger', 'greet', '--wiat'], 2, 'Did you mean --wait?'],
    [['runs', 'triger', 'greet'], 2, 'Did you mean trigger?'],
    [['run', 'trigger', 'greet'], 2, 'Did you mean runs?'],
  ])('%j has a suggestion', async (args, code, words) => {
    const { exitCode, stdout, stderr } = await cli.run(...args);
    expect([exitCode, stdout, stderr]).toEqual([code, '', expect.stringContaining(words)]);
  });

  test('of tasks too; one that is like nothing has none', async () => {
    const { id } = await cli.json<Run>('runs', 'trigger', 'greet', '--params', '{"name":"x"}', '--wait');
    expect((await cli.run('runs', 'retry', id, 'sya')).stderr).toContain('Did you mean say?');
    expect((await cli.run('logs', id, 'sai')).stderr).toContain('Did you mean say?');
    expect((await cli.run('dags', 'show', 'zzzzzz')).stderr).not.toContain('Did you mean');
  });
});

test('callbacks secret writes only the secret to standard output', async () => {
  const { stdout, stderr } = await cli.run('callbacks', 'secret');
  expect(stdout).toMatch(/^\S+\n$/);
  expect(stderr).toContain('HMAC-SHA256');
});

test('each attempt of a run that is waited for has its line, and a dead letter keeps the lines of its error', async () => {
  const run = 'echo "first line" >&2; echo "second line" >&2; exit 3';
  await cli.deploy({ name: 'stubborn', tasks: [{ name: 'a', run, retries: { maxAttempts: 3, baseMs: 1, maxMs: 5 } }] });
  const { exitCode, stdout } = await cli.run('runs', 'trigger', 'stubborn', '--wait');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/a attempt 1 ended: transient/);
  expect(stdout).toMatch(/a attempt 2 ended: transient/);
  expect(stdout).toMatch(/a failed attempt 3/);
  expect((await cli.run('runs', 'show', 'last')).stdout).toMatch(/\n2 +transient +\d+ ms +The process ended/);
  const { items } = await cli.json<{ items: { id: string }[] }>('dead-letters', 'list', '--dag', 'stubborn');
  const shown = await cli.run('dead-letters', 'show', items[0]?.id ?? '');
  expect(shown.stdout).toContain('\nfirst line\nsecond line\n');
});

test('a failed child is told with its error and how to see it', async () => {
  await cli.deploy({ name: 'inner', tasks: [{ name: 'deep', run: 'echo "disk is full" >&2; exit 9' }] });
  await cli.deploy({ name: 'outer', tasks: [{ name: 'call', dag: 'inner' }] });
  const { exitCode, stdout } = await cli.run('runs', 'trigger', 'outer', '--wait');
  expect(exitCode).toBe(1);
  const child = /runs show ([0-9a-f-]{36})/.exec(stdout)?.[1] ?? '';
  expect(stdout).toContain('task deep of inner failed: The process ended with exit code 9.');
  expect(stdout).toContain('disk is full');
  expect(await cli.json('runs', 'show', child)).toMatchObject({ dag: 'inner', outcome: 'failed' });
  const { items } = await cli.json<{ items: { id: string }[] }>('runs', 'list', '--dag', 'outer');
  expect((await cli.run('runs', 'show', items[0]?.id ?? '')).stdout).toContain(`runs show ${child}`);
});

test('breakers reset <dag> lets go every breaker of the dag', async () => {
  const breaker = { share: 0.5, minimum: 2, pause: '10m', maxPause: '10m' };
  const task = { name: 'a', run: 'exit 1', retries: { maxAttempts: 50, baseMs: 1, maxMs: 1 }, poison: false as const };
  await cli.deploy({ name: 'shaky', breaker, tasks: [task] });
  const { id } = await cli.client.submit('shaky');
  await eventually(async () => (await cli.client.getRun(id)).why?.code === 'breaker');
  const doctor = await cli.run('doctor');
  expect(doctor.stdout).toContain('breakers reset shaky');
  const { exitCode, stdout } = await cli.run('breakers', 'reset', 'shaky');
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('the breaker of shaky')]);
  await cli.client.cancelRun(id, { force: true });
  const none = await cli.run('breakers', 'reset', 'greet');
  expect([none.exitCode, none.stderr]).toEqual([4, expect.stringContaining('Dag greet has no open breaker.')]);
  expect((await cli.run('breakers', 'reset', 'gret')).stderr).toContain('Did you mean greet?');
});

describe('why', () => {
  test('a queue nobody listens to, a pause and a skipped task are told by show, watch and doctor', async () => {
    const { id } = await cli.client.submit('idle');
    expect(await cli.json('runs', 'show', id)).toMatchObject({
      why: { code: 'no_worker' },
      tasks: [{ why: { code: 'no_worker' } }],
    });
    const words = 'No worker serves queue "gpu".';
    expect((await cli.run('runs', 'show', id)).stdout).toContain(words);
    expect((await cli.run('runs', 'watch', id, '--timeout', '1s')).stdout).toContain(`wait ready: ${words}`);
    const doctor = await cli.run('doctor');
    expect(doctor.stdout).toContain(words);
    expect(doctor.stdout).toContain('worker --queues gpu');
    await cli.client.pauseRun(id);
    expect((await cli.run('runs', 'show', id)).stdout).toMatch(/The run is paused, by token:admin since 20/);
    await cli.client.cancelRun(id);
    await cli.deploy({ name: 'never', tasks: [{ name: 'a', run: 'true', when: '${{ params.x == 1 }}' }] });
    const skipped = await cli.json<Run>('runs', 'trigger', 'never', '--params', '{"x":2}', '--wait');
    expect(skipped.tasks[0]?.why).toMatchObject({ code: 'skipped' });
    expect((await cli.run('runs', 'show', skipped.id)).stdout).toMatch(/a +skipped +\S.*x == 1/);
  });

  test('the time of the next attempt', async () => {
    const task = {
      name: 'a',
      run: 'exit 1',
      retries: { maxAttempts: 3, minMs: 600_000, baseMs: 600_000, maxMs: 900_000 },
    };
    await cli.deploy({ name: 'later', tasks: [task] });
    const { id } = await cli.client.submit('later');
    await eventually(async () => (await cli.client.getRun(id)).why?.code === 'retry');
    expect((await cli.run('runs', 'show', id)).stdout).toContain('the next one starts at 20');
    await cli.client.cancelRun(id);
  });
});

test('a dag of the same name from another folder is deployed with a warning; from the same one without', async () => {
  const dag = (text: string) => JSON.stringify({ name: 'twin', tasks: [{ name: 'a', run: `echo ${text}` }] });
  for (const folder of ['one', 'two']) await mkdir(join(cli.folder, folder));
  await writeFile(join(cli.folder, 'one', 'twin.json'), dag('1'));
  await writeFile(join(cli.folder, 'two', 'twin.json'), dag('2'));
  expect((await cli.run('deploy', 'one')).stderr).toBe('');
  await writeFile(join(cli.folder, 'one', 'twin.json'), dag('1b'));
  expect((await cli.run('deploy', 'one')).stderr).toBe('');
  const { exitCode, stdout, stderr } = await cli.run('deploy', 'two');
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('twin is version 3')]);
  expect(stderr).toMatch(/warning: twin was deployed from \S+\/one\. You are deploying it from \S+\/two\./);
  expect((await cli.run('dags', 'show', 'twin')).stdout).toMatch(/from \S+\/two\n/);
});

test('the last run of a dag is its last run, however many runs others had since', async () => {
  await cli.deploy({ name: 'rare', tasks: [{ name: 'a', handler: 'noop' }] });
  const rare = await cli.client.submit('rare');
  await cli.client.waitForRun(rare.id);
  await cli.deploy({ name: 'busy', tasks: [{ name: 'a', handler: 'noop' }] });
  await cli.client.submitMany(
    'busy',
    Array.from({ length: 150 }, () => ({})),
  );
  const { items } = await cli.json<{ items: { name: string; lastRun: { id: string; outcome: string } | null }[] }>(
    'dags',
  );
  const last = new Map(items.map(({ name, lastRun }) => [name, lastRun]));
  expect(last.get('rare')).toMatchObject({ id: rare.id, outcome: 'succeeded' });
  expect(last.get('twin')).toBeNull();
});
