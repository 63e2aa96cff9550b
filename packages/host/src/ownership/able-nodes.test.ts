import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';
import { expect, test } from 'vitest';
import { ableNodes } from './able-nodes.ts';

type Told = { cut?: string[]; workers?: boolean; leaving?: boolean; older?: boolean };
const node = (nodeId: string, { cut = [], workers = false, leaving = false, older = false }: Told): NodeSeen => ({
  nodeId: nodeId as NodeId,
  beat: 1,
  peerAddress: '',
  gatewayAddress: '',
  dataAddress: '',
  leaving,
  reach: older ? null : { cutFrom: cut as NodeId[], hasWorkers: workers },
  journalFormat: null,
});

test.each<[string, Record<string, Told>, string]>([
  ['nothing is cut', { a: { workers: true }, b: {}, c: {} }, 'abc'],
  ['nobody has a worker', { a: { cut: ['b'] }, b: { cut: ['a'] } }, 'ab'],
  [
    'b is cut off and has no worker',
    { a: { workers: true, cut: ['b'] }, b: { cut: ['a', 'c'] }, c: { cut: ['b'] } },
    'ac',
  ],
  ['only b notices that it is cut off', { a: { workers: true }, b: { cut: ['a'] } }, 'a'],
  ['only the other side notices it', { a: { workers: true, cut: ['b'] }, b: {} }, 'a'],
  ['b is cut off and has a worker of its own', { a: { workers: true, cut: ['b'] }, b: { workers: true } }, 'ab'],
  ['b reaches only c, which has no worker', { a: { workers: true }, b: { cut: ['a'] }, c: {} }, 'ac'],
  [
    'all are cut from all',
    { a: { cut: ['b', 'c'] }, b: { workers: true, cut: ['a', 'c'] }, c: { cut: ['a', 'b'] } },
    'b',
  ],
  ['the only one with workers leaves, and all reach it', { a: { workers: true, leaving: true }, b: {}, c: {} }, 'bc'],
  [
    'the only one with workers leaves, and nobody reaches it',
    { a: { workers: true, leaving: true, cut: ['b'] }, b: {} },
    'b',
  ],
  [
    'an older server is there, which does not tell',
    { a: { workers: true }, b: { cut: ['a'] }, c: { older: true } },
    'abc',
  ],
])('%s', (_, told, expected) => {
  const nodes = Object.entries(told).map(([nodeId, one]) => node(nodeId, one));
  expect(ableNodes(nodes).map(({ nodeId }) => nodeId)).toEqual(expected.split(''));
});
