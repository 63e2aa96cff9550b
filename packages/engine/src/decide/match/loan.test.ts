import { expect, test } from 'vitest';
import type { Command, LendSlots } from '../../model/command.ts';
import type { NodeId, QueueName, WorkerId } from '../../model/ids.ts';
import { scenario, TENANT } from '../../testing/scenario.ts';

const workerId = 'w-moved' as WorkerId;

const lend = (gateway: string, count: number, standing: boolean): Command => ({
  kind: 'LendSlots',
  gateway: gateway as NodeId,
  workerId,
  tenants: [TENANT],
  queues: ['other' as QueueName],
  count,
  standing,
  agoMs: 0,
});

test('what one gateway lent goes back to it when another one lends slots of the same worker (I24, I29)', () => {
  const box = scenario({ audit: false });
  box.feed(lend('first', 4, true));
  box.feed(lend('second', 1, false));
  const returned = box.effects.filter(({ kind }) => kind === 'ReturnSlots');
  expect(returned).toEqual([
    { kind: 'ReturnSlots', gateway: 'first', workerId, count: 4, stream: 0 },
    { kind: 'ReturnSlots', gateway: 'second', workerId, count: 1, stream: 0 },
  ]);
});

test('slots of a stream that is gone are lent no more, and nobody is told: the new stream lends them again (I24)', () => {
  const box = scenario({ audit: false });
  const traits = { slots: 2, resources: { cpu: 2000 }, labels: {} };
  const streamed = (stream: number): Command => ({
    ...(lend('only', 2, true) as LendSlots),
    ...{ stream, traits, room: { cpu: 2000 } },
  });
  const recall = (stream: number): Command => ({
    ...{ kind: 'RecallSlots', gateway: 'only' as NodeId, workerId, count: 9, withRoom: true, stream },
  });
  box.feed(streamed(1));
  box.feed(streamed(2));
  box.feed(recall(1));
  const returned = () => box.effects.filter(({ kind }) => kind === 'ReturnSlots');
  expect(returned()).toEqual([]);
  box.feed(recall(2));
  expect(returned()).toMatchObject([{ count: 2, room: { cpu: 2000 }, stream: 2 }]);
});

test('a loan of an older stream that comes late changes nothing (I24)', () => {
  const box = scenario({ audit: false });
  const streamed = (stream: number): Command => ({ ...(lend('only', 2, true) as LendSlots), stream });
  box.feed(streamed(2));
  box.feed(streamed(1));
  box.feed({ ...{ kind: 'RecallSlots', gateway: 'only' as NodeId, workerId, count: 9, withRoom: true, stream: 2 } });
  expect(box.effects.filter(({ kind }) => kind === 'ReturnSlots')).toMatchObject([{ count: 2, stream: 2 }]);
});

test('each gateway numbers its own streams: one with a lower number lends as well (I29)', () => {
  const box = scenario({ audit: false });
  const recall = { kind: 'RecallSlots', workerId, count: 9, withRoom: true } as const;
  box.feed({ ...(lend('first', 0, true) as LendSlots), stream: 7 });
  box.feed({ kind: 'WorkerHeard', gateway: 'second' as NodeId, workerId, agoMs: 0, holds: [], knows: [] });
  box.feed({ ...(lend('second', 2, true) as LendSlots), stream: 1 });
  box.effects.length = 0;
  box.feed({ ...recall, gateway: 'second' as NodeId, stream: 1 });
  expect(box.effects.filter(({ kind }) => kind === 'ReturnSlots')).toMatchObject([{ gateway: 'second', count: 2 }]);
});
