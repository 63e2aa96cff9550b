import { expect, test } from 'vitest';
import type { RunOrder } from './frames.ts';
import { orderText, readOrder } from './order-text.ts';

const plain: RunOrder = {
  functionName: 'f',
  tenant: 'default',
  dag: 'd',
  run: '0190b2f0-1234-7abc-8def-0123456789ab',
  task: 't',
  attempt: 2,
  fence: 7,
  effectKey: 'e',
  token: 'dG9rZW4',
  params: '{"a":"\\u0000"}',
  upstream: [],
  unfetched: [],
  failedUpstream: [],
  map: [],
  gang: null,
  inputs: '',
  runInfo: '',
  secrets: [],
  checkpoint: '',
};

test.each<[string, RunOrder]>([
  ['plain', plain],
  [
    'full',
    {
      ...plain,
      upstream: [
        { taskName: 'u', output: '[1]' },
        { taskName: 'v', output: '"ü"' },
      ],
      unfetched: ['w'],
      failedUpstream: ['x'],
      map: [{ group: 'g', index: 3, item: '{"n":1}' }],
      gang: { rank: 3, size: 4, hosts: ['a', 'b', 'c', ''] },
      inputs: '{"i":1}',
      secrets: [['KEY', 'a\0b']],
      checkpoint: '5',
    },
  ],
])('an order is the same when it arrives (%s)', (_, order) => {
  expect(readOrder(orderText(order))).toEqual(order);
});
