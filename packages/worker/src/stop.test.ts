import { expect, test } from 'vitest';
import { assignmentOf } from './scripted-gateway.ts';
import { aborted, settleDown, startRig } from './test-rig.ts';

const held = (runId: number) => assignmentOf(runId, { handler: 'held' });
const accepted = (runId: number) => ({ claim: held(runId).claim, verdict: 'accepted' as const });

test.each(['stop', 'drain'] as const)(
  'a worker told to %s takes nothing new, finishes what it has, waits for the answers, leaves (I27)',
  async (how) => {
    const { gateway, worker, held: handler } = await startRig();
    const session = await gateway.session(0);
    session.say({ assignments: [held(1)] });
    const call = await handler.call(0);
    let left = false;
    void worker.stopped.then(() => {
      left = true;
    });
    if (how === 'stop') void worker.stop();
    else session.say({ drain: true });
    await session.until(({ draining }) => draining || null);

    session.say({ assignments: [held(2)] });
    expect(await session.until(({ refusals }) => refusals[0])).toMatchObject({
      claim: held(2).claim,
      reason: 'the worker is stopping',
    });
    expect(call.context.signal.aborted).toBe(false);
    call.resolve('finished');
    await session.reportOf(held(1).claim);
    await settleDown(session);
    expect(left).toBe(false);
    session.say({ answers: [accepted(1)] });
    await worker.stopped;
    await session.ended;
    expect(gateway.sessions.length).toBe(1);
  },
);

test('a stopping worker that loses its gateway comes back draining, to have its reports answered (I27)', async () => {
  const { gateway, worker, held: handler } = await startRig();
  const first = await gateway.session(0);
  first.say({ assignments: [held(1)] });
  (await handler.call(0)).resolve('x');
  await first.reportOf(held(1).claim);
  const stopped = worker.stop();
  first.cut();
  const second = await gateway.session(1);
  expect(second.hello).toMatchObject({ draining: true, holds: [held(1).claim] });
  await second.reportOf(held(1).claim);
  second.say({ answers: [accepted(1)] });
  await stopped;
});

test('an idle worker leaves only when its gateway has heard that it drains: what was on its way is refused (I27)', async () => {
  const { gateway, worker } = await startRig();
  const session = await gateway.session(0);
  await worker.connected;
  session.answersHeartbeats = false;
  const stopped = worker.stop();
  const no = await session.until(({ draining, heartbeat }) => (draining ? heartbeat?.no : null));
  session.say({ assignments: [assignmentOf(1)] });
  session.say({ heartbeatAnswered: no });
  await stopped;
  expect(await session.until(({ refusals }) => refusals[0]?.claim)).toEqual(assignmentOf(1).claim);
});

test('a worker that stops while it has no gateway finds one, and says that it goes (I27)', async () => {
  const { gateway, worker } = await startRig();
  const first = await gateway.session(0);
  await worker.connected;
  first.cut();
  const stopped = worker.stop();
  const second = await gateway.session(1);
  expect(second.hello).toMatchObject({ draining: true, holds: [] });
  await stopped;
  expect(second.messages.at(-1)).toMatchObject({ leaving: true });
});

test('a worker that stops and finds no gateway any more leaves all the same', async () => {
  const { gateway, worker } = await startRig({ timing: { lastWordsMs: 50 } });
  await gateway.session(0);
  await worker.connected;
  gateway.stop();
  await worker.stop();
});

test('a worker that never found a gateway stops at once', async () => {
  const { gateway, worker } = await startRig();
  gateway.stop();
  await worker.stop();
});

test('a killed worker says nothing more; the signals of what it ran fire', async () => {
  const { gateway, worker, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context, resolve } = await handler.call(0);
  const fired = aborted(context);
  worker.kill();
  resolve('unheard');
  expect(await fired).toMatchObject({ reason: 'killed' });
  await session.ended;
  await worker.stop();
  expect(session.messages).toEqual([]);
  expect(gateway.sessions.length).toBe(1);
});
