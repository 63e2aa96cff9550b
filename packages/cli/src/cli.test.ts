import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Begun, begin as beginProgram, Commands } from './testing/program.ts';
import { until } from './testing/real-cli.ts';

const program = fileURLToPath(new URL('../bin/signalbox.js', import.meta.url));
const examples = fileURLToPath(new URL('./testing/', import.meta.url));

let postgres: TestPostgres;
let folder: string;
let databaseUrl: string;
let url = '';
let gateway = '';
const running: ChildProcess[] = [];

class Cli extends Commands {
  override begin(args: readonly string[], env: Record<string, string> = {}): Begun {
    const { SIGNALBOX_TOKEN: _, SIGNALBOX_ADMIN_TOKEN: __, ...rest } = process.env;
    const begun = beginProgram([process.execPath, program, ...args], {
      env: { ...rest, NODE_OPTIONS: '', SIGNALBOX_DATA: folder, SIGNALBOX_URL: url, SIGNALBOX_LOG: 'warn', ...env },
    });
    running.push(begun.child);
    return begun;
  }
}

const cli = new Cli();
const begin = cli.begin.bind(cli);
const signalbox = cli.run.bind(cli);
// oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it asks for
const json = (...args: string[]): Promise<any> => cli.json(...args);

beforeAll(async () => {
  postgres = await startTestPostgres();
  databaseUrl = await createDatabase(postgres);
  folder = await mkdtemp(join(tmpdir(), 'signalbox-cli-'));
  const args = [
    'server',
    '--http',
    '127.0.0.1:0',
    '--grpc',
    '127.0.0.1:0',
    '--services',
    '127.0.0.1:0',
    '--database',
    databaseUrl,
    '--json',
  ];
  const server = begin(args);
  await until(() => server.said.stdout.includes('\n'), 'the server');
  ({ url, grpcAddress: gateway } = JSON.parse(server.said.stdout));
  const worker = begin(['worker', '--handlers', join(examples, 'handlers.mjs'), '--gateway', gateway]);
  await until(() => worker.said.stdout.includes('is connected'), 'the worker');
});

afterAll(async () => {
  for (const child of running.reverse()) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  [
    ['runs', 'list', '--limit', 'many'],
    "option '--limit <count>' argument 'many' is invalid. Use a whole number above 0.",
  ],
  [['runs', 'list', '--nonsense'], "unknown option '--nonsense'"],
  [['runs', 'nonsense'], "unknown command 'nonsense' of runs"],
  [['runs', 'trigger'], "missing required argument 'dag'"],
])('with --json, what cannot be read of %j is told as JSON', async (words, message) => {
  const { exitCode, stderr, stdout } = await signalbox(...words, '--json');
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: null,
      message: expect.stringContaining(message),
      remedy: expect.stringMatching(/^Help: signalbox runs/),
    },
  });
});

test('the admin token lies in the data folder, for its owner only', async () => {
  expect((await stat(join(folder, 'admin.token'))).mode & 0o777).toBe(0o600);
});

test('an example is deployed, run, shown and listed', async () => {
  const file = join(examples, 'hello.json');
  expect(await json('deploy', file, '--dry-run')).toMatchObject({ dags: [{ name: 'hello', result: 'new' }] });
  expect(await json('deploy', file)).toEqual({
    dags: [{ name: 'hello', file, version: 1, result: 'new', warnings: [] }],
    problems: [],
  });
  expect(await json('deploy', file, '--dry-run')).toMatchObject({ dags: [{ result: 'unchanged', version: 1 }] });
  expect(await json('deploy', file)).toMatchObject({ dags: [{ result: 'unchanged', version: 1 }] });
  const run = await json('runs', 'trigger', 'hello', '--params', '{"name":"Ada"}', '--wait');
  expect(run).toMatchObject({ outcome: 'succeeded', params: { name: 'Ada' } });
  const shown = await signalbox('runs', 'show', run.id);
  expect(shown.stdout).toMatch(/shout +succeeded +1 +\d+ ms +"HELLO, ADA!"/);
  expect(shown.stdout).not.toContain('\u001b');
  const listed = await json('runs', 'list', '--dag', 'hello');
  expect(listed.items.map((item: { id: string }) => item.id)).toEqual([run.id]);
});

test('params of null are null, and what JSON would change is refused with the flag and the path', async () => {
  const { id } = await json('runs', 'trigger', 'hello', '--params', 'null');
  expect((await json('runs', 'show', id)).params).toBeNull();
  for (const [params, path] of [
    ['{"id":9007199254740993}', 'Id: the number 9007199254740993'],
    ['{"a":1,"a":2}', 'A: stands twice'],
  ] as const) {
    const { exitCode, stderr } = await signalbox('runs', 'trigger', 'hello', '--params', params);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--params');
    expect(stderr).toContain(path.slice(1));
  }
});

test('a run that fails is waited for with exit code 1, and says why', async () => {
  await json('deploy', join(examples, 'broken.json'));
  const { exitCode, stdout } = await signalbox('runs', 'trigger', 'broken', '--wait');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/stumble +failed +3 +\d+ ms +transient: Error: This example fails on purpose/);
  expect(stdout).toMatch(/never +upstream_failed/);
  const attempts = await signalbox('tasks', 'attempts', 'last', 'stumble');
  expect(attempts.stdout.match(/^\s*\d +transient /gm)).toHaveLength(3);
  // Without a rate card nothing has a price.
  expect((await json('tasks', 'attempts', 'last', 'stumble')).items[0]).toMatchObject({ attempt: 1, cost: null });
});

test('what failed for good is listed, shown, grouped, previewed, replayed and discarded', async () => {
  const { items } = await json('dead-letters', 'list', '--dag', 'broken');
  const [{ id, run, fingerprint }] = items;
  expect(items).toMatchObject([{ task: 'stumble', reason: 'retries', attempt: 3 }]);
  const shown = await signalbox('dead-letters', 'show', id);
  expect(shown.stdout).toContain(`task stumble of broken v1, run ${run}`);
  expect((await signalbox('dead-letters', 'groups')).stdout).toContain(fingerprint);
  const preview = await signalbox('dead-letters', 'replay', '--fingerprint', fingerprint, '--dry-run');
  expect(preview.stdout).toContain('broken: 1 would be replayed in 1 run\n');
  expect(preview.stdout).toMatch(new RegExp(`stumble +${run} .*This example fails on purpose`));
  const replayed = await signalbox('dead-letters', 'replay', '--dag', 'broken', '--latest');
  expect(replayed.stdout).toContain('broken: 1 replayed as 1 new run\n');
  const again = await signalbox('dead-letters', 'replay', id);
  expect([again.exitCode === 0, again.stderr.includes('no longer open')]).toEqual([false, true]);
  const which = await signalbox('dead-letters', 'discard');
  expect([which.exitCode === 0, which.stderr.includes('Nothing is selected.')]).toEqual([false, true]);
  const [{ newRun }] = (await json('dead-letters', 'list', '--dag', 'broken', '--state', 'replayed')).items;
  await signalbox('runs', 'watch', newRun);
  const discarded = await json('dead-letters', 'discard', '--dag', 'broken');
  expect(discarded).toMatchObject({ count: 1, remaining: 0 });
  expect((await signalbox('dead-letters')).stdout).toContain('no dead letters');
  expect((await signalbox('breakers')).stdout).toContain('no open breakers');
});

test('a key gives the same run again, and a run can be cancelled', async () => {
  const file = join(folder, 'waiting.json');
  await writeFile(file, JSON.stringify({ name: 'waiting', tasks: [{ name: 'a', handler: 'noop', queue: 'nobody' }] }));
  await json('deploy', file);
  const first = await json('runs', 'trigger', 'waiting', '--key', 'k1');
  expect(await json('runs', 'trigger', 'waiting', '--key', 'k1')).toEqual(first);
  expect((await signalbox('runs', 'cancel', first.id)).stdout).toContain('cancelled');
  expect(await json('runs', 'show', first.id)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
});

test('the priority of runs is changed, one by one and by a filter', async () => {
  const file = join(folder, 'waits.json');
  await writeFile(file, JSON.stringify({ name: 'waits', tasks: [{ name: 'a', handler: 'noop', queue: 'nobody' }] }));
  await json('deploy', file);
  const { id } = await json('runs', 'trigger', 'waits');
  expect((await signalbox('runs', 'set-priority', id, '--to', 'high')).stdout).toBe(
    `run ${id} went from normal to high\n`,
  );
  const many = ['runs', 'set-priority', '--dag', 'waits', '--priority', 'high', '--to', 'low'];
  expect((await signalbox(...many, '--dry-run')).stdout).toBe(`run ${id} of waits (high)\n1 run would be low\n`);
  expect((await signalbox(...many, '--yes')).stdout).toBe('1 run set to low\n');
  expect(await json('runs', 'show', id)).toMatchObject({ priority: 'low' });
  expect((await signalbox('runs', 'set-priority', id)).exitCode).toBe(2);
});

test('runs are cancelled by a filter, after a look at them', async () => {
  const file = join(folder, 'many.json');
  const tasks = [{ name: 'a', handler: 'noop', queue: 'nobody' }];
  await writeFile(file, JSON.stringify({ name: 'many', maxActiveRuns: 1, tasks }));
  await json('deploy', file);
  const ids = [];
  for (let i = 0; i < 3; i++) ids.push((await json('runs', 'trigger', 'many')).id);
  const queued = ['runs', 'cancel', '--dag', 'many', '--state', 'queued'];
  expect((await signalbox(...queued, '--dry-run')).stdout).toBe(
    `run ${ids[2]} of many (queued)\nrun ${ids[1]} of many (queued)\n2 runs would be cancelled\n`,
  );
  expect((await signalbox(...queued)).stderr).toContain('Pass --yes');
  expect((await signalbox(...queued, '--yes')).stdout).toBe('2 runs were cancelled\n');
  expect(await json('runs', 'cancel', '--dag', 'many', '--yes')).toMatchObject({ items: [{ run: ids[0] }] });
  expect((await signalbox('runs', 'cancel', ids[0], '--dag', 'many')).exitCode).toBe(2);
  expect((await signalbox('runs', 'cancel')).exitCode).toBe(2);
});

test('tasks are marked, cleared after a look, and paused; a run is made again', async () => {
  const { id } = await json('runs', 'trigger', 'waiting');
  expect((await signalbox('tasks', 'pause', id, 'a')).stdout).toContain('task a is paused');
  expect((await signalbox('runs', 'pause', id)).stdout).toContain('is paused');
  expect(await json('runs', 'show', id)).toMatchObject({ paused: { until: null }, tasks: [{ paused: {} }] });
  await signalbox('runs', 'resume', id);
  await signalbox('tasks', 'resume', id, 'a');
  const marked = await signalbox(
    'tasks',
    'mark',
    id,
    'succeeded',
    'a',
    '--output',
    '{"rows":3}',
    '--reason',
    'by hand',
  );
  expect(marked.stdout).toMatch(/a {2}ready → succeeded {2}marked/);
  expect(await json('runs', 'show', id)).toMatchObject({
    outcome: 'succeeded',
    tasks: [{ output: { rows: 3 }, reason: 'by hand' }],
  });
  const dry = await signalbox('runs', 'clear', id, 'a', '--dry-run');
  expect(dry.stdout).toContain(`run ${id} would open again`);
  expect(await json('runs', 'show', id)).toMatchObject({ state: 'ended' });
  expect(await json('runs', 'clear', id, '--state', 'succeeded')).toMatchObject({ reopened: true, count: 1 });
  expect(await json('tasks', 'cancel', id, 'a')).toMatchObject({ tasks: [{ after: 'cancelled' }] });
  expect((await signalbox('runs', 'clear', id)).stderr).toContain('Nothing is selected.');
  const again = await json('runs', 'rerun', id, '--latest');
  expect(again).toMatchObject({ rerunOf: id });
  await json('runs', 'cancel', again.id, '--grace', '5s');
});

test('who stops waiting is told that the run goes on, and how to follow it', async () => {
  const { id } = await json('runs', 'trigger', 'waiting');
  const late = await signalbox('runs', 'watch', id, '--timeout', '300ms');
  expect([late.exitCode, late.stdout]).toEqual([124, expect.stringContaining(`runs watch ${id}`)]);
  expect((await signalbox('runs', 'watch', id, '--timeout', '50ms', '--json')).exitCode).toBe(124);
  const waiting = begin(['runs', 'watch', 'last']);
  await until(() => waiting.said.stdout.includes(id), 'the run');
  waiting.child.kill('SIGINT');
  const { exitCode, stdout } = await waiting.ended;
  expect([exitCode, stdout]).toEqual([130, expect.stringContaining(`The run continues.`)]);
  expect(stdout).toContain(`runs cancel ${id}`);
  expect(await json('runs', 'show', id)).toMatchObject({ state: 'open' });
  await json('runs', 'cancel', id);
});

test('what happens is followed, a JSON value a line, until one stops', async () => {
  const following = begin(['events', '--follow', '--dag', 'waiting', '--json']);
  // The stream has begun when the first event that is sent again and again has come.
  for (let i = 0; i < 100 && !following.said.stdout.includes('run.ended'); i++) {
    const { id } = await json('runs', 'trigger', 'waiting');
    await json('runs', 'cancel', id);
  }
  following.child.kill('SIGINT');
  const { exitCode, stdout } = await following.ended;
  expect(exitCode).toBe(130);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(events.map(({ dag }) => dag))).toEqual(new Set(['waiting']));
  const { items } = await json('events', '--dag', 'waiting', '--kind', 'run.ended', '--limit', '5');
  expect(items.length).toBeGreaterThan(0);
});

test('tokens are made, shown once, used, listed and revoked', async () => {
  const made = await signalbox('tokens', 'create', 'reader', '--role', 'viewer', '--expires', '1h');
  const token = made.stdout.trim();
  expect(token).toMatch(/^\S{20,}$/); // nothing else on standard output: TOKEN=$(…)
  const asReader = (args: string[]) => begin(args, { SIGNALBOX_TOKEN: token }).ended;
  expect((await asReader(['dags'])).exitCode).toBe(0);
  expect((await asReader(['runs', 'trigger', 'hello'])).exitCode).toBe(4);
  const listed = await signalbox('tokens');
  expect(listed.stdout).toMatch(/reader +viewer/);
  expect(listed.stdout).not.toContain(token);
  expect((await signalbox('tokens', 'revoke', 'reader')).exitCode).toBe(0);
  expect((await signalbox('login')).stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login\?code=\S+\n$/);
});

test('servers and workers are listed, with their versions', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect((await signalbox('nodes')).stdout).toMatch(new RegExp(` ${version} +64 +serving`));
  expect((await signalbox('workers')).stdout).toMatch(new RegExp(`0 of 10 +default +.*cpu.* +${version} +working`));
});

test('a dag is shown, listed, deleted and gone', async () => {
  expect((await signalbox('dags', 'show', 'waiting')).stdout).toMatch(/a +handler noop/);
  expect((await signalbox('dags', 'versions', 'waiting')).stdout).toMatch(/1 current/);
  expect((await signalbox('dags')).stdout).toContain('waiting');
  expect((await signalbox('dags', 'delete', 'waiting', '--yes')).exitCode).toBe(0);
  expect((await signalbox('dags')).stdout).not.toContain('waiting');
  expect((await signalbox('runs', 'trigger', 'waiting')).exitCode).toBe(4);
});

test('a worker that is drained finishes and leaves, and that is waited for', async () => {
  const worker = begin(['worker', '--gateway', gateway, '--queues', 'spare=3,rest', '--name', 'spare-one']);
  await until(() => worker.said.stdout.includes('is connected'), 'the worker');
  expect((await signalbox('workers')).stdout).toContain('spare=3, rest=1');
  expect((await signalbox('workers', 'drain', 'spare-one', '--timeout', '20s')).stdout).toContain('has left');
  expect((await worker.ended).exitCode).toBe(0);
  expect((await signalbox('workers', 'drain', 'spare-one')).exitCode).toBe(4);
});

test.each([
  [['runs', 'trigger', 'nothing'], 4, 'Dag nothing does not exist', 'deploy the dag first'],
  [['runs', 'show', 'x'], 4, 'Run x does not exist', 'Check the id'],
  [['runs', 'trigger', 'hello', '--params', '{'], 2, 'This is not JSON', 'Quote it'],
  [['runs', 'list', '--state', 'asleep'], 2, "'asleep' is invalid", 'Use one of queued, open'],
  [['runs', 'list', '--limit', '0'], 2, 'whole number', 'runs list --help'],
  [['runs', 'list', '--cursor', '?'], 4, '--cursor is not a cursor from a page', 'Fix what'],
  [['deploy', '/nowhere.json'], 2, 'does not exist', 'Pass the path'],
  [['validate'], 2, 'dags does not exist', 'signalbox init'],
  [['worker', '--queues', 'a=0'], 1, '--queues has "a=0"', 'high=4,default=4,batch=2'],
  [['worker', '--queues', 'a=2,a=3'], 1, '--queues names "a" twice', 'one weight'],
  [['worker', '--handlers', '/nowhere.mjs'], 1, 'could not be loaded', 'Pass a JavaScript module'],
  [['worker', '--ca', '/nowhere.pem'], 1, '/nowhere.pem cannot be read', 'PEM file'],
  [['runs', 'list', '--data', '/nowhere'], 4, 'No token found', 'SIGNALBOX_TOKEN'],
  [['runs', 'list', '--url', 'box-1'], 2, '"box-1" is not a valid server URL', 'http://127.0.0.1:4500'],
  [['runs', 'list', '--url', 'http://127.0.0.1:2'], 3, 'No server answers at 127.0.0.1:2', 'npx signalbox start'],
  [['dags', 'delete', 'hello'], 2, 'Standard input is not a terminal', '--yes'],
  [['completion', 'tcsh'], 2, 'Shell "tcsh" is not supported', 'bash, zsh, fish'],
  [['runs', 'triger', 'hello'], 2, "unknown command 'triger' of runs: there are trigger, watch", 'runs --help'],
  [['nonsense'], 2, "unknown command 'nonsense'", 'signalbox --help'],
])('%j fails with exit code %i, a sentence and what to do', async (args, code, message, remedy) => {
  const { exitCode, stderr, stdout } = await signalbox(...args);
  expect([exitCode, stdout]).toEqual([code, '']);
  expect(stderr).toContain(message);
  expect(stderr).toContain(remedy);
  expect(stderr).not.toMatch(/^ +at /m);
});

test('a wrong token is told as such; errors are JSON for programs', async () => {
  const { exitCode, stderr } = await begin(['runs', 'list', '--json'], { SIGNALBOX_TOKEN: 'wrong' }).ended;
  expect(exitCode).toBe(4);
  expect(JSON.parse(stderr).error).toMatchObject({
    code: 'UNAUTHENTICATED',
    remedy: expect.stringContaining('admin.token'),
  });
});

test('bad settings of a server are refused before anything is started', async () => {
  const { exitCode, stderr } = await signalbox('server', '--http', '0.0.0.0:4500', '--database', databaseUrl);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('without TLS')]);
});

test('a worker that is told to stop finishes what it has (I27)', async () => {
  const handlers = join(folder, 'slow.mjs');
  await writeFile(
    handlers,
    `export const slow = () => { console.log('begun'); return new Promise((done) => setTimeout(() => done('whole'), 700)); };`,
  );
  const file = join(folder, 'slow.json');
  await writeFile(file, JSON.stringify({ name: 'slow', tasks: [{ name: 'a', handler: 'slow', queue: 'slow' }] }));
  await json('deploy', file);
  const worker = begin(['worker', '--handlers', handlers, '--gateway', gateway, '--queues', 'slow']);
  const { id } = await json('runs', 'trigger', 'slow');
  await until(() => worker.said.stdout.includes('begun'), 'the attempt');
  worker.child.kill('SIGTERM');
  expect((await worker.ended).exitCode).toBe(0);
  const run = await json('runs', 'show', id);
  expect(run.tasks[0]).toMatchObject({ state: 'succeeded', attempt: 1, output: 'whole' });
});

test('start brings all that is needed, and takes it away again', async () => {
  await chmod(folder, 0o755); // as root PostgreSQL runs under another account, which must get there
  const data = join(folder, 'start');
  const env = { SIGNALBOX_DATA: data, DATABASE_URL: '' };
  const all = begin(
    ['start', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--services', '127.0.0.1:0', '--json'],
    env,
  );
  await until(() => all.said.stdout.includes('\n') || all.child.exitCode !== null, 'the start');
  expect(all.said.stderr).toBe('');
  const started = JSON.parse(all.said.stdout);
  const args = ['runs', 'trigger', 'hello', '--wait', '--json', '--url', started.url];
  expect(JSON.parse((await begin(args, env).ended).stdout)).toMatchObject({ dag: 'hello', outcome: 'succeeded' });
  expect(await stat(join(data, 'pg18', 'postmaster.pid'))).toBeDefined();
  all.child.kill('SIGTERM');
  expect((await all.ended).exitCode).toBe(0);
  await expect(stat(join(data, 'pg18', 'postmaster.pid'))).rejects.toThrow('ENOENT');
}, 90_000);

test('files are checked without a server, with the place of each problem and what to do', async () => {
  const dags = join(folder, 'dags');
  await mkdir(dags);
  await writeFile(join(dags, 'good.yaml'), 'name: good\ntasks:\n  - { name: a, run: echo }\n');
  const good = await begin(['validate', dags], { SIGNALBOX_URL: 'http://127.0.0.1:2' }).ended;
  expect([good.exitCode, good.stdout]).toEqual([0, expect.stringMatching(/^ok good \(1 task\)/)]);
  const bad = join(dags, 'bad.yaml');
  await writeFile(bad, 'name: bad\ntasks:\n  - { name: a, run: echo, needs: [b] }\n');
  const seen = await signalbox('validate', dags, '--json');
  expect(seen.exitCode).toBe(1);
  expect(JSON.parse(seen.stdout)).toMatchObject({
    dags: [{ name: 'good', tasks: 1 }],
    problems: [{ file: bad, line: 3, message: expect.stringContaining('no task b') }],
  });
  expect((await signalbox('validate', bad)).stdout).toContain(`${bad}:3:`);
  // One broken file does not stop the others.
  const deployed = await signalbox('deploy', dags);
  expect([deployed.exitCode, deployed.stdout]).toEqual([1, expect.stringContaining('good is new: version 1')]);
});

test.each([[[]], [['--yaml']]])(
  'init %j writes a dag that is well-formed, and never over one that is there',
  async (flags) => {
    const into = join(folder, `first${flags.length}`);
    const { written } = await json('init', into, '--name', 'first', ...flags);
    expect(written.length).toBeGreaterThan(0);
    expect(await json('validate', into)).toMatchObject({ dags: [{ name: 'first', tasks: 2 }], problems: [] });
    await writeFile(written[0], 'mine');
    expect(await json('init', into, '--name', 'first', ...flags)).toMatchObject({ written: [] });
    expect(await readFile(written[0], 'utf8')).toBe('mine');
  },
);

test('init in a clone of Signalbox makes a project of its own: its "npm test" tests the dag, not Signalbox', async () => {
  const into = await mkdtemp(fileURLToPath(new URL('../../../node_modules/.init-', import.meta.url)));
  try {
    const { written } = await json('init', into);
    expect(written).toEqual(expect.arrayContaining([join(into, 'package.json'), join(into, 'tsconfig.json')]));
  } finally {
    await rm(into, { recursive: true });
  }
});

test('a server without TLS that is called with https:// is no riddle', async () => {
  const { exitCode, stderr } = await signalbox('dags', '--url', url.replace('http:', 'https:'));
  expect(exitCode).toBe(3);
  expect(stderr).toContain('not like a Signalbox server');
  expect(stderr).toContain('http:// for one without');
});

test('a server that is well is found so by doctor', async () => {
  const { checks } = await json('doctor', '--database', databaseUrl);
  const byCheck = Object.fromEntries(checks.map(({ check, status }: Record<string, string>) => [check, status]));
  expect(byCheck).toMatchObject({ database: 'ok', migrations: 'ok', server: 'ok', workers: 'ok', 'token file': 'ok' });
});

test('help comes quickly and knows every command', async () => {
  const { exitCode, stdout } = await signalbox('--help');
  expect(exitCode).toBe(0);
  for (const command of ['start', 'server', 'worker', 'deploy', 'runs']) expect(stdout).toContain(command);
});

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

test('a run is triggered for a window, and found the next time; a dry run of a backfill knows it', async () => {
  const file = join(folder, 'nightly.json');
  const tasks = [{ name: 'only', handler: 'greet' }];
  await writeFile(file, JSON.stringify({ name: 'nightly', schedule: { cron: '0 0 * * *' }, tasks }));
  await json('deploy', file);
  const range = ['backfill', 'nightly', '--from', day(4), '--to', day(1)];
  const { id } = await json('runs', 'trigger', 'nightly', '--window', day(2), '--wait');
  expect(await json('runs', 'trigger', 'nightly', '--window', day(2))).toEqual({ id, repeated: true });
  const shown = await signalbox(...range, '--dry-run');
  expect(shown.stdout).toContain(`${day(4)}T00:00:00.000Z  create a run`);
  expect(shown.stdout).toContain('4 windows, 3 runs to create. Nothing was created.');
});

test('schedules are imported from a file; lines that are refused are named by their number in it', async () => {
  await json('deploy', join(examples, 'hello.json'));
  const file = join(folder, 'schedules.ndjson');
  const line = (name: string, cron: string) => JSON.stringify({ dag: 'hello', name, cron });
  await writeFile(file, [line('a', '0 3 * * *'), '', line('b', '0 4 * * *'), ''].join('\n'));
  expect(await json('schedules', 'import', file)).toEqual({ created: 2, refused: 0, errors: [] });
  await writeFile(
    file,
    ['', line('a', '0 3 * * *'), JSON.stringify({ dag: 'none', name: 'c', cron: '@daily' })].join('\n'),
  );
  const refused = await signalbox('schedules', 'import', file);
  expect(refused.exitCode).toBe(1);
  expect(refused.stdout).toContain('1 schedule is there\nline 3: ');
  expect(refused.stderr).toContain('1 schedule was refused.');
  await writeFile(file, 'dag: hello');
  expect(await signalbox('schedules', 'import', file)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Line 1 is not JSON'),
  });
});

test('a backfill is started, followed to its end, and listed with its runs', async () => {
  const range = ['backfill', 'nightly', '--from', day(4), '--to', day(1)];
  const done = await json(...range, '--max-active', '2', '--backwards', '--share', '10%', '--wait');
  expect(done).toMatchObject({ state: 'ended', created: 3, skipped: 1, order: 'backward', maxActive: 2, share: 0.1 });
  expect((await json('runs', 'list', '--backfill', done.id)).items).toHaveLength(3);
  expect((await json('backfills', '--dag', 'nightly')).items).toMatchObject([{ id: done.id, windows: 4 }]);
  expect((await signalbox('backfills', 'show', done.id)).stdout).toContain('100 % 4/4 windows, 0 running, 3 succeeded');
  expect(await signalbox('backfills', 'pause', done.id)).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining(`Backfill ${done.id} is over: ended.`),
  });
});

test.each([
  [['backfill', 'nightly'], 'Pass --from'],
  [['backfill', 'nightly', '--from', 'yesterday'], '--from is "yesterday"'],
  [['backfill', 'nightly', '--from', '2027-01-01', '--all', '--failed'], 'exclude each other'],
  [['runs', 'trigger', 'nightly', '--schedule', 'eu'], '--schedule goes with --window'],
])('%j is refused with what to pass', async (args, message) => {
  const { exitCode, stderr } = await signalbox(...args);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('old words of schedules are accepted with a warning, wherever they are written', async () => {
  const file = join(folder, 'old-words.yaml');
  const text = 'name: old-words\nschedule: { cron: "0 0 1 1 *", missed: latest }\ntasks: [{ name: a, run: echo }]\n';
  await writeFile(file, text);
  const expected = 'warning: old-words: schedule.missed: latest is an old word. Write most_recent';
  expect((await signalbox('validate', file)).stdout).toContain(expected);
  expect((await signalbox('deploy', file, '--dry-run')).stderr).toContain(expected);
  const deployed = await signalbox('deploy', file);
  expect([deployed.exitCode, deployed.stderr]).toEqual([0, expect.stringContaining(expected)]);
  expect((await json('deploy', file)).dags).toMatchObject([{ warnings: [expect.stringContaining('most_recent')] }]);
  const args = ['schedules', 'create', 'old-words', 'more', '--cron', '0 0 2 1 *', '--missed'];
  expect((await signalbox(...args, 'all')).stderr).toContain('warning: missed: all is an old word. Write catchup');
  const edited = await signalbox('schedules', 'edit', 'old-words', 'more', '--cron', '0 0 3 1 *', '--missed', 'skip');
  expect([edited.exitCode, edited.stderr]).toEqual([0, '']);
});

test('an edit of a schedule says which settings it has reset', async () => {
  await writeFile(join(folder, 'edited.yaml'), 'name: edited\ntasks: [{ name: a, run: echo }]\n');
  await signalbox('deploy', join(folder, 'edited.yaml'));
  const of = ['edited', 'yearly'];
  const settings = ['--tz', 'Europe/Berlin', '--priority', 'high', '--params', '{"no":1}'];
  await signalbox('schedules', 'create', ...of, '--cron', '0 0 2 1 *', ...settings);
  const edited = await signalbox('schedules', 'edit', ...of, '--cron', '0 0 3 1 *', '--tz', 'Europe/Berlin');
  expect(edited.stderr).toContain(
    'warning: not named, so these have their defaults again: params (was {"no":1}), priority (was "high")',
  );
  expect((await signalbox('schedules', 'edit', ...of, '--every', '1d', '--tz', 'Europe/Berlin')).stderr).toBe('');
});

test('an event that no trigger takes, and a webhook without a trigger, say so', async () => {
  const file = join(folder, 'large-orders.yaml');
  const on = 'on: { type: order.paid, where: event.data.total > 100 }';
  await writeFile(file, `name: large-orders\n${on}\ntasks: [{ name: a, run: echo }]\n`);
  await signalbox('deploy', file);
  const sent = await signalbox('events', 'send', 'order.paid', '--payload', '{"total":5}');
  expect(sent.stdout).toBe(
    'large-orders does not take it by its trigger order.paid: The condition event.data.total > 100 does not hold.\n',
  );
  expect((await signalbox('events', 'send', 'order.lost')).stdout).toContain('none has a trigger for it');
  expect((await signalbox('webhooks', 'create', 'large-orders', '--scheme', 'github')).stderr).toContain(
    'warning: no trigger of large-orders takes its calls: deploy one, such as "on: { type: webhook.github.push }"',
  );
  await writeFile(file, 'name: large-orders\non: { type: webhook.* }\ntasks: [{ name: a, run: echo }]\n');
  await signalbox('deploy', file);
  expect((await signalbox('webhooks', 'create', 'large-orders', '--scheme', 'stripe')).stderr).not.toContain('warning');
});

test('next times in UTC have one column', async () => {
  const args = ['next', '0 2 * * *', '--count', '1', '--from', '2027-01-01T00:00:00Z'];
  expect((await signalbox(...args)).stdout.split('\n').map((line) => line.trim())).toEqual([
    expect.stringMatching(/^UTC +note$/),
    '2027-01-01T02:00:00Z',
    '',
  ]);
  expect((await signalbox(...args, '--tz', 'Europe/Berlin')).stdout).toMatch(/^Europe\/Berlin +UTC +note\n/);
});

test('the jitter of the cluster is shown and changed', async () => {
  expect((await signalbox('settings')).stdout).toBe('Schedules that name no jitter fire on time.\n');
  expect(await json('settings', 'set', '--jitter', '1500ms')).toEqual({ jitterMs: 1_500 });
  expect((await signalbox('settings')).stdout).toContain('up to 1.5 s late');
  expect((await signalbox('settings', 'set')).exitCode).toBe(2);
});

test('dags, queues and workers are frozen and thawed, and that is listed with its reason', async () => {
  expect((await signalbox('freezes')).stdout).toBe('nothing is frozen\n');
  expect((await signalbox('freeze', 'queue:gpu', '--reason', 'a move')).stdout).toContain('queue:gpu is frozen');
  expect((await signalbox('freezes')).stdout).toMatch(/queue:gpu +20\S+Z +token:\S+ +a move/);
  expect((await signalbox('thaw', 'queue:gpu')).stdout).toContain('queue:gpu is thawed');
  expect((await signalbox('thaw', 'queue:gpu')).stderr).toContain('queue:gpu is not frozen.');
  const [worker] = (await json('workers')).items;
  expect((await signalbox('workers', 'cordon', worker.name)).stdout).toContain('takes no new tasks');
  expect(await json('freezes')).toMatchObject({ items: [{ target: `worker:${worker.id}` }] });
  expect((await signalbox('workers', 'uncordon', worker.id)).stdout).toContain('takes tasks again');
});

test('all tasks of a dag are paused and resumed, with its schedules where it has some', async () => {
  const file = join(folder, 'held.yaml');
  await writeFile(file, 'name: held\nschedule: { cron: "0 0 1 1 *" }\ntasks: [{ name: a, run: echo, queue: held }]\n');
  await signalbox('deploy', file);
  const paused = (await signalbox('dags', 'pause', 'held', '--tasks', '--reason', 'bad data')).stdout;
  expect(paused).toContain('tasks of held and its schedules are paused');
  expect(await json('freezes')).toMatchObject({ items: [{ target: 'dag:held', reason: 'bad data' }] });
  await signalbox('runs', 'trigger', 'held');
  expect(await json('why', 'last')).toMatchObject({ code: 'frozen' });
  expect(await json('dags', 'show', 'held')).toMatchObject({ schedule: { paused: true } });
  expect((await signalbox('dags', 'resume', 'held', '--tasks')).stdout).toBe('tasks of held and its schedules go on\n');
  expect(await json('freezes')).toMatchObject({ items: [] });
  expect(await json('dags', 'resume', 'held', '--tasks')).toMatchObject({ paused: false, thawed: false });
});

test('what holds back work is listed, with what would help', async () => {
  const file = join(folder, 'blocked.yaml');
  await writeFile(file, 'name: blocked\ntasks: [{ name: a, run: echo, queue: unserved }]\n');
  await signalbox('deploy', file);
  await signalbox('runs', 'trigger', 'blocked');
  expect((await signalbox('blockers')).stdout).toContain('No worker serves queue "unserved".');
  const why = (await signalbox('why', 'last')).stdout;
  expect(why).toMatch(/^task a of run \S+ \(blocked\) is ready\nNo worker serves queue "unserved"\.\n/);
  expect(why).toContain('What helps: Start a worker for the queue: signalbox worker --queues unserved');
  expect(await json('why', 'last', 'a')).toMatchObject({ code: 'no_worker', ahead: 0 });
  const { items } = await json('blockers');
  expect(items).toContainEqual(expect.objectContaining({ code: 'no_worker', subject: 'queue:unserved', count: 1 }));
});

test('limits over several dags are set, listed, shown with who has their slots, and removed', async () => {
  expect(await json('limits', 'set', 'pool:database', '5')).toMatchObject({ name: 'pool:database', slots: 5 });
  expect((await signalbox('limits')).stdout).toMatch(/pool:database +5 +0 +token:\S+ +20\S+Z/);
  const shown = (await signalbox('limits', 'show', 'pool:database')).stdout;
  expect(shown).toContain('limit pool:database: 5 slots\nin use: 0, waited for: 0\n');
  expect((await signalbox('limits', 'set', 'pool:database', '0')).stdout).toContain('warning: It has no slots');
  expect((await signalbox('limits', 'set', 'pool:database', 'many')).exitCode).toBe(2);
  expect((await signalbox('limits', 'remove', 'pool:database')).stdout).toBe('limit pool:database is removed\n');
  expect((await signalbox('limits', 'show', 'pool:database')).stderr).toContain('Limit pool:database is not set.');
});

test('a dag runs by an asset, which is listed, shown and declared fresh', async () => {
  const file = join(folder, 'assets.yaml');
  await writeFile(file, 'name: by-asset\non: { assets: { any: [lake] } }\ntasks: [{ name: a, run: echo }]\n');
  await signalbox('deploy', file);
  expect(await json('assets', 'show', 'lake')).toMatchObject({ count: 0, consumers: [{ dag: 'by-asset' }] });
  expect((await signalbox('assets', 'materialize', 'lake')).stdout).toContain('by-asset: when any of lake');
  expect((await signalbox('assets')).stdout).toMatch(/lake +20\S+Z +token:\S+ +by-asset/);
  expect((await signalbox('dags', 'list')).stdout).toMatch(/^by-asset .* any of the assets lake /m);
  const runs = async () => (await json('runs', 'list', '--dag', 'by-asset')).items as { id: string }[];
  let [run] = await runs();
  for (let looks = 0; looks < 30 && run === undefined; looks++) [run] = await runs();
  expect((await signalbox('runs', 'show', run?.id ?? '')).stdout).toContain('asset lake was declared fresh');
});
