import type { Epoch, NodeId, ShardNo } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { Directory } from './directory.ts';

const announce = (directory: Directory, epoch: number) =>
  directory.announce('n' as NodeId, [{ shard: 3 as ShardNo, epoch: epoch as Epoch }]);

test('whoever waits is told of the next change, once; who has given up is not', () => {
  const directory = new Directory();
  const told: string[] = [];
  directory.onChange(() => told.push('waits'));
  directory.onChange(() => told.push('gave up'))();
  // Told, and waits again: for the next change, not for this one.
  directory.onChange(() => directory.onChange(() => told.push('again')));
  announce(directory, 1);
  expect(told).toEqual(['waits']);
  announce(directory, 2);
  expect(told).toEqual(['waits', 'again']);
});
