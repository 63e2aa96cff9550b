import type { LimitName, NodeId, QueueName, TenantId, WaitingTask, WorkerId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import type { Session } from '../gateway/session.ts';
import type { PeerAnswer, PeerQuestion, QueueSeen, WorkerSeen } from '../peer/message.ts';
import { Fleet } from './fleet.ts';

const tenantId = 1 as TenantId;
const [self, other, third] = ['a', 'b', 'c'] as NodeId[] as [NodeId, NodeId, NodeId];

function seen(workerId: string, nodeId: NodeId, silentMs = 10): WorkerSeen {
  const plain = { queues: [], slots: 2, running: 1, holds: [{} as never], draining: false };
  return { workerId: workerId as WorkerId, tenantId, name: workerId, nodeId, silentMs, ...plain };
}

function load(queue: string, waiting: number, oldestMs: number | null = null): QueueSeen {
  return { tenantId, queue: queue as QueueName, waiting, held: 1, running: 2, oldestMs, startsPerMinute: 6 };
}

/** A node with one worker, and others that answer what they are told to, or nothing. */
function setUp(answers: ReadonlyMap<NodeId, PeerAnswer>) {
  const timers: (() => void)[] = [];
  const asked: { nodeId: NodeId; question: PeerQuestion }[] = [];
  const drained: WorkerId[] = [];
  const session = {
    workerId: 'w1',
    tenantId,
    name: 'w1',
    queues: [],
    slots: 2,
    traits: null,
    weights: null,
    reserved: null,
    held: new Map([['x', {}]]),
    isDraining: false,
  };
  const fleet = new Fleet({
    self,
    clock: {
      wall: () => 0 as never,
      mono: () => 0 as never,
      after: (_ms, run) => {
        timers.push(run);
        return () => void timers.splice(timers.indexOf(run), 1);
      },
    },
    gateway: {
      workers: () => [session as unknown as Session],
      silentMs: () => 10,
      progressOf: () => [],
      drain: (workerId) => {
        drained.push(workerId);
        return workerId === 'w1';
      },
    },
    peers: () => ({
      ask: (nodeId, question, reply) => {
        asked.push({ nodeId, question });
        const answer = answers.get(nodeId);
        if (answer !== undefined) queueMicrotask(() => reply(answer));
        return () => undefined;
      },
    }),
    nodes: () => [self, other, third],
    queues: () => [load('default', 2, 500)],
    slots: () => ({ holders: [], used: 1, waiting: 2 }),
    wait: () => ({ blockers: null, ahead: 2 }),
    blockers: () => [{ code: 'workers_busy', subject: 'queue:default', count: 2, since: 9 as never }],
  });
  return { fleet, timers, asked, drained };
}

test('the workers of all nodes; one that gives no answer in time is named', async () => {
  const { fleet, timers } = setUp(new Map([[other, { what: 'workers', workers: [seen('w0', other)] }]]));
  const listed = fleet.list();
  await Promise.resolve();
  expect(timers).toHaveLength(1);
  timers[0]!();
  expect(await listed).toEqual({
    workers: [seen('w0', other), seen('w1', self)],
    missing: [third],
  });
});

test('the queues of all nodes are added up; a node that knows no such question is named', async () => {
  const { fleet } = setUp(
    new Map<NodeId, PeerAnswer>([
      [other, { what: 'queues', queues: [load('default', 3, 900), load('gpu', 1)] }],
      [third, { what: 'drain', isFound: false }],
    ]),
  );
  expect(await fleet.queues()).toEqual({
    queues: [{ ...load('default', 5, 900), held: 2, running: 4, startsPerMinute: 12 }, load('gpu', 1)],
    missing: [third],
  });
});

test('a worker that two nodes know is where it was heard last', async () => {
  const moved: PeerAnswer = { what: 'workers', workers: [seen('w1', other, 3), seen('w2', other, 900)] };
  const left: PeerAnswer = { what: 'workers', workers: [seen('w2', third, 20)] };
  const { fleet } = setUp(
    new Map([
      [other, moved],
      [third, left],
    ]),
  );
  const { workers, missing } = await fleet.list();
  expect(workers.map(({ workerId, nodeId }) => [workerId, nodeId])).toEqual([
    ['w1', other],
    ['w2', third],
  ]);
  expect(missing).toEqual([]);
});

test.each([
  ['w1', false, true],
  ['w9', true, true],
  ['w9', false, false],
])('draining %s, found elsewhere %s: %s', async (workerId, isFound, expected) => {
  const answers = new Map<NodeId, PeerAnswer>([
    [other, { what: 'drain', isFound: false }],
    [third, { what: 'drain', isFound }],
  ]);
  const { fleet, asked, drained } = setUp(answers);
  expect(await fleet.drain(workerId as WorkerId, tenantId)).toBe(expected);
  expect(drained).toEqual([workerId]);
  expect(asked.map(({ nodeId }) => nodeId)).toEqual([other, third]);
});

test('what holds back work is added up over all nodes, the oldest counts', async () => {
  const blocker = { code: 'workers_busy', subject: 'queue:default', count: 3, since: 4 as never } as const;
  const { fleet, timers } = setUp(new Map<NodeId, PeerAnswer>([[other, { what: 'blockers', blockers: [blocker] }]]));
  const asked = fleet.blockers(tenantId);
  await Promise.resolve();
  timers[0]!();
  expect(await asked).toEqual({ blockers: [{ ...blocker, count: 5 }], missing: [third] });
});

test('what a task waits for is told by the node that has it, what is before it by all', async () => {
  const there = { blockers: [{ code: 'pool_full', subject: 'pool:db', slots: 2 }], ahead: 5 } as const;
  const { fleet, timers } = setUp(new Map<NodeId, PeerAnswer>([[other, { what: 'wait', seen: there }]]));
  const asked = fleet.wait({ tenantId, queue: 'default' } as WaitingTask);
  await Promise.resolve();
  timers[0]!();
  expect(await asked).toEqual({ ...there, ahead: 7, missing: [third] });
});

test('slots in use and waited for are added up over all nodes', async () => {
  const limit = 'pool/1/database' as LimitName;
  const seen = { holders: [{ run: 'r1', since: 5 } as never], used: 3, waiting: 1 };
  const { fleet, timers } = setUp(new Map<NodeId, PeerAnswer>([[other, { what: 'slots', seen }]]));
  const asked = fleet.slots(limit);
  await Promise.resolve();
  timers[0]!();
  expect(await asked).toEqual({ holders: seen.holders, used: 4, waiting: 3, missing: [third] });
});

test('what another node asks is answered from here', () => {
  const { fleet } = setUp(new Map());
  expect(fleet.answer({ what: 'workers' })).toEqual({
    what: 'workers',
    workers: [seen('w1', self)],
  });
  expect(fleet.answer({ what: 'queues' })).toEqual({ what: 'queues', queues: [load('default', 2, 500)] });
  expect(fleet.answer({ what: 'drain', workerId: 'w1' as WorkerId, tenantId })).toEqual({
    what: 'drain',
    isFound: true,
  });
});
