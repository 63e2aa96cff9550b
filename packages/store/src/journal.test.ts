import type { Change } from '@signalbox/engine';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeChanges, encodeChanges, JOURNAL_FORMAT } from './journal.ts';
import { changeOf, KIND_NAMES } from './journal-samples.testing.ts';

const anyChange = fc.oneof(...KIND_NAMES.map(changeOf));

test('changes of every kind come back from the journal as they went in (I19)', () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 40 }), (changes) => {
      expect(decodeChanges(JOURNAL_FORMAT, encodeChanges(changes))).toEqual(changes);
    }),
  );
});

test('texts of params, outputs and errors stay out of it; that there was one is kept', () => {
  const [change] = fc.sample(changeOf('RunCreated'), 1) as [Change];
  const bytes = encodeChanges([{ ...change, params: 'a secret of the user' } as Change]);
  expect(bytes.includes('secret')).toBe(false);
  expect(decodeChanges(JOURNAL_FORMAT, bytes)).toMatchObject([{ params: '' }]);
});

test('an unknown format, an unknown kind and a cut row are refused', () => {
  expect(() => decodeChanges(JOURNAL_FORMAT + 1, Buffer.alloc(0))).toThrow(`format ${JOURNAL_FORMAT + 1}`);
  expect(() => decodeChanges(JOURNAL_FORMAT, Buffer.from([99]))).toThrow('unknown kind 99');
  expect(() => decodeChanges(JOURNAL_FORMAT, Buffer.from([5]))).toThrow('ends in the middle');
});

test('a removed schedule of the first format did not say what it had decided', () => {
  const change = { kind: 'ScheduleRemoved', shard: 5, dagId: 69, actor: 'x', at: 1_000 };
  // Kind 2: shard, dag, the text of the actor, the instant.
  const bytes = Buffer.from([2, 5, 69, 0, 1, 'x'.charCodeAt(0), (1_000 % 64) + 128, Math.floor(1_000 / 64)]);
  expect(decodeChanges(1, bytes)).toEqual([{ ...change, decidedUntil: 0, scheduleNo: 1, name: 'default' }]);
});
