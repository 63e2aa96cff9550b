import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionWork } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { type BodyRig, startBody, testFolder, workOf } from '../test-rig.ts';

const BUNDLE = `
let calls = 0;
const permanent = (message) => Object.assign(new Error(message), { [Symbol.for('signalbox.permanent')]: true });
export const functions = {
  seen: (c) => [c.tenant, c.dag, c.run, c.task, c.attempt, c.params, { ...c.upstream }, c.inputs, c.effectKey, c.fence, c.token, c.secret('KEY').length],
  pid: () => process.pid,
  where: () => [process.pid, ++calls],
  env: () => Object.keys(process.env).sort(),
  throws: () => { throw new Error('no luck'); },
  never: async () => { throw permanent('never'); },
  secretless: ({ secret }) => secret('OTHER'),
  prints: (c) => { console.log('out', c.params); console.error('err'); c.log.info('said', { n: c.params }); return c.params; },
  halfLine: () => { process.stdout.write('no line break'); },
  hot: (c) => { c.log.info('hot'); for (;;); },
  waits: (c) => new Promise((resolve) => c.signal.addEventListener('abort', () => { console.log('stopped: ' + c.signal.reason.reason); resolve('late'); })),
  burns: () => { const held = Buffer.alloc(60_000_000, 1); for (const end = performance.now() + 60; performance.now() < end;); return held.length; },
  exits: () => process.exit(3),
  throwsLater: () => new Promise(() => setTimeout(() => { throw new Error('nobody catches'); }, 1)),
  rejects: () => { Promise.reject(new Error('nobody handles')); return new Promise(() => {}); },
  kills: () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); },
  large: () => 'x'.repeat(50 * 1024 * 1024),
  forks: async () => {
    const { spawn } = await import('node:child_process');
    return spawn('setsid', ['sleep', '600'], { stdio: 'inherit' }).pid;
  },
  childPrints: async () => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('sh', ['-c', 'echo from below'], { stdio: 'inherit' });
  },
  printsMuch: () => { console.log(('x'.repeat(60) + '\\n').repeat(2999) + 'last'); },
  childPrintsMuch: async () => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('sh', ['-c', 'seq 1 20000'], { stdio: 'inherit' });
  },
  tells: (c) => { console.log('the key is ' + c.secret('KEY')); c.log.info('key', { key: c.secret('KEY') }); throw new Error('bad ' + c.secret('KEY')); },
};
`;

const order = (rig: BodyRig, functionName: string, shape: Partial<FunctionWork> = {}, different = {}) =>
  workOf({ kind: 'function', ...shape }, { handler: functionName, bundle: rig.data.add(BUNDLE), ...different });

const environment = { PATH: process.env.PATH, SIGNALBOX_SECRET_KEY: 'top-secret', SIGNALBOX_TOKEN: 'no', MINE: 'no' };

test.each([false, true])('a function sees the same as a handler does (inProcess %s)', async (inProcess) => {
  const rig = await startBody({ environment });
  const assignment = order(
    rig,
    'seen',
    {
      ...(inProcess ? { inProcess } : {}),
      secrets: ['KEY'],
      inputs: { row: { from: 'task', task: 'up', path: ['a'] } },
    },
    { params: '{"n":1}', upstream: [{ taskName: 'up', output: '{"a":7}' }] },
  );
  const report = await rig.run(assignment);
  const { run, effectKey, token } = assignment;
  expect(report).toMatchObject({ outcome: 'succeeded', error: '' });
  expect(JSON.parse(report.output)).toEqual([
    'default',
    'd',
    run,
    't',
    1,
    { n: 1 },
    { up: { a: 7 } },
    { row: 7 },
    effectKey,
    1,
    token.toString('base64url'),
    10,
  ]);
});

test('functions run in a child that stays warm, with a clean environment; in process they run in the worker', async () => {
  const rig = await startBody({ environment });
  const first = JSON.parse((await rig.run(order(rig, 'where'))).output) as [number, number];
  const second = JSON.parse((await rig.run(order(rig, 'where'))).output) as [number, number];
  expect(first[0]).not.toBe(process.pid);
  expect(second).toEqual([first[0], 2]);
  expect(JSON.parse((await rig.run(order(rig, 'env'))).output)).toEqual([
    'PATH',
    'SIGNALBOX_ATTEMPT_MARK',
    'SIGNALBOX_WORKER_MARK',
  ]);
  expect((await rig.run(order(rig, 'pid', { inProcess: true }))).output).toBe(String(process.pid));
  expect(rig.data.fetches.length).toBe(1);
});

test.each([
  ['throws', 'transient', 'Error: no luck\n    at '],
  ['never', 'permanent', 'never'],
  ['secretless', 'permanent', 'The task does not list the secret OTHER'],
  ['missing', 'permanent', 'The bundle has no function "missing"'],
  ['exits', 'transient', 'ended with exit code 3 before the function had returned: process.exit()'],
  ['throwsLater', 'transient', 'Uncaught error: Error: nobody catches'],
  ['rejects', 'transient', 'Uncaught error: Error: nobody handles'],
  ['kills', 'resource', 'was killed by SIGKILL, as a system does that has no memory left'],
  ['large', 'permanent', 'The output has 52428802 bytes of JSON; the limit is 8388608.'],
])('a function that %s fails its attempt, and the next one runs', async (name, outcome, error) => {
  const rig = await startBody({ environment });
  expect(await rig.run(order(rig, name))).toMatchObject({ outcome, error: expect.stringContaining(error) });
  expect(await rig.run(order(rig, 'pid'))).toMatchObject({ outcome: 'succeeded' });
});

test('what a function used is reported', async () => {
  const rig = await startBody({ environment });
  const report = await rig.run(order(rig, 'burns'));
  expect(report.outcome).toBe('succeeded');
  expect(report.cpuMicros).toBeGreaterThan(10_000);
  expect(report.cpuMicros).toBeLessThan(10_000_000);
  expect(report.peakBytes).toBeGreaterThan(60_000_000);
});

test('a hot loop neither stops the others nor escapes its timeout', async () => {
  const rig = await startBody({ environment });
  const hot = order(rig, 'hot');
  rig.session.say({ assignments: [hot] });
  await rig.data.until(() => rig.data.linesOf(hot.claim).length === 1);
  expect(await rig.run(order(rig, 'pid'))).toMatchObject({ outcome: 'succeeded' });
  rig.session.say({ kills: [{ claim: hot.claim, reason: 'timeout', graceMs: 50 }] });
  expect(await rig.session.reportOf(hot.claim)).toMatchObject({
    outcome: 'timeout',
    error:
      'The attempt ran longer than its timeout.\nThe function did not end within its grace period; its process was killed.',
  });
});

test('the signal of a function fires, with its reason, and it has its grace', async () => {
  const rig = await startBody({ environment });
  const waits = order(rig, 'waits');
  rig.session.say({ assignments: [waits] });
  await rig.session.roundTrip();
  await rig.run(order(rig, 'pid'));
  rig.session.say({ kills: [{ claim: waits.claim, reason: 'cancelled', graceMs: 60_000 }] });
  expect(await rig.session.reportOf(waits.claim)).toMatchObject({ outcome: 'cancelled', output: '' });
});

test('what functions print is the log of the attempt that printed it, and it is stored before the report', async () => {
  const rig = await startBody({ environment, slots: 1 });
  const pid = await rig.run(order(rig, 'pid'));
  for (let n = 1; n <= 5; n++) {
    const assignment = order(rig, n === 3 ? 'halfLine' : 'prints', {}, { params: String(n) });
    expect(await rig.run(assignment)).toMatchObject({ outcome: 'succeeded' });
    const said = `log: {"level":"info","message":"said","fields":{"n":${n}}}`;
    expect([...rig.data.textOf(assignment.claim)].sort()).toEqual(
      n === 3 ? ['stdout: no line break'] : [said, 'stderr: err', `stdout: out ${n}`],
    );
  }
  // None of it has cost the child its life.
  expect((await rig.run(order(rig, 'pid'))).output).toBe(pid.output);
  const below = order(rig, 'childPrints');
  await rig.run(below);
  expect(rig.data.textOf(below.claim)).toEqual(['stdout: from below']);
});

test.each([
  ['printsMuch', 3_000, 'last'],
  ['childPrintsMuch', 20_000, '20000'],
])('what %s is whole, though the word of its end is quicker than its streams', async (name, count, last) => {
  const rig = await startBody({ environment, slots: 1 });
  for (let i = 0; i < 5; i++) {
    const assignment = order(rig, name);
    await rig.run(assignment);
    await rig.run(order(rig, 'pid'));
    const lines = rig.data.linesOf(assignment.claim);
    expect([lines.length, lines.at(-1)?.text]).toEqual([count, last]);
  }
});

test('secrets are masked in the log and the error of a function (I67)', async () => {
  const rig = await startBody({ environment });
  for (const inProcess of [false, true]) {
    const assignment = order(rig, 'tells', { secrets: ['KEY'], ...(inProcess ? { inProcess } : {}) });
    const report = await rig.run(assignment);
    expect(report.error).toContain('Error: bad ***');
    const text = rig.data.textOf(assignment.claim).join('\n');
    expect(text).toContain('log: {"level":"info","message":"key","fields":{"key":"***"}}');
    expect(`${text}${report.error}`).not.toContain('top-secret');
  }
});

test('what a function leaves behind is gone with its child', async () => {
  const rig = await startBody({ environment });
  const pid = Number((await rig.run(order(rig, 'forks'))).output);
  expect(readFileSync(`/proc/${pid}/environ`).length).toBeGreaterThan(0);
  await rig.worker.stop();
  expect(() => readFileSync(`/proc/${pid}/environ`)).toThrow();
});

test('errors point to the lines of the source (source map)', async () => {
  const rig = await startBody({ environment });
  // One generated line; its throw is at line 3, column 9 of flow.ts.
  const code = 'export const functions={f:()=>{throw new Error("mapped")}};';
  const column = code.indexOf('new Error');
  const sourceMap = JSON.stringify({
    version: 3,
    sources: ['flow.ts'],
    names: [],
    mappings: `${vlq(column)}${vlq(0)}${vlq(2)}${vlq(8)}`,
  });
  const bundle = rig.data.add(code, sourceMap);
  const report = await rig.run(workOf({ kind: 'function' }, { handler: 'f', bundle }));
  // Nothing of the worker's own, and not where it keeps bundles.
  expect(report.error).toMatch(/^Error: mapped\n {4}at \S+ \(flow\.ts:3:9\)$/);
});

/** One number of a source map. */
function vlq(value: number): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let rest = value << 1;
  let text = '';
  do {
    const digit = rest & 31;
    rest >>= 5;
    text += digits[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}

test('a bundle is fetched once for all that wait for it, checked, and kept for the next worker', async () => {
  const cacheFolder = join(testFolder(), 'cache');
  const rig = await startBody({ environment, cacheFolder });
  const orders = [1, 2, 3].map(() => order(rig, 'pid'));
  rig.session.say({ assignments: orders });
  for (const { claim } of orders) expect((await rig.session.reportOf(claim)).outcome).toBe('succeeded');
  expect(rig.data.fetches.length).toBe(1);
  const [hash] = readdirSync(cacheFolder);

  const second = await startBody({ environment, cacheFolder });
  expect((await second.run(order(second, 'pid'))).outcome).toBe('succeeded');
  expect(second.data.fetches).toEqual([]);

  writeFileSync(join(cacheFolder, String(hash), 'bundle.mjs'), 'export const functions = { pid: () => "forged" };');
  const third = await startBody({ environment, cacheFolder });
  expect((await third.run(order(third, 'pid'))).output).not.toContain('forged');
  expect(third.data.fetches.length).toBe(1);
  rmSync(cacheFolder, { recursive: true });
});

test('a bundle that does not exist fails the task for good; one that can’t be had may be tried again', async () => {
  const rig = await startBody({ environment });
  const missing = workOf({ kind: 'function' }, { handler: 'f', bundle: 'ab'.repeat(32) });
  expect(await rig.run(missing)).toMatchObject({
    outcome: 'permanent',
    error: 'The server does not have bundle abababababab. Deploy the dag again.',
  });
  const forged = 'cd'.repeat(32);
  rig.data.forge(forged, BUNDLE);
  expect(await rig.run(workOf({ kind: 'function' }, { handler: 'f', bundle: forged }))).toMatchObject({
    outcome: 'transient',
    error: expect.stringContaining('what came does not have its hash'),
  });
  rig.data.stop();
  expect(await rig.run(order(rig, 'pid'))).toMatchObject({
    outcome: 'transient',
    error: expect.stringContaining('could not be fetched'),
  });
});

test('a bundle that can’t be loaded fails each attempt with the reason', async () => {
  const rig = await startBody({ environment });
  const bundle = rig.data.add('throw new Error("broken at the top");');
  for (const inProcess of [false, true]) {
    const shape = { kind: 'function', ...(inProcess ? { inProcess } : {}) } as const;
    expect(await rig.run(workOf(shape, { handler: 'f', bundle }))).toMatchObject({
      outcome: 'transient',
      error: expect.stringContaining('broken at the top'),
    });
  }
});
