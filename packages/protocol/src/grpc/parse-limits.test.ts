import { expect, test } from 'vitest';
import { parseWorkerMessage } from './parse.ts';
import { connectMethod, encodeWorkerMessage } from './worker-proto.ts';

const read = (parts: Parameters<typeof encodeWorkerMessage>[0]) =>
  parseWorkerMessage(connectMethod.requestDeserialize(encodeWorkerMessage(parts)));
const claim = { shard: 0, runId: 1, task: 0, attempt: 1, fence: 1 };
const refusal = { claim, token: Buffer.alloc(16), reason: '' };
const ask = {
  no: 1,
  claim,
  token: Buffer.alloc(16),
  extendMs: 0,
  checkpoint: '',
  assertOwned: true,
  addedTasks: '',
};
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

test.each([
  ['held claims', { heartbeat: { no: 1, holds: many(200_001, claim), progress: [] } }],
  ['asks', { requests: many(10_001, ask) }],
  [
    'claims of a hello',
    {
      hello: {
        workerId: 'w',
        name: '',
        queues: [],
        slots: 1,
        holds: many(200_001, claim),
        holdTokens: [],
        draining: false,
      },
    },
  ],
  ['epochs', { holdings: { epochs: many(1_025, { shard: 0, epoch: 1 }), holds: [] } }],
  ['refusals', { refusals: many(10_001, refusal) }],
])('a worker may not name as many %s as it likes (I68)', (_, parts) => {
  expect(() => read(parts)).toThrow('items');
});

test('a message of a worker that is far larger than any it sends is not even read', () => {
  const parts = { refusals: [{ ...refusal, reason: 'x'.repeat(9 * 1024 * 1024) }] };
  expect(() => connectMethod.requestDeserialize(encodeWorkerMessage(parts))).toThrow('bytes');
});
