import type {
  Command,
  Demand,
  Epoch,
  Labels,
  NodeId,
  QueueName,
  RunId,
  ShardNo,
  State,
  TenantId,
  WorkerId,
  WorkerTraits,
} from '@signalbox/engine';
import { expect, test } from 'vitest';
import { Directory } from '../directory.ts';
import { type Assignment, NO_HISTORY, type WorkerDoor } from '../ports.ts';
import type { Routed } from '../router.ts';
import { Gateway, type GatewayPorts } from './gateway.ts';

const [self, other] = ['self', 'other'] as NodeId[] as [NodeId, NodeId];
const workerId = 'w' as WorkerId;
const queue = 'default' as QueueName;
const claim = { runId: 65_536 as RunId, taskNo: 0, attemptNo: 1, fence: 1 } as Assignment['claim'];
const tenantId = 1 as TenantId;
const demand: Demand[] = [{ tenantId, queue, counts: [0, 0, 1, 0] }];

function setUp(slots = 1, traits?: WorkerTraits) {
  const commands: Command[] = [];
  const lent: NodeId[] = [];
  const told: string[] = [];
  const messages: object[] = [];
  const replies: ((result: Routed) => void)[] = [];
  let state: State | null = { shards: new Map() } as unknown as State;
  let timers: (() => void)[] = [];
  let mono = 0;
  const ports = {
    self,
    clock: {
      wall: () => 0,
      mono: () => mono,
      after: (_ms: number, run: () => void) => {
        timers.push(run);
        return () => undefined;
      },
    },
    log: () => undefined,
    tokens: { mint: () => new Uint8Array(), check: () => true },
    router: { send: (_command: Command, _ms: number, done: (result: Routed) => void) => replies.push(done) },
    turns: {
      current: () => state,
      inbox: { offer: ({ command }: { command: Command }) => commands.push(command) },
    },
    peers: () => ({
      tell: (nodeId: NodeId, message: { kind: string }) => {
        const { kind } = message;
        messages.push(message);
        told.push(`${kind} to ${nodeId}`);
        return kind === 'lent' && lent.push(nodeId) > 0;
      },
      tellAll: ({ kind }: { kind: string }) => void told.push(kind),
    }),
    directory: new Directory(),
    leaseMs: 15_000,
  };
  const gateway = new Gateway({ ...ports, history: NO_HISTORY } as unknown as GatewayPorts);
  const door = new Proxy({}, { get: () => () => undefined }) as WorkerDoor;
  const attachAgain = () =>
    gateway.attach(
      {
        workerId,
        tenantId,
        tenants: [tenantId],
        name: 'w',
        queues: [queue],
        slots,
        holds: [],
        draining: false,
        ...(traits && { traits }),
      },
      door,
    );
  const says = attachAgain();
  const free = () => gateway.workers()[0]?.free;
  const ringAll = () => {
    const due = timers;
    timers = [];
    for (const run of due) run();
  };
  const stopEngine = () => {
    state = null;
  };
  const pass = (ms: number) => {
    mono += ms;
  };
  return { gateway, says, commands, lent, told, messages, replies, free, ringAll, stopEngine, pass, attachAgain };
}

const assignment = { claim } as Assignment;
const report = {
  claim,
  token: new Uint8Array(),
  outcome: 'succeeded',
  output: null,
  error: null,
  startedAt: null,
} as const;

test('an answered report fills no slot, though a heartbeat that crossed the answer still shows it (I29)', () => {
  const { gateway, says, replies } = setUp();
  gateway.assign(self, workerId, [assignment]);
  says.reports([report]);
  replies[0]?.({ status: 'answered', answer: { ok: true, kind: 'recorded' } });
  says.heartbeat(1, [claim]);
  expect(gateway.workers()[0]?.held.size).toBe(0);
  says.heartbeat(2, []);
  expect(gateway.workers()[0]?.answered.size).toBe(0);
});

test('what a heartbeat missed is forgotten with its report (I73)', () => {
  const { gateway, says } = setUp();
  gateway.assign(self, workerId, [assignment]);
  says.heartbeat(1, []); // made before the assignment arrived
  expect(gateway.workers()[0]?.absent.size).toBe(1);
  says.reports([report]);
  expect(gateway.workers()[0]?.absent.size).toBe(0);
});

test('a claim that two heartbeats missed and the worker holds after all is proven before any owner hears of it (I17)', () => {
  const { gateway, says, told } = setUp();
  gateway.assign(other, workerId, [assignment]);
  says.heartbeat(1, []); // both made before the assignment arrived
  says.heartbeat(2, []);
  told.length = 0;
  says.holdings([{ shard: 1 as ShardNo, epoch: 2 as Epoch }], [claim]);
  // To leave the claim out would tell its new owner that nobody has it. The next stream brings the token.
  expect(told.filter((what) => what.startsWith('heard'))).toEqual([]);
  expect(gateway.workers()).toEqual([]);
});

test('how long a worker is silent is told by the clock that the host goes by', () => {
  const { gateway, says, pass } = setUp();
  const [session] = gateway.workers();
  pass(2_000);
  expect(gateway.silentMs(session!)).toBe(2_000);
  says.heartbeat(1, []);
  expect(gateway.silentMs(session!)).toBe(0);
});

test('an engine that begins is told what the worker has shown, not what was only sent to it (I25)', () => {
  const { gateway, commands } = setUp(2);
  gateway.assign(self, workerId, [assignment]);
  commands.length = 0;
  gateway.engineBegan();
  const told = commands.filter((command) => command.kind === 'WorkerHeard');
  expect(told).toMatchObject([{ workerId, holds: [] }]);
});

test('an engine that begins forgets what was meant for the one before it: slots are lent once (I24)', () => {
  const { gateway, commands } = setUp(3);
  gateway.engineBegan();
  expect(commands.map(({ kind }) => kind)).toEqual(['LendSlots', 'GatewayLost', 'WorkerHeard', 'LendSlots']);
});

test('without an engine nobody has to give slots back before another node gets them (I29)', () => {
  const { gateway, lent, stopEngine } = setUp();
  stopEngine();
  gateway.demand(other, demand);
  expect(lent).toEqual([other]);
});

test('what a worker lent is not lent again once its stream is gone (I25)', () => {
  const { gateway, says, lent, ringAll, stopEngine } = setUp();
  stopEngine();
  gateway.demand(other, demand);
  says.closed();
  gateway.demand(other, demand);
  ringAll();
  ringAll();
  expect(lent).toEqual([other]);
});

test('the last word of a worker goes to all owners, though claims were sent to it that it never took (I27)', () => {
  const { gateway, says, commands, told } = setUp(2);
  gateway.assign(self, workerId, [assignment]);
  says.draining();
  says.leaving();
  expect(commands).toContainEqual({ kind: 'WorkerLeft', gateway: self, workerId });
  expect(told).toContain('left');
});

test('an owner that took shards after a worker had left is told of it, for as long as it may matter (I27)', () => {
  const { gateway, says, told, commands, ringAll, pass } = setUp();
  gateway.start();
  says.leaving();
  says.closed();
  gateway.tellDeparted(other);
  expect(told).toContain('left to other');
  const before = commands.length;
  gateway.tellDeparted(self);
  expect(commands.slice(before)).toEqual([{ kind: 'WorkerLeft', gateway: self, workerId }]);
  pass(61_000);
  ringAll();
  gateway.tellDeparted(self);
  expect(commands.length).toBe(before + 1);
});

test('a worker whose stream breaks while it drains has not left', () => {
  const { says, commands, told } = setUp();
  says.draining();
  says.closed();
  expect(commands.map(({ kind }) => kind)).not.toContain('WorkerLeft');
  expect(told).not.toContain('left');
});

test('a worker that takes claims ahead of its slots is lent for more, and what is too much comes back when it takes fewer', () => {
  const { says, commands } = setUp(2);
  const lentOf = () => commands.flatMap((one) => (one.kind === 'LendSlots' ? [one.count] : []));
  expect(lentOf()).toEqual([2]);
  says.ahead(10);
  expect(lentOf()).toEqual([2, 10]);
  says.ahead(4);
  expect(commands.at(-1)).toMatchObject({ kind: 'RecallSlots', workerId, count: 6 });
});

test.each([
  [{ spot: 'true' }, true],
  [{ spot: 'false' }, false],
  [{}, false],
])('an owner that gets a slot for any task is told of the labels %j: %s (I24)', (labels: Labels, isTold) => {
  const traits = { slots: 1, resources: {}, labels };
  const { gateway, stopEngine, messages } = setUp(1, traits);
  stopEngine();
  gateway.demand(other, demand);
  expect(messages).toEqual([expect.objectContaining({ kind: 'lent', count: 1 })]);
  expect(messages[0]).toEqual(isTold ? expect.objectContaining({ traits }) : expect.not.objectContaining({ traits }));
});

test('what comes back of the stream before is not of this one, and what it claimed fills a slot of this one (I24)', () => {
  const { gateway, says, commands, free, attachAgain } = setUp(2);
  attachAgain();
  expect(free()).toBe(0);
  gateway.slotsReturned(self, { workerId, count: 2, stream: 1 });
  expect(free()).toBe(0);
  // Claimed before the worker connected again: what is lent now is one too many.
  gateway.assign(self, workerId, [{ ...assignment, stream: 1 }]);
  expect(commands.at(-1)).toMatchObject({ kind: 'RecallSlots', count: 1, stream: 2 });
  gateway.slotsReturned(self, { workerId, count: 1, stream: 2 });
  expect(free()).toBe(0);
  says.closed();
  expect(gateway.workers()).toHaveLength(1);
});
