import { AttemptStopped, PermanentError } from '@signalbox/sdk';
import { describe, expect, test } from 'vitest';
import { assignmentOf } from './scripted-gateway.ts';
import { beatWithProgress, hear } from './scripted-requests.ts';
import { aborted, settleDown, startBody, startRig, workOf } from './test-rig.ts';

const held = (runId: number, different = {}) => assignmentOf(runId, { handler: 'held', ...different });

test('a checkpoint is saved when the server says so, and the next attempt begins with it', async () => {
  const { gateway, held: handler } = await startRig();
  const asked = hear(gateway);
  const session = await gateway.session(0);
  session.say({ assignments: [held(1, { checkpoint: '{"page":3}' })] });
  const { context } = await handler.call(0);
  expect(context.checkpoint.get()).toEqual({ page: 3 });
  let isSaved = false;
  const saving = context.checkpoint.set({ page: 4 }).then(() => {
    isSaved = true;
  });
  expect(context.checkpoint.get()).toEqual({ page: 4 });
  const ask = await asked.nth(0);
  expect(ask).toMatchObject({ claim: { runId: 1 }, checkpoint: '{"page":4}', assertOwned: false, extendMs: 0 });
  expect(ask.token.toString()).toBe('token-1');
  await settleDown(session);
  expect(isSaved).toBe(false);
  asked.answer(ask);
  await saving;
});

test('of many at once the last is saved, and all are told when it is', async () => {
  const { gateway, held: handler } = await startRig();
  const asked = hear(gateway);
  (await gateway.session(0)).say({ assignments: [held(1)] });
  const { context } = await handler.call(0);
  const saving = Promise.all([1, 2, 3, 4].map((page) => context.checkpoint.set({ page })));
  asked.answer(await asked.nth(0));
  expect((await asked.nth(1)).checkpoint).toBe('{"page":4}');
  asked.answer(await asked.nth(1));
  await saving;
  expect(asked.asks.map(({ ask }) => ask.no)).toEqual([1, 2]);
});

test('tasks are added call by call, each answered for itself; what is refused is refused for good', async () => {
  const { gateway, held: handler } = await startRig();
  const asked = hear(gateway);
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context } = await handler.call(0);
  const template = { name: 'load' };
  const calls = ['a', 'b'].map((name) => context.addTasks([{ name, template, needs: [template], inputs: { name } }]));
  const ends = calls.map((call) => call.then(() => 'added').catch((thrown: unknown) => thrown));
  const first = await asked.nth(0);
  expect(JSON.parse(first.addedTasks)).toEqual([
    { name: 'a', template: 'load', needs: ['load'], inputs: { name: 'a' } },
  ]);
  await settleDown(session);
  expect(asked.asks).toHaveLength(1);
  asked.answer(first, { ok: false, code: 'ADD_REFUSED', detail: 'There is no such template.' });
  asked.answer(await asked.nth(1));
  expect(await ends[0]).toBeInstanceOf(PermanentError);
  expect(await ends[0]).toMatchObject({ message: 'There is no such template.' });
  expect(await ends[1]).toBe('added');
});

describe('the server has the last word (I21)', () => {
  test.each([
    ['STALE_TOKEN', '', 'stale'],
    ['STALE_TOKEN', 'cancelled', 'cancelled'],
    ['RUN_SET_ASIDE', '', 'stale'],
  ])('%s %s', async (code, detail, reason) => {
    const { gateway, held: handler } = await startRig();
    const asked = hear(gateway);
    (await gateway.session(0)).say({ assignments: [held(1)] });
    const { context } = await handler.call(0);
    const { assertOwned } = context;
    const owned = assertOwned();
    const ask = await asked.nth(0);
    expect(ask.assertOwned).toBe(true);
    asked.answer(ask, { ok: false, code, detail });
    const error = await owned.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AttemptStopped);
    expect(error).toMatchObject({ reason });
  });
});

test('what was not answered is asked again on the next stream, under its number', async () => {
  const { gateway, held: handler } = await startRig();
  const asked = hear(gateway);
  const first = await gateway.session(0);
  first.say({ assignments: [held(1)] });
  const { context } = await handler.call(0);
  const saving = context.checkpoint.set(1);
  const ask = await asked.nth(0);
  first.cut();
  await gateway.session(1);
  const again = await asked.nth(1);
  expect(again).toEqual(ask);
  asked.answer(again);
  await saving;
});

test('what is not answered for long is asked again', async () => {
  const { gateway, held: handler, clock } = await startRig();
  const asked = hear(gateway);
  (await gateway.session(0)).say({ assignments: [held(1)] });
  const { context } = await handler.call(0);
  const saving = context.checkpoint.set(1);
  await asked.nth(0);
  clock.advance(5_000);
  asked.answer(await asked.nth(1));
  await saving;
});

test('who is told to stop waits for nothing, and may still save what it has', async () => {
  const { gateway, held: handler } = await startRig();
  const asked = hear(gateway);
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context } = await handler.call(0);
  const owned = context.assertOwned().catch((thrown: unknown) => thrown);
  await asked.nth(0);
  session.say({ kills: [{ claim: held(1).claim, reason: 'cancelled', graceMs: 1_000 }] });
  await aborted(context);
  expect(await owned).toMatchObject({ reason: 'cancelled' });
  await expect(context.assertOwned()).rejects.toMatchObject({ reason: 'cancelled' });
  const saving = context.checkpoint.set('so far');
  asked.answer(await asked.nth(1));
  await saving;
});

test('who does not wait for an answer harms nobody, and who asks when it is over is told so', async () => {
  const { gateway, held: handler } = await startRig();
  hear(gateway);
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context, resolve } = await handler.call(0);
  void context.checkpoint.set(1);
  resolve('done');
  expect((await session.reportOf(held(1).claim)).output).toBe('"done"');
  await expect(context.assertOwned()).rejects.toMatchObject({ reason: 'stale' });
});

test.each([
  ['too large', 'x'.repeat(300_000), 'the limit is 262144'],
  ['no JSON', 1n, 'is not JSON'],
  ['a function', () => 1, 'is not JSON'],
])('a checkpoint that is %s is refused before it leaves (I56)', async (_, value, error) => {
  const { gateway, held: handler } = await startRig();
  const asked = hear(gateway);
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context } = await handler.call(0);
  await expect(context.checkpoint.set(value)).rejects.toThrow(error);
  await settleDown(session);
  expect(asked.asks).toEqual([]);
});

test('progress goes along with heartbeats: how far, what, and how long ago', async () => {
  const { gateway, held: handler, clock } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1), held(2)] });
  const { context } = await handler.call(0);
  context.progress(0.2, 'early');
  clock.advance(1_000);
  context.progress(7, 'x'.repeat(500));
  clock.advance(2_500);
  const beat = await beatWithProgress(session);
  expect(beat.holds).toHaveLength(2);
  expect(beat.progress).toEqual([{ claim: held(1).claim, agoMs: 2_500, fraction: 1, note: 'x'.repeat(200) }]);
});

describe('a function in a child', () => {
  const CODE = `export const functions = {
    saves: async ({ checkpoint, progress, assertOwned }) => {
      const from = checkpoint.get()?.page ?? 0;
      progress(0.5, 'half');
      await checkpoint.set({ page: from + 1 });
      await assertOwned();
      return { from, now: checkpoint.get() };
    },
    stale: async (context) => {
      try { await context.assertOwned(); } catch (error) { return { name: error.name, reason: error.reason, message: error.message }; }
    },
    tooLarge: ({ checkpoint }) => checkpoint.set('x'.repeat(300000)),
    floods: async ({ progress, checkpoint }) => { for (let i = 0; i < 200000; i++) progress(i / 200000); for (let i = 0; i < 500; i++) checkpoint.set(i); },
    late: ({ progress, checkpoint }) => { setTimeout(() => { progress(1, 'late'); checkpoint.set('late').catch(() => {}); }, 20); },
    waits: () => new Promise((resolve) => setTimeout(resolve, 80)),
  };`;

  test.each([{}, { inProcess: true as const }])(
    'saves, tells of progress and asks, also in the worker’s own process: %j',
    async (where) => {
      const rig = await startBody();
      const asked = hear(rig.gateway);
      const bundle = rig.data.add(CODE);
      const assignment = workOf({ kind: 'function', ...where }, { handler: 'saves', bundle, checkpoint: '{"page":7}' });
      rig.session.say({ assignments: [assignment] });
      const save = await asked.nth(0);
      expect(save.checkpoint).toBe('{"page":8}');
      expect((await beatWithProgress(rig.session)).progress).toMatchObject([{ fraction: 0.5, note: 'half' }]);
      asked.answer(save);
      asked.answer(await asked.nth(1));
      expect(await rig.session.reportOf(assignment.claim)).toMatchObject({
        outcome: 'succeeded',
        output: '{"from":7,"now":{"page":8}}',
      });
    },
  );

  test('is told when the task is not its own any more', async () => {
    const rig = await startBody();
    const asked = hear(rig.gateway);
    const assignment = workOf({ kind: 'function' }, { handler: 'stale', bundle: rig.data.add(CODE) });
    rig.session.say({ assignments: [assignment] });
    asked.answer(await asked.nth(0), { ok: false, code: 'STALE_TOKEN' });
    const { output } = await rig.session.reportOf(assignment.claim);
    expect(JSON.parse(output)).toMatchObject({ name: 'AbortError', reason: 'stale' });
  });

  test('fails for good when what it saves is too large', async () => {
    const rig = await startBody();
    const report = await rig.run(workOf({ kind: 'function' }, { handler: 'tooLarge', bundle: rig.data.add(CODE) }));
    expect(report).toMatchObject({ outcome: 'permanent', error: expect.stringContaining('the limit is 262144') });
  });

  test('floods neither the worker nor the server', async () => {
    const rig = await startBody();
    const asked = hear(rig.gateway);
    const report = await rig.run(workOf({ kind: 'function' }, { handler: 'floods', bundle: rig.data.add(CODE) }));
    expect(report.outcome).toBe('succeeded');
    expect(asked.asks.length).toBeLessThan(3);
  });

  test('that has ended speaks for no later attempt', async () => {
    const rig = await startBody({ slots: 1 });
    const asked = hear(rig.gateway);
    const bundle = rig.data.add(CODE);
    await rig.run(workOf({ kind: 'function' }, { handler: 'late', bundle }));
    const waits = workOf({ kind: 'function' }, { handler: 'waits', bundle });
    rig.session.say({ assignments: [waits] });
    expect((await rig.session.reportOf(waits.claim)).outcome).toBe('succeeded');
    expect(asked.asks).toEqual([]);
  });
});
