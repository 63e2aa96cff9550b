import type { WorkerId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import type { Caller } from '../auth/bearer.ts';
import { TakenSlots } from './taken-slots.ts';

const caller = { credential: 'c', role: 'worker', work: { slots: 10, queues: null } } as unknown as Caller;
const workerOf = (name: string) => ({ workerId: name as WorkerId, by: { name } });

test('claims ahead of slots stay within the limit of the token, and are no obstacle to another worker', () => {
  const taken = new TakenSlots();
  const [first, second, third] = [workerOf('1'), workerOf('2'), workerOf('3')];
  taken.take(caller, { ...first, slots: 4 });
  expect(taken.takeAhead(caller, { by: first.by, count: 100 })).toBe(6);
  // Asked again, it gets the same and not less.
  expect(taken.takeAhead(caller, { by: first.by, count: 100 })).toBe(6);
  taken.take(caller, { ...second, slots: 4 });
  expect(taken.takeAhead(caller, { by: second.by, count: 100 })).toBe(0);
  expect(taken.takeAhead(caller, { by: first.by, count: 1 })).toBe(1);
  expect(taken.takeAhead(caller, { by: second.by, count: 100 })).toBe(1);
  expect(() => taken.take(caller, { ...third, slots: 4 })).toThrow('2 are free');
});
