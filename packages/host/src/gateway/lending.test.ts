import type { Amounts, ClaimRef, Demand, NodeId, QueueName, TenantId, WorkerId } from '@signalbox/engine';
import { describe, expect, test } from 'vitest';
import type { WorkerDoor } from '../ports.ts';
import { Lending } from './lending.ts';
import { Session } from './session.ts';

const [self, other, third] = ['self', 'other', 'third'] as NodeId[] as [NodeId, NodeId, NodeId];
const queue = 'default' as QueueName;
const tenantId = 1 as TenantId;

function setUp(slots: number, tenants: readonly TenantId[] | null = [tenantId], resources: Amounts | null = null) {
  const forTenants = new Map<string, number>();
  const countFor = (tenant: TenantId | null, count: number) =>
    forTenants.set(String(tenant), (forTenants.get(String(tenant)) ?? 0) + count);
  const lent: [NodeId, number][] = [];
  const timers: (() => void)[] = [];
  const rooms: [NodeId, Amounts][] = [];
  const recalled: number[] = [];
  const lending = new Lending({
    self,
    isServing: () => true,
    clock: {
      wall: () => 0 as never,
      mono: () => 0 as never,
      after: (_ms, run) => {
        timers.push(run);
        return () => undefined;
      },
    },
    lendHere: (_session, { count, room }, forTenant) => {
      rooms.push([self, { ...room }]);
      countFor(forTenant, count);
      lent.push([self, count]);
    },
    recallHere: (_session, count) => recalled.push(count),
    lendThere: (nodeId, _session, { count, room }, forTenant) => {
      rooms.push([nodeId, { ...room }]);
      countFor(forTenant, count);
      lent.push([nodeId, count]);
      return true;
    },
  });
  const whom = { tenantId, tenants };
  const hello = { workerId: 'w' as WorkerId, ...whom, name: 'w', queues: [queue], slots, draining: false };
  const traits = resources === null ? {} : { traits: { slots, resources, labels: { zone: 'a' } } };
  const session = new Session({ ...hello, ...traits }, [], {} as WorkerDoor, 0);
  return { lending, session, lent, recalled, timers, forTenants, rooms };
}

const waits = (...counts: number[]): Demand[] => [{ tenantId, queue, counts }];

test('with nobody else waiting all slots stand lent to the engine of this node', () => {
  const { lending, session, lent } = setUp(5);
  lending.offer(session);
  expect(lent).toEqual([[self, 5]]);
  expect(session.free).toBe(0);
});

test('a slot is on loan to one owner at a time; the highest priority gets it first (I24)', () => {
  const { lending, session, lent } = setUp(3);
  lending.demand(other, waits(0, 0, 5, 0), []);
  lending.demand(third, waits(0, 2, 0, 0), []);
  lending.offer(session);
  expect(Object.fromEntries(lent)).toEqual({ third: 2, other: 1 });
  expect(session.free).toBe(0);
});

test('what waits for another worker than one gets no slot of that one', () => {
  const { lending, session, lent } = setUp(3);
  const apart = (from: string): Demand[] => [
    { tenantId, queue, counts: [0, 0, 0, 0], apart: [{ priority: 2, from: from as WorkerId }] },
  ];
  lending.demand(other, apart('w'), []);
  lending.demand(third, apart('v'), [session]);
  lending.offer(session);
  // One to whom it is another worker; nobody waits for the rest.
  expect(lent).toEqual([
    [third, 1],
    [self, 2],
  ]);
});

test('equals have their turn, this node too', () => {
  const { lending, session, lent } = setUp(4);
  lending.demand(self, waits(0, 0, 9, 0), []);
  lending.demand(other, waits(0, 0, 9, 0), []);
  lending.offer(session);
  expect(Object.fromEntries(lent)).toEqual({ self: 2, other: 2 });
});

test('slots that stand lent here are recalled when another node waits for them', () => {
  const { lending, session, recalled } = setUp(4);
  lending.offer(session);
  lending.demand(other, waits(0, 0, 1, 0), [session]);
  expect(recalled).toEqual([4]);
});

test('a loan that nobody answers ends after a second, and is lent again', () => {
  const { lending, session, lent, timers } = setUp(1);
  lending.demand(other, waits(0, 0, 1, 0), []);
  lending.offer(session);
  timers.splice(0).forEach((run) => run());
  expect(lent).toEqual([
    [other, 1],
    [self, 1],
  ]);
});

test('the time of one loan ends no newer one to the same node', () => {
  const { lending, session, lent, timers } = setUp(1);
  lending.demand(other, waits(0, 0, 1, 0), []);
  lending.offer(session);
  const [firstEnds] = timers.splice(0);
  // Claimed, and ended at once: the slot is lent to the same node again.
  session.endLoan(other, 1);
  lending.demand(other, waits(0, 0, 1, 0), []);
  lending.offer(session);
  firstEnds?.();
  expect(session.lent.get(other)).toBe(1);
  timers.splice(0).forEach((run) => run());
  expect(lent).toEqual([
    [other, 1],
    [other, 1],
    [self, 1],
  ]);
});

test('what comes back is of the newest loan, and those before it end in their time', () => {
  const { lending, session, timers } = setUp(4);
  lending.demand(other, waits(0, 0, 2, 0), []);
  lending.offer(session);
  session.endLoan(self, 2);
  lending.demand(other, waits(0, 0, 2, 0), []);
  lending.offer(session);
  session.endLoan(other, 1);
  expect(session.lent.get(other)).toBe(3);
  timers[0]?.();
  expect(session.lent.get(other)).toBe(1);
});

test('a loan that was lost on the way ends in its time, however many come and go after it (I29)', () => {
  const { lending, session, timers } = setUp(2);
  lending.demand(other, waits(0, 0, 1, 0), []);
  lending.offer(session);
  session.endLoan(self, 1);
  for (let round = 0; round < 3; round++) {
    lending.demand(other, waits(0, 0, 1, 0), []);
    lending.offer(session);
    session.endLoan(other, 1);
    session.endLoan(self, 1);
  }
  timers[0]?.();
  expect(session.lent.get(other)).toBe(0);
});

test('what another tenant waits for is not lent to by our worker (I65)', () => {
  const { lending, session, lent, recalled } = setUp(2);
  const theirs = waits(0, 5, 0, 0).map((demand) => ({ ...demand, tenantId: 2 as TenantId }));
  lending.offer(session);
  lending.demand(other, theirs, [session]);
  expect(recalled).toEqual([]);
  session.endLoan(self, 2);
  lending.offer(session);
  expect(lent).toEqual([
    [self, 2],
    [self, 2],
  ]);
});

describe('slots of workers that several tenants share', () => {
  const [a, b] = [7 as TenantId, 8 as TenantId];
  const waiting = (tenant: TenantId, count: number): Demand => ({ tenantId: tenant, queue, counts: [0, 0, count, 0] });

  test('go to tenants by weight, whichever node their tasks are on (I48)', () => {
    const { lending, session, forTenants } = setUp(12, null);
    lending.turns.setWeight(a, 1);
    lending.turns.setWeight(b, 3);
    lending.demand(other, [waiting(a, 100)], []);
    lending.demand(third, [waiting(a, 100), waiting(b, 100)], []);
    lending.offer(session);
    expect(Object.fromEntries(forTenants)).toEqual({ 7: 3, 8: 9 });
  });

  test('are lent to the engine of this node for one tenant while others wait elsewhere, and for all when nobody does', () => {
    const { lending, session, forTenants } = setUp(2, null);
    lending.demand(self, [waiting(a, 1)], []);
    lending.offer(session);
    expect(Object.fromEntries(forTenants)).toEqual({ 7: 1, null: 1 });
  });

  test('never go to a tenant that the worker does not serve (I65)', () => {
    const { lending, session, lent } = setUp(3, [a]);
    lending.demand(other, [waiting(b, 5)], []);
    lending.offer(session);
    expect(lent).toEqual([[self, 3]]);
  });
});

describe('a worker that gives its queues weights', () => {
  const [high, batch] = ['high', 'batch'] as QueueName[] as [QueueName, QueueName];
  const waiting = (name: QueueName, tenant = tenantId): Demand => ({
    tenantId: tenant,
    queue: name,
    counts: [0, 0, 100, 0],
  });
  const weighed = (slots: number, tenants: readonly TenantId[] | null = [tenantId]) => {
    const hello = { workerId: 'w' as WorkerId, tenantId, tenants, name: 'w', slots, draining: false };
    const queues = { queues: [high, batch], weights: { high: 4, batch: 2 } };
    return new Session({ ...hello, ...queues }, [], {} as WorkerDoor, 0);
  };

  test('is lent in that proportion to nodes that wait in one of them each', () => {
    const { lending, lent } = setUp(0);
    lending.demand(other, [waiting(batch)], []);
    lending.demand(third, [waiting(high)], []);
    lending.offer(weighed(12));
    expect(Object.fromEntries(lent)).toEqual({ other: 4, third: 8 });
  });

  test('is lent by tenant first (I48)', () => {
    const { lending, forTenants } = setUp(0);
    lending.demand(other, [waiting(batch, 7 as TenantId)], []);
    lending.demand(third, [waiting(high, 8 as TenantId)], []);
    lending.offer(weighed(12, null));
    expect(Object.fromEntries(forTenants)).toEqual({ 7: 6, 8: 6 });
  });
});

describe('resources', () => {
  const asks = (resources: Amounts, counts = [0, 0, 1, 0], more = {}): Demand => ({
    tenantId,
    queue,
    counts,
    request: { resources, labels: {}, exclusive: false, noSpot: false, ...more },
  });
  const claim = (fence: number) => ({ runId: 1, taskNo: 0, attemptNo: 1, fence }) as ClaimRef;
  const booking = (resources: Amounts, exclusive = false) => ({ slots: 1, resources, exclusive });

  test('stand lent to the engine of this node with the slots', () => {
    const { lending, session, rooms } = setUp(2, undefined, { cpu: 4_000 });
    lending.offer(session);
    expect(rooms).toEqual([[self, { cpu: 4_000 }]]);
    expect(session.roomLeft).toEqual({});
  });

  test('go to a node that asks with what its task asks for, and no more (I24)', () => {
    const { lending, session, rooms } = setUp(4, undefined, { cpu: 4_000, gpu: 1 });
    lending.demand(other, [asks({ gpu: 1 }, [0, 0, 3, 0])], []);
    lending.demand(third, [asks({ cpu: 1_500 }, [0, 0, 2, 0])], []);
    lending.offer(session);
    const sum = Object.fromEntries(rooms);
    expect(sum).toEqual({ other: { gpu: 1 }, third: { cpu: 3_000 }, self: { cpu: 1_000 } });
  });

  test('a worker that does not fit is not lent for it', () => {
    const { lending, session, lent } = setUp(2, undefined, { cpu: 4_000 });
    lending.demand(other, [asks({ cpu: 5_000 }), asks({}, [1, 0, 0, 0], { labels: { zone: 'b' } })], []);
    lending.offer(session);
    expect(lent).toEqual([[self, 2]]);
  });

  test('what the engine here has unused is recalled for a node whose task it fits', () => {
    const { lending, session, recalled } = setUp(2, undefined, { cpu: 4_000 });
    lending.offer(session);
    lending.demand(other, [asks({ cpu: 5_000 })], [session]);
    expect(recalled).toEqual([]);
    lending.demand(other, [asks({ cpu: 3_000 })], [session]);
    expect(recalled).toEqual([2]);
  });

  test('are free again when the claim is over, or its loan; never twice (I45)', () => {
    const { lending, session, timers } = setUp(2, undefined, { cpu: 4_000 });
    lending.demand(other, [asks({ cpu: 1_000 }, [0, 0, 2, 0])], []);
    lending.offer(session);
    session.endLoan(other, 1, { cpu: 1_000 });
    session.hold(claim(1), booking({ cpu: 1_000 }));
    expect(session.untaken()).toEqual({ cpu: 3_000 });
    for (const timer of timers) timer();
    for (const timer of timers) timer();
    expect(session.untaken()).toEqual({ cpu: 3_000 });
    session.endAllLoans(self);
    expect(session.roomLeft).toEqual({ cpu: 3_000 });
    session.release('1/0/1');
    session.release('1/0/1');
    expect(session.roomLeft).toEqual({ cpu: 4_000 });
  });

  test('more than the worker has is never lent, also after claims that came late (I24)', () => {
    const { session } = setUp(2, undefined, { cpu: 1_000 });
    session.hold(claim(1), booking({ cpu: 900 }));
    session.hold(claim(2), booking({ cpu: 900 }));
    expect(session.roomLeft).toEqual({});
    session.release('1/0/1');
    expect(session.roomLeft).toEqual({ cpu: 100 });
  });

  test('a task that wants the worker for itself gets all slots of an idle one, and nothing is lent beside it', () => {
    const { lending, session, lent } = setUp(3, undefined, {});
    const alone = asks({}, [0, 0, 1, 0], { exclusive: true });
    session.hold(claim(1), undefined);
    lending.demand(other, [alone], []);
    lending.offer(session);
    expect(lent).toEqual([[self, 2]]);
    session.release('1/0/1');
    session.endAllLoans(self);
    lending.demand(other, [alone], []);
    lending.offer(session);
    expect(lent.at(-1)).toEqual([other, 3]);
    session.endLoan(other, 3);
    session.hold(claim(2), { slots: 3, resources: {}, exclusive: true });
    expect(session.free).toBe(0);
    session.release('1/0/2');
    expect(session.free).toBe(3);
  });

  test('what comes back while no slot is free goes where the slots are', () => {
    const { lending, session, rooms } = setUp(2, undefined, { cpu: 4_000 });
    lending.demand(other, [asks({ cpu: 4_000 })], []);
    lending.offer(session);
    session.endLoan(other, 0, { cpu: 3_000 });
    lending.offer(session);
    expect(rooms.at(-1)).toEqual([self, { cpu: 3_000 }]);
  });
});

describe('gangs', () => {
  const gang = (size: number, head: number, more = {}): Demand => ({
    ...{ tenantId, queue, head },
    counts: [0, 0, size, 0],
    request: { resources: {}, labels: {}, exclusive: false, noSpot: false, gang: { size, ...more } },
  });

  test('get one slot of each worker, or several where members may share one', () => {
    const { lending, session, lent } = setUp(4, undefined, {});
    lending.demand(other, [gang(3, 1)], []);
    lending.offer(session);
    expect(Object.fromEntries(lent)).toEqual({ other: 1, self: 3 });
    const shared = setUp(4, undefined, {});
    shared.lending.demand(other, [gang(3, 1, { share: true })], []);
    shared.lending.offer(shared.session);
    expect(Object.fromEntries(shared.lent)).toEqual({ other: 3, self: 1 });
  });

  test('do not take turns: the one that has waited longest goes first at every gateway', () => {
    for (const [first, second] of [[other, third] as const, [third, other] as const]) {
      const { lending, session, lent } = setUp(1, undefined, {});
      lending.demand(first, [gang(3, first === other ? 1 : 2)], []);
      lending.demand(second, [gang(3, second === other ? 1 : 2)], []);
      lending.offer(session);
      expect(Object.fromEntries(lent)).toEqual({ other: 1 });
    }
  });
});

test('of a stream that is gone nothing is lent when the time of a loan ends (I24, I29)', () => {
  const { lending, session, lent, timers } = setUp(2, [tenantId], { cpu: 2_000 });
  const demand = [
    { ...waits(1)[0]!, request: { resources: { cpu: 1_000 }, labels: {}, exclusive: false, noSpot: false } },
  ];
  lending.demand(other, demand, []);
  lending.offer(session);
  expect(lent).toEqual([
    [other, 1],
    [self, 1],
  ]);
  session.isGone = true;
  for (const fire of timers) fire();
  expect(lent).toHaveLength(2);
});

test('what a gang cannot use is for others, until its node tells again (I29)', () => {
  const { lending, session, lent } = setUp(1, [tenantId], { cpu: 1_000 });
  const gang = { resources: {}, labels: {}, exclusive: false, noSpot: false, gang: { size: 2, share: true as const } };
  lending.demand(other, [{ ...waits(0, 0, 4, 0)[0]!, request: gang }], []);
  lending.demand(third, waits(0, 0, 4, 0), []);
  lending.offer(session);
  session.endLoan(other, 1);
  lending.offer(session);
  session.endLoan(third, 1);
  lending.offer(session);
  expect(lent).toEqual([
    [other, 1],
    [third, 1],
    [third, 1],
  ]);
});
