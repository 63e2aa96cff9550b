import type { NodeId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { placeShards } from './placement.ts';

const nodes = (count: number) => Array.from({ length: count }, (_, i) => `0190-node-${i * 7}` as NodeId);

test.each([1, 2, 3, 5])('every shard has a place among %i nodes, none far from its share (I18)', (count) => {
  const placed = placeShards(nodes(count));
  const shares = nodes(count).map((node) => placed.filter((owner) => owner === node).length);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(64);
  for (const share of shares) expect(share).toBeGreaterThan((64 / count) * 0.4);
});

test('when a node leaves only its shards move', () => {
  const before = placeShards(nodes(4));
  const after = placeShards(nodes(4).slice(0, 3));
  before.forEach((owner, shard) => {
    if (owner !== nodes(4)[3]) expect(after[shard]).toBe(owner);
  });
});

test('nobody there, nobody placed; the order of names does not matter', () => {
  expect(placeShards([]).every((owner) => owner === null)).toBe(true);
  expect(placeShards(nodes(3).reverse())).toEqual(placeShards(nodes(3)));
});
