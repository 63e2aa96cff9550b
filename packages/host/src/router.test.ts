import type { Command, Epoch, NodeId, ShardNo, TenantId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { Directory } from './directory.ts';
import type { ForwardResult } from './peer/message.ts';
import type { Peers } from './peer/peers.ts';
import { type Routed, Router } from './router.ts';
import type { Turns } from './turn/turns.ts';

const [self, other] = ['self', 'other'] as NodeId[] as [NodeId, NodeId];
const shard = 3 as ShardNo;
const command = { kind: 'SetSchedulePaused', shard, tenantId: 1 as TenantId } as unknown as Command;

function setUp() {
  let now = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const forwards: ((result: ForwardResult) => void)[] = [];
  const clock = {
    wall: () => 0 as never,
    mono: () => now as never,
    after: (delayMs: number, run: () => void) => {
      const timer = { at: now + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  };
  const pass = (ms: number) => {
    const until = now + ms;
    for (;;) {
      const [next] = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      timers = timers.filter((one) => one !== next);
      now = next.at;
      next.run();
    }
    now = until;
  };
  const directory = new Directory();
  const peers = {
    forward: (_to: NodeId, _epoch: number, _command: Command, reply: (result: ForwardResult) => void) =>
      forwards.push(reply),
  };
  const turns = { owns: () => false };
  const parts = { turns: turns as unknown as Turns, peers: () => peers as unknown as Peers, directory, clock };
  return { router: new Router(self, parts), directory, forwards, pass, timerCount: () => timers.length };
}

test('an owner that never answers keeps nobody waiting beyond the deadline (I60)', () => {
  const { router, directory, forwards, pass, timerCount } = setUp();
  directory.announce(other, [{ shard, epoch: 1 as Epoch }]);
  const results: Routed[] = [];
  router.send(command, 2_000, (result) => results.push(result));
  pass(1_900);
  expect(results).toEqual([]);
  pass(400);
  expect(results).toEqual([{ status: 'unknown' }]);
  forwards[0]?.({ status: 'answered', answer: { ok: true, kind: 'done' } });
  pass(10_000);
  expect(results).toHaveLength(1);
  expect(timerCount()).toBe(0);
});

test('with no owner in time it was certainly not done, and nobody does it later (I12)', () => {
  const { router, directory, forwards, pass } = setUp();
  const results: Routed[] = [];
  router.send(command, 1_000, (result) => results.push(result));
  pass(1_300);
  expect(results).toEqual([{ status: 'unavailable' }]);
  directory.announce(other, [{ shard, epoch: 1 as Epoch }]);
  pass(1_000);
  expect(forwards).toEqual([]);
});

const runId = shard * 65_536;
test.each([
  ['a retry', { kind: 'RetryTask', runId, taskNo: 0, tenantId: 1 }],
  ['a letter', { kind: 'ReplayDeadLetter', deadLetter: { runId, taskNo: 0, attemptNo: 1 }, tenantId: 1 }],
])('%s that may have been done is not sent again: it would be a second one (I12)', (_, asked) => {
  const { router, directory, forwards, pass } = setUp();
  directory.announce(other, [{ shard, epoch: 1 as Epoch }]);
  const results: Routed[] = [];
  router.send(asked as unknown as Command, 2_000, (result) => results.push(result));
  forwards[0]?.({ status: 'not_done', reason: 'not_owner' });
  pass(100);
  forwards[1]?.({ status: 'unknown' });
  pass(1_000);
  expect(results).toEqual([{ status: 'unknown' }]);
  expect(forwards).toHaveLength(2);
});
