import { expect, test } from 'vitest';
import type { Command } from '../../model/command.ts';
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
    { kind: 'ReturnSlots', gateway: 'first', workerId, count: 4 },
    { kind: 'ReturnSlots', gateway: 'second', workerId, count: 1 },
  ]);
});
