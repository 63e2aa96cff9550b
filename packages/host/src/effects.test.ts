import type { Effect, NodeId, RunId, SendAssignment, WorkerId } from '@signalbox/engine';
import { type PayloadKey, payloadName, type Store } from '@signalbox/store';
import { expect, test } from 'vitest';
import { type EffectPorts, Effects } from './effects.ts';
import { Payloads } from './payloads.ts';
import type { Assignment } from './ports.ts';

const self = 'self' as NodeId;
const workerId = 'w' as WorkerId;
const claim = { runId: 65_536 as RunId, taskNo: 9, attemptNo: 1, fence: 1 } as SendAssignment['claim'];
const kill: Effect = { kind: 'KillAttempt', gateway: self, workerId, claim, reason: 'cancelled', graceMs: 0 };

function setUp(upstreamCount: number) {
  const assigned: Assignment[] = [];
  const said: string[] = [];
  const answers: ((isThere: boolean) => void)[] = [];
  const large = 'x'.repeat(16 * 1024 * 1024);
  const fetchPayloads = (keys: readonly PayloadKey[]) =>
    new Promise((resolve, reject) => {
      answers.push((isThere) => {
        if (isThere) resolve(new Map(keys.map((key) => [payloadName(key), large])));
        else reject(new Error('away'));
      });
    });
  const effects = new Effects({
    self,
    payloads: new Payloads({ fetchPayloads } as unknown as Store),
    tokens: { mint: () => new Uint8Array(), check: () => true },
    log: () => undefined,
    gateway: {
      assign: (_from: NodeId, _workerId: WorkerId, assignments: readonly Assignment[]) => assigned.push(...assignments),
      kill: () => said.push('killed'),
      slotsReturned: (_from: NodeId, _workerId: WorkerId, count: number) => said.push(`returned ${count}`),
    },
  } as unknown as EffectPorts);
  const task = { name: 't', handler: 'h', queue: 'q', timeoutMs: null, needs: [...Array(upstreamCount).keys()] };
  const version = { no: 1, dag: { tenant: 'default', name: 'd' }, task: () => task };
  const assignment = { kind: 'SendAssignment', gateway: self, workerId, claim, version, hasParams: true };
  const answer = async (isThere: boolean) => {
    answers.shift()?.(isThere);
    await new Promise((resolve) => setImmediate(resolve));
  };
  effects.send([assignment as unknown as Effect]);
  return { effects, assigned, said, answer };
}

test('a task sees all that its upstream tasks have put out, also when it is more than is kept in memory (I36)', async () => {
  const { assigned, answer } = setUp(4);
  await answer(true);
  expect(assigned[0]?.upstream).toHaveLength(4);
  expect(assigned[0]?.params).not.toBeNull();
});

test('a claim that is killed while its inputs are read is not sent after that (I42)', async () => {
  const { effects, assigned, said, answer } = setUp(1);
  effects.send([kill]);
  await answer(true);
  expect(assigned).toEqual([]);
  expect(said).toEqual(['killed', 'returned 1']);
});

test('a claim whose inputs cannot be read is not sent, and its slot is free again (I26, I29)', async () => {
  const { assigned, said, answer } = setUp(1);
  await answer(false);
  expect(assigned).toEqual([]);
  expect(said).toEqual(['returned 1']);
});
