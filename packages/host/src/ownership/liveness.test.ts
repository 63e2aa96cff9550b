import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';
import { expect, test } from 'vitest';
import { Liveness } from './liveness.ts';

const a = 'a' as NodeId;
const seen = (beat: number): NodeSeen[] => [
  { nodeId: a, beat, peerAddress: '', gatewayAddress: '', dataAddress: '', leaving: false, reach: null },
];

test('a node whose beat is read unchanged for the whole lease is dead, and not a moment sooner (I18)', () => {
  const liveness = new Liveness(3_000);
  for (let at = 0; at <= 2_500; at += 500) liveness.read(seen(7), at);
  expect(liveness.isDead(a)).toBe(false);
  liveness.read(seen(7), 3_000);
  expect(liveness.isDead(a)).toBe(true);
});

test('a beat that rises begins a new span', () => {
  const liveness = new Liveness(3_000);
  for (let at = 0; at <= 2_500; at += 500) liveness.read(seen(7), at);
  liveness.read(seen(8), 3_000);
  liveness.read(seen(8), 5_500);
  expect(liveness.isDead(a)).toBe(false);
  expect(liveness.isSurelyAlive(a)).toBe(true);
});

test('time in which the database could not be read makes nobody expire (I18)', () => {
  const liveness = new Liveness(3_000);
  liveness.read(seen(7), 0);
  liveness.lostSight();
  liveness.read(seen(7), 60_000);
  expect(liveness.isDead(a)).toBe(false);
});

test('of a long pause of our own only a bounded part counts', () => {
  const liveness = new Liveness(3_000);
  liveness.read(seen(7), 0);
  liveness.read(seen(7), 3_600_000);
  expect(liveness.isDead(a)).toBe(false);
});

test('a node that was never seen to beat is not surely alive', () => {
  const liveness = new Liveness(3_000);
  liveness.read(seen(1), 0);
  expect(liveness.isSurelyAlive(a)).toBe(false);
});

test('a node that was forgotten and comes back is looked at anew, though its beat begins where it stood (I72)', () => {
  const liveness = new Liveness(3_000);
  for (let at = 0; at <= 3_000; at += 500) liveness.read(seen(1), at);
  expect(liveness.isDead(a)).toBe(true);
  liveness.forget(a);
  liveness.read(seen(1), 3_500);
  expect(liveness.isDead(a)).toBe(false);
  liveness.read(seen(2), 4_000);
  expect(liveness.isSurelyAlive(a)).toBe(true);
});
