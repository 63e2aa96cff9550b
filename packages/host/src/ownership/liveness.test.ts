import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';
import { expect, test } from 'vitest';
import { Liveness } from './liveness.ts';

const [self, a, b] = ['self', 'a', 'b'] as NodeId[] as [NodeId, NodeId, NodeId];
const seen = (beat: number): NodeSeen[] => [
  {
    nodeId: a,
    beat,
    peerAddress: '',
    gatewayAddress: '',
    dataAddress: '',
    leaving: false,
    reach: null,
    journalFormat: null,
  },
];

test('a node whose beat is read unchanged for the whole lease is dead, and not a moment sooner (I18)', () => {
  const liveness = new Liveness(self, 3_000);
  for (let at = 0; at <= 2_500; at += 500) liveness.read(seen(7), at);
  expect(liveness.isDead(a)).toBe(false);
  liveness.read(seen(7), 3_000);
  expect(liveness.isDead(a)).toBe(true);
});

test('a beat that rises begins a new span', () => {
  const liveness = new Liveness(self, 3_000);
  for (let at = 0; at <= 2_500; at += 500) liveness.read(seen(7), at);
  liveness.read(seen(8), 3_000);
  liveness.read(seen(8), 5_500);
  expect(liveness.isDead(a)).toBe(false);
  expect(liveness.isSurelyAlive(a)).toBe(true);
});

test('time in which the database could not be read makes nobody expire (I18)', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(seen(7), 0);
  liveness.lostSight();
  liveness.read(seen(7), 60_000);
  expect(liveness.isDead(a)).toBe(false);
});

test('of a long pause of our own only a bounded part counts', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(seen(7), 0);
  liveness.read(seen(7), 3_600_000);
  expect(liveness.isDead(a)).toBe(false);
});

test('a node that was never seen to beat is not surely alive', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(seen(1), 0);
  expect(liveness.isSurelyAlive(a)).toBe(false);
});

test('a node that was forgotten and comes back is looked at anew, though its beat begins where it stood (I72)', () => {
  const liveness = new Liveness(self, 3_000);
  for (let at = 0; at <= 3_000; at += 500) liveness.read(seen(1), at);
  expect(liveness.isDead(a)).toBe(true);
  liveness.forget(a);
  liveness.read(seen(1), 3_500);
  expect(liveness.isDead(a)).toBe(false);
  liveness.read(seen(2), 4_000);
  expect(liveness.isSurelyAlive(a)).toBe(true);
});

/** Rows of nodes: who, at which address, with which beat. */
const rows = (...nodes: readonly (readonly [NodeId, string, number])[]): NodeSeen[] =>
  nodes.map(([nodeId, peerAddress, beat]) => ({ ...seen(beat)[0]!, nodeId, peerAddress }));

test('a node is dead as soon as another process has its address', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(rows([self, 'x:1', 1], [a, 'x:2', 7]), 0);
  liveness.read(rows([self, 'x:1', 2], [a, 'x:2', 8]), 500);
  liveness.read(rows([self, 'x:1', 2], [a, 'x:2', 8], [b, 'x:2', 1]), 1_000);
  expect([liveness.isDead(a), liveness.isDead(b)]).toEqual([true, false]);
});

test('whoever had our own address is dead when we begin', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(rows([self, 'x:1', 1], [a, 'x:1', 7], [b, 'x:2', 7]), 0);
  expect([liveness.isDead(self), liveness.isDead(a), liveness.isDead(b)]).toEqual([false, true, false]);
});

test('of two nodes with one address that were first seen together the one that beats is there', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(rows([a, 'x:2', 7], [b, 'x:2', 1]), 0);
  expect([liveness.isDead(a), liveness.isDead(b)]).toEqual([false, false]);
  liveness.read(rows([a, 'x:2', 7], [b, 'x:2', 2]), 500);
  expect([liveness.isDead(a), liveness.isDead(b)]).toEqual([true, false]);
});

test('two servers that were given one address are both alive again with their next beat, and stay so', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(rows([a, 'x:2', 7]), 0);
  liveness.read(rows([a, 'x:2', 8], [b, 'x:2', 1]), 500);
  for (let i = 1; i < 10; i++) liveness.read(rows([a, 'x:2', 8 + i], [b, 'x:2', 1 + i]), 500 + i * 1_000);
  expect([liveness.isSurelyAlive(a), liveness.isSurelyAlive(b)]).toEqual([true, true]);
});

test('nodes that tell no address are no successors of each other', () => {
  const liveness = new Liveness(self, 3_000);
  liveness.read(rows([a, '', 7]), 0);
  liveness.read(rows([a, '', 7], [b, '', 1]), 500);
  expect(liveness.isDead(a)).toBe(false);
});
