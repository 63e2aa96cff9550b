import type { RunId } from '@signalbox/engine';
import type { RunView } from '@signalbox/store';
import { expect, test } from 'vitest';
import { KnownCells } from './known-cells.ts';

const run = (runId: number, more: Partial<RunView> = {}) =>
  ({
    ...{
      runId: runId as RunId,
      phase: 'ended',
      outcome: 'failed',
      endedAt: 10,
      reopenedAt: null,
      retries: 0,
      notes: {},
    },
    ...more,
  }) as RunView;
const cells = (size: number) => ({ states: new Uint8Array(size), instances: {}, size });

test('only what has ended is kept', () => {
  const known = new KnownCells();
  known.keep(run(1, { phase: 'open' }), cells(1));
  known.keep(run(2), cells(1));
  expect([run(1), run(2)].map((one) => known.get(one)?.size)).toEqual([undefined, 1]);
});

test.each([
  ['is open again', { phase: 'open' as const }],
  ['was opened again and has ended', { endedAt: 11 as never, reopenedAt: 10 as never }],
  ['was opened again and ended in the same millisecond', { reopenedAt: 10 as never }],
  ['was opened again by its policy', { retries: 1 }],
])('a run that %s is read again', (_, more) => {
  const known = new KnownCells();
  known.keep(run(1), cells(1));
  expect(known.get(run(1, more))).toBeUndefined();
});

test('those that were asked for last stay', () => {
  const known = new KnownCells(10);
  for (const no of [1, 2, 3]) known.keep(run(no), cells(3));
  known.get(run(1));
  known.keep(run(4), cells(4));
  expect([1, 2, 3, 4].map((no) => known.get(run(no))?.size)).toEqual([3, undefined, 3, 4]);
});
