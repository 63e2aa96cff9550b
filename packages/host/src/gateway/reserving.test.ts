import type { Amounts, ClaimRef, Demand, NodeId, QueueName, Request, TenantId, WorkerId } from '@signalbox/engine';
import { describe, expect, test } from 'vitest';
import type { WorkerDoor } from '../ports.ts';
import { Lending } from './lending.ts';
import { Session } from './session.ts';

const [self, other, third] = ['self', 'other', 'third'] as NodeId[] as [NodeId, NodeId, NodeId];
const queue = 'default' as QueueName;
const tenantId = 1 as TenantId;
const NORMAL = 2;

const asks = (resources: Amounts, exclusive = false): Request => ({ resources, labels: {}, exclusive, noSpot: false });
const LARGE = asks({ cpu: 4_000 });
/** Waits in this class, and wants a worker reserved. */
const large = (request = LARGE, reserve = NORMAL): Demand => ({
  ...{ tenantId, queue, request, reserve },
  counts: [0, 1, 2, 3].map((priority) => (priority === Math.min(reserve, 3) ? 1 : 0)),
});
const small = (priority = NORMAL, count = 5): Demand => ({
  ...{ tenantId, queue },
  counts: [0, 1, 2, 3].map((one) => (one === priority ? count : 0)),
});
const claim = (fence: number) => ({ runId: 1, taskNo: 0, attemptNo: 1, fence }) as ClaimRef;
const booking = (cpu: number) => ({ slots: 1, resources: { cpu }, exclusive: false });

function setUp(names: readonly string[] = ['w1']) {
  const lent: string[] = [];
  let mono = 0;
  const tell = (nodeId: NodeId, session: Session, count: number, only: Request | undefined) => {
    lent.push(`${count} of ${session.workerId} to ${nodeId}${only === undefined ? '' : ', reserved'}`);
    return true;
  };
  const lending = new Lending({
    self,
    isServing: () => true,
    clock: { wall: () => 0 as never, mono: () => mono as never, after: () => () => undefined },
    lendHere: (session, { count, only }) => void tell(self, session, count, only),
    recallHere: (session) => {
      session.endAllLoans(self);
      lending.offer(session);
    },
    lendThere: (nodeId, session, { count, only }) => tell(nodeId, session, count, only),
  });
  const sessions = names.map((name) => {
    const hello = { workerId: name as WorkerId, tenantId, tenants: [tenantId], name, queues: [queue], slots: 4 };
    const traits = { slots: 4, resources: { cpu: 4_000 }, labels: {} };
    return new Session({ ...hello, traits, draining: false }, [], {} as WorkerDoor, 0);
  });
  const [session] = sessions as [Session];
  const demand = (from: NodeId, ...wanted: Demand[]) => {
    lent.length = 0;
    lending.demand(from, wanted, sessions);
  };
  const pass = (ms: number) => {
    mono += ms;
  };
  return { lending, session, sessions, lent, demand, pass };
}

/** One that runs this much, with all its other slots lent to this node. */
function busy(names?: readonly string[]) {
  const box = setUp(names);
  box.session.hold(claim(1), booking(1_000));
  for (const session of box.sessions) box.lending.offer(session);
  return box;
}

describe('a worker that is reserved', () => {
  test('takes nothing of the same class or below, and nothing stands lent, until the task fits; then it is for that alone', () => {
    const { lending, session, lent, demand } = busy();
    demand(other, large());
    expect(session.reserved).toMatchObject({ nodeId: other, priority: NORMAL });
    expect(lent).toEqual([]);
    demand(third, small(NORMAL), small(3));
    lending.offer(session);
    expect(lent).toEqual([]);
    session.release('1/0/1');
    lending.offer(session);
    expect(lent).toEqual(['1 of w1 to other, reserved']);
  });

  test('still takes what is of a higher class', () => {
    const { lent, demand } = busy();
    demand(other, large());
    demand(third, small(1, 2));
    expect(lent).toEqual(['2 of w1 to third']);
  });

  test('of a task of this node: other tasks of this node do not get it either', () => {
    const { lending, session, lent, demand } = busy();
    demand(self, large(), small());
    expect(lent).toEqual([]);
    session.release('1/0/1');
    lending.offer(session);
    expect(lent).toEqual(['1 of w1 to self, reserved']);
  });

  test('for itself waits until it is idle, and gets all its slots', () => {
    const { lending, session, lent, demand } = busy();
    demand(other, large(asks({}, true)));
    expect(lent).toEqual([]);
    session.release('1/0/1');
    lending.offer(session);
    expect(lent).toEqual(['4 of w1 to other, reserved']);
  });

  test('is lent once for each time that the node tells: what comes back unused does not go to and fro', () => {
    const { lending, session, lent, demand } = busy();
    session.release('1/0/1');
    demand(other, large());
    session.endAllLoans(other);
    lending.offer(session);
    expect(lent).toEqual(['1 of w1 to other, reserved']);
    demand(other, large());
    expect(lent).toEqual(['1 of w1 to other, reserved']);
  });

  test.each([
    ['the task waits no more', (box: ReturnType<typeof busy>) => box.demand(other, small(NORMAL, 0))],
    ['nothing waits there any more', (box: ReturnType<typeof busy>) => box.demand(other)],
    ['its owner is gone', (box: ReturnType<typeof busy>) => box.lending.forget(other)],
    [
      'its owner says nothing',
      (box: ReturnType<typeof busy>) => {
        box.pass(6_000);
        box.lending.offer(box.session);
      },
    ],
  ])('is free again when %s', (_, end) => {
    const box = busy();
    box.demand(other, large());
    end(box);
    expect(box.session.reserved).toBeNull();
    expect(box.lent).toEqual(['3 of w1 to self']);
  });
});

describe('which worker', () => {
  test('the one that has room soonest; one for each task, and no more than half of them', () => {
    const { sessions, demand } = busy(['w1', 'w2', 'w3']);
    const [first, second] = sessions as [Session, Session];
    second.hold(claim(2), booking(500));
    sessions[2]!.hold(claim(3), booking(3_000));
    demand(other, large(), large(asks({ cpu: 3_800 })));
    demand(other, large(), large(asks({ cpu: 3_800 })));
    expect(sessions.map(({ reserved }) => reserved !== null)).toEqual([false, true, false]);
    expect(first.reserved).toBeNull();
  });

  test('not one that drains or is cordoned; when the reserved one does, another one is', () => {
    const { sessions, lending, demand } = busy(['w1', 'w2', 'w3', 'w4']);
    for (const session of sessions.slice(1)) session.hold(claim(9), booking(2_000));
    sessions[1]!.isCordoned = true;
    demand(other, large());
    expect(sessions.findIndex(({ reserved }) => reserved !== null)).toBe(0);
    sessions[0]!.isDraining = true;
    lending.recallAll(sessions[0]!);
    expect(sessions[0]!.reserved).toBeNull();
    demand(other, large());
    expect(sessions.findIndex(({ reserved }) => reserved !== null)).toBe(2);
  });

  test('a gang gets as many as it has members, of which each is lent once, when all of them can be', () => {
    const { sessions, lending, lent, demand } = busy(['w1', 'w2', 'w3']);
    const gang: Request = { ...LARGE, gang: { size: 3 } };
    const waits: Demand = { ...large(gang), counts: [0, 0, 3, 0], head: 1 };
    demand(other, waits);
    expect(sessions.map(({ reserved }) => reserved !== null)).toEqual([true, true, true]);
    sessions[0]!.release('1/0/1');
    lending.offer(sessions[0]!);
    for (const session of sessions) {
      session.endAllLoans(other);
      lending.offer(session);
    }
    expect(lent.toSorted()).toEqual(['w1', 'w2', 'w3'].map((name) => `1 of ${name} to other, reserved`));
    demand(other, waits);
    expect(lent).toHaveLength(3);
  });

  test('not one that could never hold it', () => {
    const { session, demand } = busy();
    demand(other, large(asks({ cpu: 5_000 })));
    expect(session.reserved).toBeNull();
  });
});
