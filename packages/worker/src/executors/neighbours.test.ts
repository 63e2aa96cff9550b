/** Several attempts in one child process: running at a time, or waiting for their turn. What one does is not charged to another. */
import type { FunctionWork } from '@signalbox/protocol';
import type { Assignment, Claim } from '@signalbox/protocol/grpc';
import { expect, test } from 'vitest';
import { type BodyRig, startBody, workOf } from '../test-rig.ts';

const BUNDLE = `
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const functions = {
  pid: () => process.pid,
  waits: (c) => { c.log.info(String(process.pid)); return new Promise((resolve) => c.signal.addEventListener('abort', () => resolve('late'))); },
  deaf: (c) => { c.log.info('begun'); return new Promise(() => setInterval(() => {}, 1000)); },
  hot: () => { for (;;); },
  exits: async () => { await later(1); process.exit(3); },
  throwsLater: async () => { await later(1); setTimeout(() => { throw new Error('nobody catches'); }, 1); await later(60000); },
  rejects: async () => { await later(1); Promise.reject(new Error('nobody handles')); await later(60000); },
  kills: async () => { await later(1); process.kill(process.pid, 'SIGKILL'); await later(60000); },
  eats: async () => { await later(1); const all = []; for (;;) all.push(new Array(100000).fill(all.length + 0.5)); },
  prints: async ({ params, log }) => {
    for (let i = 0; i < 20; i++) {
      console.log(params, i);
      await later(1);
      process.stderr.write(params + ' ' + i + '\\n');
      await Promise.resolve();
      log.info(params);
    }
    setTimeout(() => console.log('of nobody'), 1);
  },
  childPrints: async () => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('sh', ['-c', 'echo from below'], { stdio: 'inherit' });
  },
};
`;

const order = (rig: BodyRig, name: string, shape: Partial<FunctionWork> = {}, different: Partial<Assignment> = {}) =>
  workOf({ kind: 'function', ...shape }, { handler: name, bundle: rig.data.add(BUNDLE), ...different });

const again = (assignment: Assignment): Assignment => ({
  ...assignment,
  claim: { ...assignment.claim, fence: assignment.claim.fence + 1 },
});

const refusalOf = ({ session }: BodyRig, { runId, fence }: Claim) =>
  session.until(({ refusals }) => refusals.find(({ claim }) => claim.runId === runId && claim.fence === fence));

const begun = (rig: BodyRig, { claim }: Assignment) => rig.data.until(() => rig.data.linesOf(claim).length > 0);

const together = { concurrency: 3 } as const;
const NEIGHBOUR = 'its process was ended because of another attempt in it';

test.each([
  ['exits', 'transient', 'ended with exit code 3'],
  ['throwsLater', 'transient', 'Uncaught error: Error: nobody catches'],
  ['rejects', 'transient', 'Uncaught error: Error: nobody handles'],
])('an attempt that %s is charged with it; its neighbour goes back at no cost', async (name, outcome, error) => {
  const rig = await startBody();
  const neighbour = order(rig, 'waits', together);
  rig.session.say({ assignments: [neighbour] });
  await begun(rig, neighbour);
  expect(await rig.run(order(rig, name, together))).toMatchObject({ outcome, error: expect.stringContaining(error) });
  expect((await refusalOf(rig, neighbour.claim)).reason).toBe(NEIGHBOUR);
  expect(rig.data.textOf(neighbour.claim).at(-1)).toBe(
    `system: The attempt has no result: ${NEIGHBOUR}. It runs again, which costs no retry.`,
  );
});

test.each([
  ['hot', { timeoutMs: 1_500 }, 'timeout', 'its process was killed'],
  ['kills', {}, 'resource', 'was killed by SIGKILL'],
  ['eats', { memoryBytes: 96 * 1024 * 1024 }, 'resource', 'memory'],
])(
  'where nobody can tell which attempt it was (%s), all go back, and the next time each runs alone',
  async (name, different, outcome, error) => {
    const rig = await startBody();
    const { memoryBytes = 0 } = different as Partial<Assignment>;
    const neighbour = order(rig, 'waits', together, { memoryBytes });
    rig.session.say({ assignments: [neighbour] });
    await begun(rig, neighbour);
    const culprit = order(rig, name, together, different);
    rig.session.say({ assignments: [culprit] });
    await Promise.all([refusalOf(rig, culprit.claim), refusalOf(rig, neighbour.claim)]);
    const innocent = again(neighbour);
    rig.session.say({ assignments: [innocent, again(culprit)] });
    expect(await rig.session.reportOf(culprit.claim)).toMatchObject({ outcome, error: expect.stringContaining(error) });
    rig.session.say({ kills: [{ claim: innocent.claim, reason: 'cancelled', graceMs: 60_000 }] });
    expect(await rig.session.reportOf(innocent.claim)).toMatchObject({ outcome: 'cancelled' });
  },
);

test('an attempt that ignores its signal is killed with its process; its neighbour goes back', async () => {
  const rig = await startBody();
  const [deaf, neighbour] = [order(rig, 'deaf', together), order(rig, 'waits', together)];
  rig.session.say({ assignments: [deaf, neighbour] });
  await Promise.all([begun(rig, deaf), begun(rig, neighbour)]);
  rig.session.say({ kills: [{ claim: deaf.claim, reason: 'timeout', graceMs: 300 }] });
  expect((await rig.session.reportOf(deaf.claim)).outcome).toBe('timeout');
  await refusalOf(rig, neighbour.claim);
});

test('what attempts print that run at a time goes to the log of each', async () => {
  const rig = await startBody();
  const orders = ['a', 'b', 'c'].map((name) => order(rig, 'prints', together, { params: JSON.stringify(name) }));
  rig.session.say({ assignments: orders });
  for (const [at, { claim }] of orders.entries()) {
    expect((await rig.session.reportOf(claim)).outcome).toBe('succeeded');
    const name = 'abc'[at];
    const expected = Array.from({ length: 20 }, (_, i) => [
      `stdout: ${name} ${i}`,
      `stderr: ${name} ${i}`,
      `log: {"level":"info","message":"${name}"}`,
    ]).flat();
    expect([...rig.data.textOf(claim)].sort()).toEqual(expected.sort());
  }
});

test('what a subprocess prints is left out, and said to be, where several attempts run', async () => {
  const rig = await startBody();
  const alone = order(rig, 'childPrints', together);
  await rig.run(alone);
  expect(rig.data.textOf(alone.claim)).toEqual(['stdout: from below']);
  const neighbour = order(rig, 'waits', together);
  rig.session.say({ assignments: [neighbour] });
  await begun(rig, neighbour);
  const beside = order(rig, 'childPrints', together);
  await rig.run(beside);
  for (const { claim } of [beside, neighbour]) {
    const text = rig.data.textOf(claim).join('\n');
    expect(text).toContain(
      'system: Output of a subprocess or of native code was left out: 2 attempts run in this process',
    );
    expect(text).not.toContain('from below');
  }
});

test('one attempt after the other unless the task says otherwise, and alone with isolation: process', async () => {
  const rig = await startBody();
  for (let i = 0; i < 5; i++) await rig.run(order(rig, 'pid'));
  const [plain, shared, alone] = [
    order(rig, 'waits'),
    order(rig, 'waits', together),
    order(rig, 'waits', { isolation: 'process' }),
  ];
  rig.session.say({ assignments: [plain, shared, alone] });
  const pids = new Set<string>();
  for (const one of [plain, shared, alone]) {
    await begun(rig, one);
    pids.add(JSON.parse(String(rig.data.linesOf(one.claim)[0]?.text)).message);
  }
  expect(pids.size).toBe(3);
  for (let i = 0; i < 3; i++) {
    const { output } = await rig.run(order(rig, 'pid', i === 0 ? together : {}));
    expect(pids.has(output)).toBe(i === 0);
  }
});

test('a claim that waits for its slot is taken back by a cancel, a drain, and when it has waited for too long', async () => {
  const rig = await startBody({ slots: 1, timing: { leastAhead: 10 } });
  const first = order(rig, 'waits');
  rig.session.say({ assignments: [first] });
  await begun(rig, first);
  const [cancelled, overdue, http, drained] = [
    order(rig, 'pid'),
    order(rig, 'pid', {}, { timeoutMs: 100 }),
    workOf({ kind: 'process', run: 'true' }, { timeoutMs: 100 }),
    order(rig, 'pid'),
  ];
  rig.session.say({ assignments: [cancelled] });
  rig.session.say({ kills: [{ claim: cancelled.claim, reason: 'cancelled', graceMs: 60_000 }] });
  expect((await rig.session.reportOf(cancelled.claim)).outcome).toBe('cancelled');
  rig.session.say({ assignments: [overdue, http] });
  expect((await refusalOf(rig, overdue.claim)).reason).toBe('it waited for others to end');
  expect((await refusalOf(rig, http.claim)).reason).toBe('it waited for a slot');
  rig.session.say({ assignments: [drained] });
  rig.session.say({ drain: true });
  await refusalOf(rig, drained.claim);
  rig.session.say({ kills: [{ claim: first.claim, reason: 'cancelled', graceMs: 60_000 }] });
  expect((await rig.session.reportOf(first.claim)).outcome).toBe('cancelled');
  rig.session.say({ answers: [first, cancelled].map(({ claim }) => ({ claim, verdict: 'accepted' as const })) });
  await rig.worker.stopped;
});
