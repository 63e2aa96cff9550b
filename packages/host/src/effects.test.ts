import type { Command, Effect, NodeId, RunId, SendAssignment, TaskNo, WorkerId } from '@signalbox/engine';
import { type PayloadKey, payloadName, type Store } from '@signalbox/store';
import { expect, test } from 'vitest';
import { unpackOutputs } from './assign/output-seal.ts';
import { type EffectPorts, Effects } from './effects.ts';
import { Payloads } from './payloads.ts';
import type { Assignment } from './ports.ts';

const self = 'self' as NodeId;
const workerId = 'w' as WorkerId;
const claim = { runId: 65_536 as RunId, taskNo: 9, attemptNo: 1, fence: 1 } as SendAssignment['claim'];
const kill: Effect = { kind: 'KillAttempt', gateway: self, workerId, claim, reason: 'cancelled', graceMs: 0 };

function setUp(upstreamCount: number, bytesEach = 1_000) {
  const assigned: Assignment[] = [];
  const said: string[] = [];
  const answers: ((isThere: boolean) => void)[] = [];
  const text = 'x'.repeat(bytesEach);
  const sent: Command[] = [];
  const fetchPayloads = (keys: readonly PayloadKey[]) =>
    new Promise((resolve, reject) => {
      answers.push((isThere) => {
        if (isThere) resolve(new Map(keys.map((key) => [payloadName(key), text])));
        else reject(new Error('away'));
      });
    });
  const payloads = new Payloads({ fetchPayloads } as unknown as Store);
  const effects = new Effects({
    self,
    payloads,
    tokens: {
      mint: () => new Uint8Array(),
      check: () => true,
      seal: (_: unknown, of: typeof claim, text: string) => `${of.fence}:${text}`,
    },
    log: () => undefined,
    starts: { note: () => undefined },
    router: { send: (command: Command) => sent.push(command) },
    gateway: {
      assign: (_from: NodeId, _workerId: WorkerId, assignments: readonly Assignment[]) => assigned.push(...assignments),
      kill: () => said.push('killed'),
      slotsReturned: (_from: NodeId, { count }: { count: number }) => said.push(`returned ${count}`),
    },
  } as unknown as EffectPorts);
  const task = { name: 't', handler: 'h', queue: 'q', timeoutMs: null, needs: [...Array(upstreamCount).keys()] };
  const version = { no: 1, dag: { tenant: 'default', name: 'd' }, spec: {}, task: () => task, workText: () => '' };
  const upstream = {
    succeededUpstream: task.needs,
    failedUpstream: [],
    missingUpstream: [],
    checkpoint: null,
    runInfo: null,
  };
  const rest = { hasParams: true, hookEvent: null, decision: null, map: null, ...upstream };
  const assignment = { kind: 'SendAssignment', gateway: self, workerId, claim, version, ...rest };
  const answer = async (isThere: boolean) => {
    answers.shift()?.(isThere);
    await new Promise((resolve) => setImmediate(resolve));
  };
  payloads.keep({ runId: claim.runId, taskNo: 0 as TaskNo }, text); // the others have to be read
  effects.send([assignment as unknown as Effect]);
  return { effects, assigned, said, answer, payloads, sent };
}

test('a task sees all its inputs, also when others push them out of memory while they are read (I36)', async () => {
  const { assigned, answer, payloads } = setUp(4);
  const reading = answer(true);
  for (let no = 0; no < 5; no++)
    payloads.keep({ runId: 1 as RunId, taskNo: no as TaskNo }, 'x'.repeat(8 * 1024 * 1024));
  await reading;
  expect(assigned[0]?.upstream).toHaveLength(4);
  expect(assigned[0]?.params).not.toBeNull();
});

test('large outputs are sent by reference, and so are small ones that are many (I36)', async () => {
  const large = setUp(3, 64 * 1024 + 1);
  await large.answer(true);
  const [one] = large.assigned;
  expect([one?.upstream.length, one?.references.length]).toEqual([0, 3]);
  expect(one?.references[1]).toMatchObject({ taskName: 't', bytes: 64 * 1024 + 1 });
  expect(unpackOutputs(one?.references[1]?.id.slice(2) ?? '')).toEqual({ of: 'task', no: 1 });
  const many = setUp(20, 64 * 1024);
  await many.answer(true);
  expect([many.assigned[0]?.upstream.length, many.assigned[0]?.references.length]).toEqual([16, 4]);
});

test('a task with more params than a message can bring fails, and says why (I56)', async () => {
  const { assigned, answer, sent, said } = setUp(4, 13 * 1024 * 1024);
  await answer(true);
  expect(assigned).toEqual([]);
  expect(said).toEqual(['returned 1']);
  expect(sent).toMatchObject([
    { kind: 'ReportAttempt', claim, outcome: 'permanent', error: expect.stringMatching(/larger than/) },
  ]);
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
