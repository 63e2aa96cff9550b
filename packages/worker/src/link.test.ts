import { expect, test } from 'vitest';
import { assignmentOf, type Session } from './scripted-gateway.ts';
import { HeldHandler, ManualClock, quickTiming, startGateway, startRig, startTestWorker } from './test-rig.ts';

const held = (runId: number) => assignmentOf(runId, { handler: 'held' });

test.each([
  ['is cut', (session: Session) => session.cut()],
  ['is ended', (session: Session) => session.end()],
  [
    'brings what is not of the protocol',
    (session: Session) => session.say({ kills: [{ claim: held(9).claim, reason: 'whim' as 'lost', graceMs: 0 }] }),
  ],
])('when the stream %s the worker comes back with all that it holds, and goes on (I17)', async (_, lose) => {
  const { gateway, held: handler, worker } = await startRig();
  const first = await gateway.session(0);
  first.say({ assignments: [held(1), held(2), assignmentOf(3), assignmentOf(4)] });
  await handler.call(1);
  await first.reportOf(assignmentOf(4).claim);
  first.say({ answers: [{ claim: assignmentOf(4).claim, verdict: 'accepted' }] });
  lose(first);
  handler.calls[0]?.resolve('ended while there was no gateway');

  const second = await gateway.session(1);
  expect(second.hello.workerId).toBe(worker.id);
  expect(second.hello.holds.map(({ runId }) => runId).filter((runId) => runId !== 4)).toEqual([1, 2, 3]);
  expect((await second.reportOf(held(1).claim)).output).toBe('"ended while there was no gateway"');
  expect((await second.reportOf(assignmentOf(3).claim)).token).toEqual(assignmentOf(3).token); // again: it was not answered (I22)
  expect(handler.calls.every(({ context }) => !context.signal.aborted)).toBe(true);
  handler.calls[1]?.resolve('ended after');
  expect((await second.reportOf(held(2).claim)).output).toBe('"ended after"');
});

test('a report that is not answered is sent again, the same, until it is (I22)', async () => {
  const { gateway, clock } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [assignmentOf(1)] });
  const first = await session.reportOf(assignmentOf(1).claim);
  const repeats = () => session.messages.flatMap(({ reports }) => reports);
  for (const count of [2, 3]) {
    clock.advance(5_000);
    await session.until(() => repeats().length === count || null);
    await session.roundTrip(); // the answer to its heartbeat was heard: the gateway is not silent
  }
  expect(repeats()).toEqual([first, first, first]);
  session.say({ answers: [{ claim: first.claim, verdict: 'accepted' }] });
  session.say({ assignments: [assignmentOf(2)] });
  await session.reportOf(assignmentOf(2).claim);
  session.say({ answers: [{ claim: assignmentOf(2).claim, verdict: 'accepted' }] });
  await session.roundTrip();
  const before = session.messages.length;
  clock.advance(5_000);
  const { holds } = await session.until((message) =>
    session.messages.indexOf(message) >= before ? message.heartbeat : null,
  );
  expect(holds).toEqual([]);
  expect(repeats().length).toBe(4);
});

test('a gateway that is gone gives way to another one of the list', async () => {
  const gone = await startGateway();
  gone.stop();
  const there = await startGateway();
  startTestWorker({ gateways: [gone.address, there.address], timing: quickTiming(new ManualClock()) });
  expect((await there.session(0)).hello.slots).toBe(100);
});

/** How long the worker waits after each of so many failures, with no gateway there. */
async function waitsWithout(gatewayCount: number, failures: number): Promise<number[]> {
  const gone = await Promise.all(Array.from({ length: gatewayCount }, () => startGateway()));
  for (const gateway of gone) gateway.stop();
  const waits: number[] = [];
  await new Promise<void>((resolve) => {
    const note = (_: string, details?: Record<string, unknown>) => {
      if (typeof details?.['againInMs'] === 'number') waits.push(details['againInMs']);
      if (waits.length === failures) resolve();
    };
    startTestWorker({
      gateways: gone.map(({ address }) => address),
      timing: { ...quickTiming(new ManualClock()), backoffMinMs: 1, backoffMaxMs: 10, random: () => 1 },
      log: { debug: () => {}, info: () => {}, warn: note, error: () => {} },
    });
  });
  return waits.slice(0, failures);
}

test('a worker waits longer after each round over all gateways, and goes on to the next one of a round at once', async () => {
  expect(await waitsWithout(1, 4)).toEqual([4, 8, 10, 10]);
  expect(await waitsWithout(3, 9)).toEqual([2, 2, 4, 2, 2, 8, 2, 2, 10]);
});

test('a gateway that hears and never answers gives way too', async () => {
  const mute = await startGateway();
  mute.welcomes = false;
  const there = await startGateway();
  startTestWorker({
    gateways: [mute.address, there.address],
    timing: { ...quickTiming(new ManualClock()), welcomeMs: 20 },
  });
  await there.session(0);
  expect(mute.sessions.length).toBe(1);
});

test('what a worker runs moves to a gateway that it learnt of by a welcome', async () => {
  const other = await startGateway();
  const handler = new HeldHandler();
  const first = await startGateway();
  first.welcome = { ...first.welcome, gateways: ['no address', other.address] };
  startTestWorker({
    gateways: [first.address],
    handlers: { held: handler.run },
    timing: quickTiming(new ManualClock()),
  });
  const session = await first.session(0);
  session.say({ assignments: [held(1)] });
  const call = await handler.call(0);
  first.stop();
  const moved = await other.session(0);
  expect(moved.hello.holds).toEqual([held(1).claim]);
  call.resolve('moved');
  expect((await moved.reportOf(held(1).claim)).output).toBe('"moved"');
});

test('a gateway that answers no heartbeats is left, though its connection looks well', async () => {
  const { gateway, clock } = await startRig();
  const first = await gateway.session(0);
  first.answersHeartbeats = false;
  clock.advance(3_000);
  await first.until(({ heartbeat }) => heartbeat);
  clock.advance(6_000);
  await gateway.session(1);
});

/** Moves the clock in small steps, each seen by a tick of its own, as on a machine that is not paused. */
async function pass(clock: ManualClock, ms: number, isOver: () => boolean): Promise<number> {
  let passed = 0;
  for (; passed < ms && !isOver(); passed += 50) {
    clock.advance(50);
    await new Promise((resolve) => setTimeout(resolve, 6));
  }
  return passed;
}

test('a gateway that hangs is left within three seconds, for another one and not for itself again', async () => {
  const other = await startGateway();
  const gateway = await startGateway();
  gateway.welcome = { ...gateway.welcome, pingMs: 1_000 };
  const clock = new ManualClock();
  const handler = new HeldHandler();
  startTestWorker({
    gateways: [gateway.address, other.address],
    handlers: { held: handler.run },
    timing: quickTiming(clock),
  });
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  await handler.call(0);
  await pass(clock, 10_000, () => other.sessions.length > 0);
  expect(other.sessions.length).toBe(0);
  [session.answersPings, session.answersHeartbeats] = [false, false];
  const passedMs = await pass(clock, 10_000, () => other.sessions.length > 0);
  expect(passedMs).toBeLessThan(3_600);
  expect((await other.session(0)).hello.holds).toEqual([held(1).claim]);
  expect(gateway.sessions.length).toBe(1);
});

test('a gateway that is learnt of after the welcome is there to go to', async () => {
  const { gateway, clock } = await startRig();
  const other = await startGateway();
  const session = await gateway.session(0);
  session.say({ welcome: { ...gateway.welcome, gateways: [other.address] } });
  await session.roundTrip();
  session.answersHeartbeats = false;
  await pass(clock, 15_000, () => other.sessions.length > 0);
  await other.session(0);
  expect(gateway.sessions.length).toBe(1);
});

test('a gateway that takes nothing off the wire is left: heartbeats that cannot be written count as unanswered', async () => {
  const { gateway, clock } = await startRig({ handlers: { large: () => 'x'.repeat(200_000) } });
  const first = await gateway.session(0);
  first.freeze();
  first.say({ assignments: Array.from({ length: 100 }, (_, i) => assignmentOf(i + 1, { handler: 'large' })) });
  for (let i = 0; gateway.sessions.length < 2 && i < 200; i++) {
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const second = await gateway.session(1);
  expect(second.hello.holds.length).toBe(100);
  await second.reportOf(assignmentOf(100).claim);
});

test.each([
  [{ gateways: [] }, 'gateways is empty'],
  [{ gateways: ['nonsense'] }, 'is no address'],
  [{ slots: 0 }, 'slots is 0'],
  [{ queues: [] }, 'queues is empty'],
  [{ handlers: { a: 'b' as never } }, 'handler a is not a function'],
])('options %j are refused at the door', (options, message) => {
  expect(() => startTestWorker({ gateways: ['127.0.0.1:1'], ...options })).toThrow(message);
});
