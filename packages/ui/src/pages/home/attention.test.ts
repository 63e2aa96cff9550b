import { expect, test } from 'vitest';
import { attentionOf, type Facts } from './attention.ts';

const now = Date.parse('2026-11-16T12:00:00.000Z');
const worker = { queues: ['default'], slots: 1, running: 0, draining: false };
const quiet: Facts = {
  letters: { items: [] },
  breakers: { items: [] },
  workers: { items: [worker], cursor: null, missing: [] } as never,
  nodes: { items: [], cursor: null, unowned: 0 },
  waiting: [],
  schedules: [],
  queues: [],
  open: [],
  storage: { disk: { freeBytes: 50e9, totalBytes: 100e9 } },
  databaseTrouble: null,
  now,
};
const textsOf = (facts: Partial<Facts>) => attentionOf({ ...quiet, ...facts }).map(({ text }) => text);
const scheduled = (nextAt: string, paused = false) => ({ dag: 'nightly', fault: null, nextAt, paused });
const waits = {
  id: 'r',
  dag: 'train',
  why: { code: 'no_worker' as const, message: 'Task fit: No worker listens to queue "gpu".' },
};

test.each<[string, Partial<Facts>, string[]]>([
  ['nothing', {}, []],
  [
    'a full disk',
    { storage: { disk: { freeBytes: 4e9, totalBytes: 100e9 } } },
    ['The disk is nearly full: 4.0 GB of 100.0 GB are free.'],
  ],
  ['a small disk with room', { storage: { disk: { freeBytes: 2e9, totalBytes: 4e9 } } }, []],
  ['no database', { databaseTrouble: 'try again later' }, ['The database gives no answer: try again later']],
  [
    'a queue without workers',
    { queues: [{ name: 'gpu', waiting: 3, workers: 0 }] },
    ['3 tasks in queue gpu, which no worker serves.'],
  ],
  ['a queue with workers', { queues: [{ name: 'gpu', waiting: 3, workers: 1 }] }, []],
  [
    'a queue that a run has named',
    { queues: [{ name: 'gpu', waiting: 3, workers: 0 }], waiting: [waits as never] },
    [`train: ${waits.why.message}`],
  ],
  ['a late firing', { schedules: [scheduled('2026-11-16T11:55:00.000Z')] }, ['The next run of nightly is 5 min late.']],
  ['a firing that is due', { schedules: [scheduled('2026-11-16T11:59:30.000Z')] }, []],
  ['a paused one', { schedules: [scheduled('2026-11-16T11:55:00.000Z', true)] }, []],
  [
    'slow runs',
    {
      open: [
        { dag: 'a', slowAt: 'x' },
        { dag: 'b', slowAt: null },
      ],
    },
    ['1 run of a takes longer than expected.'],
  ],
])('of %s people are told what they need', (_, facts, expected) => {
  expect(textsOf(facts)).toEqual(expected);
});
