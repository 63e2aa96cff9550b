import { expect, test } from 'vitest';
import { assignmentOf } from './scripted-gateway.ts';
import { aborted, settleDown, startRig } from './test-rig.ts';

const held = (runId: number) => assignmentOf(runId, { handler: 'held' });

test('a heartbeat at each interval names all that is held: what runs, and what was reported and not answered (D5)', async () => {
  const { gateway, clock, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1), assignmentOf(2)] });
  await handler.call(0);
  await session.reportOf(assignmentOf(2).claim);
  for (const no of [1, 2, 3]) {
    clock.advance(2_999);
    await settleDown(session);
    clock.advance(1);
    const { holds } = await session.until(({ heartbeat }) => (heartbeat?.no === no ? heartbeat : null));
    expect(holds).toEqual([held(1).claim, assignmentOf(2).claim]);
  }
});

test('an attempt that no message has named is named ahead of time: at 2 s it would count as undelivered (I26)', async () => {
  const { gateway, clock, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  await handler.call(0);
  clock.advance(499);
  await settleDown(session);
  const heartbeats = () => session.messages.filter(({ heartbeat }) => heartbeat !== null);
  expect(heartbeats()).toEqual([]);
  clock.advance(1);
  expect((await session.until(({ heartbeat }) => heartbeat)).holds).toEqual([held(1).claim]);
  // Once is enough.
  clock.advance(2_000);
  await settleDown(session);
  expect(heartbeats().length).toBe(1);
});

test('what has been named by a report or in holdings needs no early heartbeat', async () => {
  const { gateway, clock, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1), assignmentOf(2)], epochs: [{ shard: 0, epoch: 1 }] });
  await handler.call(0);
  await session.until(({ holdings }) => holdings);
  clock.advance(2_000);
  await settleDown(session);
  expect(session.messages.some(({ heartbeat }) => heartbeat !== null)).toBe(false);
});

test('a lease counts from when the answered heartbeat was sent; when it is over the signals fire as lost (I25)', async () => {
  const { gateway, clock, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context, resolve } = await handler.call(0);
  const fired = aborted(context);
  session.answersHeartbeats = false;
  clock.advance(3_000); // the first heartbeat is sent now …
  const { no } = await session.until(({ heartbeat }) => heartbeat);
  clock.advance(2_000); // … and answered 2 s later
  session.say({ heartbeatAnswered: no });
  await session.roundTrip();
  gateway.welcomes = false;
  session.cut();
  clock.advance(12_999); // 14,999 ms since it was sent
  await settleDown(null);
  expect(context.signal.aborted).toBe(false);
  clock.advance(1);
  expect(await fired).toMatchObject({ reason: 'lost' });
  // It may still report: only the server knows whether it was given up.
  gateway.welcomes = true;
  (await gateway.session(1)).cut();
  resolve('after all');
  const back = await gateway.session(2);
  expect(await back.reportOf(held(1).claim)).toMatchObject({ outcome: 'succeeded', output: '"after all"' });
});

test('an attempt whose gateway answers is never taken for lost, for hours (I25)', async () => {
  const { gateway, clock, held: handler } = await startRig();
  const session = await gateway.session(0);
  session.say({ assignments: [held(1)] });
  const { context } = await handler.call(0);
  for (let no = 1; no <= 40; no++) {
    clock.advance(3_000);
    await session.until(({ heartbeat }) => heartbeat?.no === no || null);
    await session.roundTrip(); // its answer was heard
  }
  expect(context.signal.aborted).toBe(false);
  expect(gateway.sessions.length).toBe(1);
});

test.each([
  ['that throws what the signal says', (reason: unknown) => reason, 'lost', 'lost:stopped'],
  [
    'whose call was aborted by it',
    (reason: unknown) => new Error('fetch failed', { cause: reason }),
    'lost',
    'lost:stopped',
  ],
  ['that fails by itself', () => new TypeError('no such column'), 'transient', 'error:TypeError'],
])(
  'after the lease is over, a function %s is reported as it should count (I39)',
  async (_, errorFor, outcome, code) => {
    const { gateway, clock, held: handler } = await startRig();
    const session = await gateway.session(0);
    session.say({ assignments: [held(1)] });
    const { context, reject } = await handler.call(0);
    const fired = aborted(context);
    gateway.welcomes = false;
    session.cut();
    clock.advance(15_000);
    const reason = await fired;
    gateway.welcomes = true;
    (await gateway.session(1)).cut();
    reject(errorFor(reason));
    const back = await gateway.session(2);
    expect(await back.reportOf(held(1).claim)).toMatchObject({ outcome, code });
  },
);
