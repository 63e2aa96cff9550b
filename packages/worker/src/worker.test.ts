import { type Handler, PermanentError, ResourceError, RetryAfter, TransientError } from '@signalbox/sdk';
import { expect, test } from 'vitest';
import { assignmentOf } from './scripted-gateway.ts';
import { aborted, settleDown, startRig } from './test-rig.ts';

const held = (runId: number, different = {}) => assignmentOf(runId, { handler: 'held', ...different });

test('a worker tells the weights of its queues', async () => {
  const { gateway } = await startRig({ queues: { high: 4, batch: 2 } });
  expect((await gateway.session(0)).hello).toMatchObject({ queues: ['high', 'batch'], queueWeights: [4, 2] });
});

test.each([0, 1.5, -1, 1_001, Number.NaN])('a queue with the weight %d is refused', async (weight) => {
  await expect(startRig({ queues: { high: weight } })).rejects.toThrow('queue high has the weight');
});

test('a worker says who it is, and reports what a handler returns with the token of its claim', async () => {
  const { worker, gateway } = await startRig({
    name: 'w1',
    queues: ['a', 'b'],
    slots: 7,
    resources: { cpu: 2.5, memory: '1GiB', license: 3 },
    labels: { zone: 'eu-1' },
    handlers: {
      seen: (context) => [
        context.tenant,
        context.dag,
        context.run,
        context.task,
        context.attempt,
        context.params,
        { ...context.upstream },
        context.effectKey,
        context.fence,
        context.token,
      ],
    },
  });
  const session = await gateway.session(0);
  expect(session.authorization).toBe('Bearer secret');
  expect(session.hello).toEqual({
    workerId: worker.id,
    name: 'w1',
    queues: ['a', 'b'],
    slots: 7,
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    holds: [],
    holdTokens: [],
    draining: false,
    offers: { resources: { cpu: 2_500, memory: 2 ** 30, license: 3 }, labels: { zone: 'eu-1' } },
    holdBookings: [],
  });

  const assignment = assignmentOf(5, {
    claim: { shard: 3, runId: 5, task: 2, attempt: 4, fence: 6 },
    handler: 'seen',
    params: '{"n":1}',
    upstream: [
      { taskName: '__proto__', output: '"x"' },
      { taskName: 'quiet', output: '' },
    ],
  });
  session.say({ assignments: [assignment] });
  const report = await session.reportOf(assignment.claim);
  expect(report).toMatchObject({ claim: assignment.claim, token: assignment.token, outcome: 'succeeded', error: '' });
  expect(report.endedAt).toBeGreaterThanOrEqual(report.startedAt);
  expect(report.output).toBe(
    `["default","d","${assignment.run}","t",4,{"n":1},{"__proto__":"x","quiet":null},"effect-5",6,"dG9rZW4tNQ"]`,
  );
});

test.each<[string, Handler, string, string, string]>([
  ['nothing', () => undefined, 'succeeded', '', ''],
  ['a value', () => ({ a: 1 }), 'succeeded', '{"a":1}', ''],
  ['a promise', async () => 'x', 'succeeded', '"x"', ''],
  ['null', () => null, 'succeeded', 'null', ''],
  [
    'a throw',
    () => {
      throw new Error('no luck');
    },
    'transient',
    '',
    'Error: no luck\n    at ',
  ],
  [
    'a rejection',
    async () => {
      throw new TypeError('no');
    },
    'transient',
    '',
    'TypeError: no',
  ],
  [
    'a permanent error',
    () => {
      throw new PermanentError('never');
    },
    'permanent',
    '',
    'PermanentError: never',
  ],
  [
    'text that is thrown',
    () => {
      throw 'text';
    },
    'transient',
    '',
    'text',
  ],
  [
    'nothing that is thrown',
    () => {
      throw undefined;
    },
    'transient',
    '',
    'undefined',
  ],
  [
    'a circle',
    () => {
      const a: unknown[] = [];
      a.push(a);
      return a;
    },
    'permanent',
    '',
    'not JSON',
  ],
  ['a function', () => () => {}, 'permanent', '', 'not JSON'],
  ['a bigint', () => 1n, 'permanent', '', 'not JSON'],
  ['9 MB', () => 'x'.repeat(9_000_000), 'permanent', '', 'The output has 9000002 bytes of JSON; the limit is 8388608.'],
  [
    'a proxy that throws',
    () => {
      throw new Proxy(
        {},
        {
          has: () => {
            throw new Error();
          },
          get: () => {
            throw new Error();
          },
        },
      );
    },
    'transient',
    '',
    'cannot be shown',
  ],
  [
    'a thenable that throws',
    () => ({
      get then() {
        throw new Error('trap');
      },
    }),
    'transient',
    '',
    'trap',
  ],
  [
    'an endless message',
    () => {
      throw new Error('m'.repeat(100_000));
    },
    'transient',
    '',
    'mmm',
  ],
])('a handler that comes to %s is reported as %s', async (_, handler, outcome, output, error) => {
  const { gateway } = await startRig({ handlers: { it: handler } });
  const session = await gateway.session(0);
  session.say({ assignments: [assignmentOf(1, { handler: 'it' })] });
  const report = await session.reportOf(assignmentOf(1).claim);
  expect(report).toMatchObject({ outcome, output, error: expect.stringContaining(error) });
  expect(report.error.length).toBeLessThanOrEqual(8 * 1024);
});

test('an unknown handler fails its task for good, and says what there is', async () => {
  const { gateway } = await startRig({ name: 'w1' });
  const session = await gateway.session(0);
  session.say({ assignments: [assignmentOf(1, { handler: 'toString' })] });
  const report = await session.reportOf(assignmentOf(1).claim);
  expect(report).toMatchObject({
    outcome: 'permanent',
    error: 'Worker w1 has no handler "toString"; it has: noop, held.',
  });
});

test('reports of one turn go in one message', async () => {
  const { gateway } = await startRig({ handlers: { later: async () => {} } });
  const session = await gateway.session(0);
  session.say({
    assignments: Array.from({ length: 90 }, (_, i) => assignmentOf(i + 1, { handler: i % 2 ? 'later' : 'noop' })),
  });
  expect(await session.until(({ reports }) => reports.length || null)).toBe(90);
});

test('reports made while the stream is not writable go together, in messages of bounded size', async () => {
  const { gateway, held: handler } = await startRig({ slots: 60 });
  const session = await gateway.session(0);
  session.say({ assignments: Array.from({ length: 60 }, (_, i) => held(i + 1)) });
  await handler.call(59);
  session.freeze();
  for (const call of handler.calls) {
    call.resolve('x'.repeat(200_000));
    await new Promise((resolve) => setImmediate(resolve));
  }
  session.thaw();
  let seen = 0;
  await session.until(({ reports }) => {
    seen += reports.length;
    return seen >= 60 || null;
  });
  const sizes = session.messages.map(({ reports }) => reports.length).filter((count) => count > 0);
  expect(sizes.length).toBeLessThan(60);
  expect(Math.max(...sizes)).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(6);
});

test('what has no room is refused, and what was there goes on (I24, I26)', async () => {
  const { gateway, held: handler } = await startRig({ slots: 2 });
  const session = await gateway.session(0);
  session.say({ assignments: [held(1), held(2), held(3)] });
  const [refusal] = await session.until(({ refusals }) => (refusals.length > 0 ? refusals : null));
  expect(refusal).toEqual({ claim: held(3).claim, token: held(3).token, reason: 'no slot is free' });
  (await handler.call(0)).resolve('done');
  expect((await session.reportOf(held(1).claim)).outcome).toBe('succeeded');
  // The server has taken it back under a new fence: the old one is not run when it comes again, though there is room.
  session.say({ assignments: [held(3)] });
  // A slot is free as soon as its attempt is over, before the report is answered.
  session.say({ assignments: [held(4)] });
  expect((await handler.call(2)).context.effectKey).toBe('effect-4');
});

test('an assignment that asks for more than is left is refused, whatever the server believes (I24, I26)', async () => {
  const { gateway, held: handler } = await startRig({ slots: 5, resources: { cpu: 2 } });
  const session = await gateway.session(0);
  const asks = (run: number, booking: object) => ({ ...held(run), booking: JSON.stringify(booking) });
  const refused = (run: number) =>
    session.until(({ refusals }) => refusals.find(({ claim }) => claim.runId === run)?.reason ?? null);
  session.say({ assignments: [asks(1, { resources: { cpu: 1_500 } }), asks(2, { resources: { cpu: 600 } })] });
  expect(await refused(2)).toBe('it asks for 0.6 cpu, and 0.5 cpu is left');
  session.say({ assignments: [asks(3, { resources: {}, exclusive: true })] });
  expect(await refused(3)).toBe('it wants the worker for itself, and others run');
  (await handler.call(0)).resolve('done');
  await session.reportOf(held(1).claim);
  session.say({ assignments: [asks(4, { resources: {}, exclusive: true }), held(5)] });
  expect(await refused(5)).toBe('another attempt has the worker for itself');
});

test('with too many reports not answered nothing new is taken on (I73)', async () => {
  const { gateway } = await startRig({ timing: { unansweredLimit: 3 } });
  const session = await gateway.session(0);
  session.say({ assignments: [1, 2, 3].map((run) => assignmentOf(run)) });
  await session.reportOf(assignmentOf(3).claim);
  session.say({ assignments: [assignmentOf(4)] });
  expect(await session.until(({ refusals }) => refusals[0]?.reason)).toBe('too many reports wait for an answer');
  session.say({ answers: [{ claim: assignmentOf(1).claim, verdict: 'accepted' }], assignments: [assignmentOf(5)] });
  expect((await session.reportOf(assignmentOf(5).claim)).outcome).toBe('succeeded');
});

test('an assignment of a lower epoch than was heard is refused, of each shard by itself (D5)', async () => {
  const { gateway } = await startRig();
  const session = await gateway.session(0);
  const of = (shard: number, runId: number, epoch: number) =>
    assignmentOf(runId, { epoch, claim: { shard, runId, task: 0, attempt: 1, fence: 1 } });
  session.say({ epochs: [{ shard: 1, epoch: 5 }] });
  session.say({ epochs: [{ shard: 1, epoch: 4 }] });
  session.say({ assignments: [of(1, 11, 4), of(1, 12, 5), of(2, 21, 1), of(1, 13, 6), of(1, 14, 5)] });
  const refused: number[] = [];
  await session.until(({ refusals }) => {
    refused.push(...refusals.map(({ claim }) => claim.runId));
    return refused.length === 2 || null;
  });
  expect(refused).toEqual([11, 14]);
  for (const runId of [12, 21, 13]) await session.reportOf(of(1, runId, 0).claim);
});

test('new owners are told what is held of their shards, and of no other (I17)', async () => {
  const { gateway, held: handler } = await startRig();
  const session = await gateway.session(0);
  const of = (shard: number, runId: number, name: string) =>
    assignmentOf(runId, { handler: name, claim: { shard, runId, task: 0, attempt: 1, fence: 1 } });
  session.say({ assignments: [of(1, 11, 'held'), of(2, 21, 'held'), of(1, 12, 'noop')] });
  await handler.call(1);
  await session.reportOf(of(1, 12, '').claim);
  session.say({
    epochs: [
      { shard: 1, epoch: 9 },
      { shard: 7, epoch: 2 },
    ],
  });
  const holdings = await session.until((message) => message.holdings);
  expect(holdings.epochs).toEqual([
    { shard: 1, epoch: 9 },
    { shard: 7, epoch: 2 },
  ]);
  expect(holdings.holds).toEqual([of(1, 11, '').claim, of(1, 12, '').claim]);
});

test('an assignment that comes twice is run once: while it runs, when reported, when answered', async () => {
  const { gateway, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1), held(1)] });
  const call = await handler.call(0);
  session.say({ assignments: [held(1)] });
  call.resolve(1);
  const first = await session.reportOf(held(1).claim);
  const reported = session.messages.length;
  // Whoever sends it again has not had the report: it goes out again, the same.
  session.say({ assignments: [held(1)] });
  await session.until((message) => session.messages.indexOf(message) >= reported && message.reports.length > 0);
  expect(session.messages.at(-1)?.reports).toEqual([first]);
  session.say({ answers: [{ claim: held(1).claim, verdict: 'accepted' }] });
  session.say({ assignments: [held(1), assignmentOf(2)] });
  await session.reportOf(assignmentOf(2).claim);
  expect(handler.calls.length).toBe(1);
  expect(session.messages.at(-1)?.reports.length).toBe(1);
});

test.each([
  ['cancelled', 'cancelled'],
  ['timeout', 'timeout'],
  ['stuck', 'stuck'],
  ['superseded', 'cancelled'],
  ['lost', 'cancelled'],
] as const)(
  'a kill as %s fires the signal; when the handler settles it is reported as %s (I42)',
  async (reason, outcome) => {
    const { gateway, held: handler } = await startRig();
    const session = await gateway.session(0);
    session.say({ assignments: [held(1)] });
    const { context, reject } = await handler.call(0);
    const fired = aborted(context);
    session.say({ kills: [{ claim: held(1).claim, reason, graceMs: 60_000 }] });
    expect(await fired).toMatchObject({ name: 'AbortError', reason });
    reject(new Error('cleaned up'));
    const report = await session.reportOf(held(1).claim);
    expect(report).toMatchObject({ outcome, output: '', error: expect.stringContaining('cleaned up') });
  },
);

test('a handler that outlives its grace is reported without it, and its late result is forgotten (I42)', async () => {
  const { gateway, held: handler, clock } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context, resolve } = await handler.call(0);
  session.say({ kills: [{ claim: held(1).claim, reason: 'cancelled', graceMs: 1_000 }] });
  await aborted(context);
  clock.advance(999);
  await settleDown(session);
  expect(session.messages.flatMap(({ reports }) => reports)).toEqual([]);
  clock.advance(1);
  expect((await session.reportOf(held(1).claim)).outcome).toBe('cancelled');
  resolve('too late');
  session.say({ assignments: [assignmentOf(2)] });
  await session.reportOf(assignmentOf(2).claim);
  expect(session.messages.flatMap(({ reports }) => reports).length).toBe(2);
});

test('a claim that the server calls stale is dropped: its signal fires, it is held and reported no more (I21)', async () => {
  const { gateway, held: handler, clock } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1), held(2)] });
  const { context, resolve } = await handler.call(0);
  session.say({ answers: [{ claim: held(1).claim, verdict: 'stale' }] });
  expect(await aborted(context)).toMatchObject({ reason: 'stale' });
  resolve('stale');
  clock.advance(3_000);
  const { holds } = await session.until(({ heartbeat }) => heartbeat);
  expect(holds).toEqual([held(2).claim]);
  expect(session.messages.flatMap(({ reports }) => reports)).toEqual([]);
});

test('a result that the server does not record is told of in the log of the worker (I21)', async () => {
  const said: unknown[] = [];
  const silent = () => undefined;
  const warn = (message: string, fields: unknown) => void said.push([message, fields]);
  const { gateway } = await startRig({
    log: { debug: silent, info: silent, warn, error: silent },
    handlers: { quick: () => 'done' },
  });
  const session = await gateway.session(0);
  const [kept, late] = [assignmentOf(1, { handler: 'quick' }), assignmentOf(2, { handler: 'quick' })];
  session.say({ assignments: [kept, late] });
  for (const { claim } of [kept, late]) await session.reportOf(claim);
  session.say({
    answers: [
      { claim: kept.claim, verdict: 'accepted' },
      { claim: late.claim, verdict: 'stale' },
    ],
  });
  await expect.poll(() => said).toHaveLength(1);
  expect(said[0]).toEqual([
    'a result is not recorded: its run was cancelled, or this attempt does not hold the task any more',
    { run: late.run, task: 't', attempt: late.claim.attempt, outcome: 'succeeded' },
  ]);
});

test.each<[string, () => unknown, object]>([
  ['any error', () => new TypeError('no'), { outcome: 'transient', code: 'error:TypeError', retryAfterMs: 0 }],
  ['a system error', () => Object.assign(new Error('no'), { code: 'ECONNREFUSED' }), { code: 'error:ECONNREFUSED' }],
  ['PermanentError', () => new PermanentError('no'), { outcome: 'permanent', code: 'error:PermanentError' }],
  ['TransientError', () => new TransientError('no'), { outcome: 'transient', code: 'error:TransientError' }],
  ['RetryAfter', () => new RetryAfter(1_500, 'later'), { outcome: 'transient', retryAfterMs: 1_500 }],
  ['ResourceError', () => new ResourceError('full', { memory: '2GiB' }), { outcome: 'resource', memoryBytes: 2 ** 31 }],
  ['ResourceError without a size', () => new ResourceError('full'), { outcome: 'resource', memoryBytes: 0 }],
  // As another copy of the package would throw it.
  [
    'one of another copy',
    () => Object.assign(new Error('no'), { [Symbol.for('signalbox.failure')]: { class: 'resource' } }),
    { outcome: 'resource' },
  ],
  ['a text', () => 'no', { outcome: 'transient', code: 'error:string' }],
])('%s is reported with its class and code', async (_, make, expected) => {
  const { gateway } = await startRig({
    handlers: {
      throws: () => {
        throw make();
      },
    },
  });
  const session = await gateway.session(0);
  session.say({ assignments: [assignmentOf(1, { handler: 'throws' })] });
  expect(await session.reportOf(assignmentOf(1).claim)).toMatchObject(expected);
});

test('an attempt without progress for longer than it may is stopped; each word gives it more time', async () => {
  const { gateway, held: handler, clock } = await startRig({ timing: { timeoutGraceMs: 100 } });
  const session = await gateway.session(0);
  session.say({ assignments: [assignmentOf(1, { handler: 'held', stuckMs: 1_000 })] });
  const { context } = await handler.call(0);
  clock.advance(900);
  context.progress();
  clock.advance(900);
  await settleDown(session);
  expect(context.signal.aborted).toBe(false);
  clock.advance(100);
  expect(await aborted(context)).toMatchObject({ reason: 'stuck' });
  clock.advance(100);
  expect(await session.reportOf(assignmentOf(1).claim)).toMatchObject({ outcome: 'stuck', code: 'stuck:progress' });
});

test('an attempt over its soft timeout is told so, and goes on', async () => {
  const { gateway, held: handler, clock } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [assignmentOf(1, { handler: 'held', softTimeoutMs: 1_000 })] });
  const { context, resolve } = await handler.call(0);
  let calls = 0;
  context.onSlow(() => calls++);
  clock.advance(999);
  await settleDown(session);
  expect(calls).toBe(0);
  clock.advance(1);
  await settleDown(session);
  expect(calls).toBe(1);
  expect(context.signal.aborted).toBe(false);
  await new Promise<void>((called) => context.onSlow(called));
  resolve('late');
  expect(await session.reportOf(assignmentOf(1).claim)).toMatchObject({ outcome: 'succeeded', output: '"late"' });
});

test('an attempt over its time is stopped by the worker itself', async () => {
  const { gateway, held: handler, clock } = await startRig({ timing: { timeoutGraceMs: 100 } });
  const session = await gateway.session(0);
  session.say({ assignments: [held(1, { timeoutMs: 2_000 }), held(2, { timeoutMs: 4_000_000_000 })] });
  const first = await handler.call(0);
  const second = await handler.call(1);
  clock.advance(1_999);
  await settleDown(session);
  expect(first.context.signal.aborted).toBe(false);
  clock.advance(1);
  expect(await aborted(first.context)).toMatchObject({ reason: 'timeout' });
  clock.advance(100);
  expect(await session.reportOf(held(1).claim)).toMatchObject({ outcome: 'timeout', output: '' });
  expect(second.context.signal.aborted).toBe(false);
});

test('a signal asked for only after it was to fire has fired', async () => {
  const { gateway, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)], kills: [{ claim: held(1).claim, reason: 'cancelled', graceMs: 60_000 }] });
  const { context } = await handler.call(0);
  session.say({ kills: [{ claim: held(1).claim, reason: 'cancelled', graceMs: 60_000 }] });
  await session.roundTrip();
  expect(context.signal.aborted).toBe(true);
});

test('handlers that keep the processor busy let the event loop go round between them', async () => {
  const busy = () => {
    for (const until = performance.now() + 4; performance.now() < until; );
  };
  const { gateway } = await startRig({
    handlers: { busy },
    timing: { now: () => performance.now(), startBudgetMs: 8 },
  });
  const session = await gateway.session(0);
  session.say({ assignments: Array.from({ length: 20 }, (_, i) => assignmentOf(i + 1, { handler: 'busy' })) });
  await session.reportOf(assignmentOf(20).claim);
  expect(session.messages.filter(({ reports }) => reports.length > 0).length).toBeGreaterThan(3);
});
