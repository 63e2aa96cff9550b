import { createHmac } from 'node:crypto';
import type { AttemptNo, ClaimRef, Fence, RunId, ShardNo, TaskNo, WorkerId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { HmacTokens } from './tokens.ts';

const tokenKey = Buffer.alloc(32, 7);
const incarnation = '0190a000-0000-7000-8000-000000000001';
const shard = 5 as ShardNo;
const workerId = '0190a000-0000-7000-8000-0000000000aa' as WorkerId;
const claim: ClaimRef = {
  runId: (2 ** 40) as RunId,
  taskNo: 3 as TaskNo,
  attemptNo: 2 as AttemptNo,
  fence: 9 as Fence,
};

test('a token is the beginning of an HMAC-SHA-256 over incarnation, worker and claim', () => {
  const fields = Buffer.alloc(26);
  fields.writeUInt16BE(shard, 0);
  fields.writeBigUInt64BE(BigInt(claim.runId), 2);
  fields.writeUInt32BE(claim.taskNo, 10);
  fields.writeUInt32BE(claim.attemptNo, 14);
  fields.writeBigUInt64BE(BigInt(claim.fence), 18);
  const uuids = [incarnation, workerId].map((uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex'));
  const said = Buffer.concat([Buffer.from('claim'), ...uuids, fields]);
  const expected = createHmac('sha256', tokenKey).update(said).digest().subarray(0, 16);
  expect(Buffer.from(new HmacTokens({ tokenKey, incarnation }).mint(shard, claim, workerId))).toEqual(expected);
});

test('a token is of no use for anything but its claim, nor after a restore (I20, I64)', () => {
  const tokens = new HmacTokens({ tokenKey, incarnation });
  const token = tokens.mint(shard, claim, workerId);
  expect(tokens.check(shard, claim, workerId, token)).toBe(true);
  const others: [ShardNo, ClaimRef][] = [
    [6 as ShardNo, claim],
    [shard, { ...claim, runId: (claim.runId + 1) as RunId }],
    [shard, { ...claim, taskNo: 4 as TaskNo }],
    [shard, { ...claim, attemptNo: 3 as AttemptNo }],
    [shard, { ...claim, fence: 10 as Fence }],
  ];
  for (const [otherShard, other] of others) expect(tokens.check(otherShard, other, workerId, token)).toBe(false);
  const restored = new HmacTokens({ tokenKey, incarnation: incarnation.replace('1', '2') });
  expect(restored.check(shard, claim, workerId, token)).toBe(false);
});

test('a token is of no use to another worker, in any order of asking (I20)', () => {
  const tokens = new HmacTokens({ tokenKey, incarnation });
  const other = workerId.replace('aa', 'ab') as WorkerId;
  const [mine, theirs] = [tokens.mint(shard, claim, workerId), tokens.mint(shard, claim, other)];
  expect([workerId, other, workerId].map((id) => tokens.check(shard, claim, id, mine))).toEqual([true, false, true]);
  expect([workerId, other, workerId].map((id) => tokens.check(shard, claim, id, theirs))).toEqual([false, true, false]);
  expect(() => tokens.mint(shard, claim, 'w1' as WorkerId)).toThrow('not a UUID');
  expect(tokens.check(shard, claim, other, theirs)).toBe(true);
});

test.each([0, 15, 17, 256])('a token of %i bytes is refused', (length) => {
  const tokens = new HmacTokens({ tokenKey, incarnation });
  expect(tokens.check(shard, claim, workerId, Buffer.alloc(length))).toBe(false);
});

test('a sealed text can be opened for its claim, and is good for nothing else (I20, I36)', () => {
  const tokens = new HmacTokens({ tokenKey, incarnation });
  const sealed = tokens.seal(shard, claim, 'a.b');
  expect(tokens.open(shard, claim, sealed)).toBe('a.b');
  expect(tokens.open(shard, { ...claim, fence: 10 as Fence }, sealed)).toBeNull();
  expect(tokens.open(shard, { ...claim, runId: 1 as RunId }, sealed)).toBeNull();
  expect(tokens.open(6 as ShardNo, claim, sealed)).toBeNull();
  expect(tokens.open(shard, claim, sealed.replace('a.b', 'a.c'))).toBeNull();
  for (const forged of ['', '.', 'a.b', 'a.b.', sealed.slice(0, -1), `a.${sealed}`]) {
    expect(tokens.open(shard, claim, forged)).toBeNull();
  }
  const restored = new HmacTokens({ tokenKey, incarnation: incarnation.replace('1', '2') });
  expect(restored.open(shard, claim, sealed)).toBeNull();
});
