import type { CloseDeadLetters, Instant, RetireDag } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { Upkeep } from './upkeep.ts';

const letter = (shard: number, runId: number) => ({ shard, runId, taskNo: 0, attemptNo: 1 }) as never;

test('letters that are too old, or too many, are closed by the owner of each shard, and by nobody else (I43)', async () => {
  const asked: CloseDeadLetters[] = [];
  const wanted: { olderThan: Instant; mostOfDag: number; limit: number }[] = [];
  const store = {
    expiringDeadLetters: (expiry: (typeof wanted)[number]) => {
      wanted.push(expiry);
      return Promise.resolve([letter(1, 10), letter(2, 20), letter(1, 11)]);
    },
  };
  const ask = (command: CloseDeadLetters | RetireDag) => {
    if (command.kind === 'CloseDeadLetters') asked.push(command);
    return Promise.resolve();
  };
  const upkeep = new Upkeep(store as never, 30, { days: 7, ask }, () => undefined);
  expect(upkeep.retention).toMatchObject({ runDays: 30, deadLetterDays: 7 });
  expect(await upkeep.expireDeadLetters()).toBe(3);
  expect(
    asked.map(({ shard, tenantId, as, deadLetters }) => [shard, tenantId, as, deadLetters.map(({ runId }) => runId)]),
  ).toEqual([
    [1, null, 'expired', [10, 11]],
    [2, null, 'expired', [20]],
  ]);
  const ageDays = (Date.now() - (wanted[0]?.olderThan ?? 0)) / 86_400_000;
  expect([Math.round(ageDays), wanted[0]?.mostOfDag, wanted[0]?.limit]).toEqual([7, 10_000, 500]);
});
