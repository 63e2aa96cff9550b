/**
 * Rows that older versions wrote, with what those versions themselves read out of them. Those of c83e06e (format 1), f9c03b0
 * (format 2), fb5880c and 444f959 (format 3) come from the journals of real servers; those between were written by the
 * encoders of the commits that changed the layout of format 3 without a new number.
 */
import { readFileSync } from 'node:fs';
import type { Change } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { JOURNAL_FORMAT } from './journal.ts';
import { readRow } from './journal-read.ts';

interface OldRow {
  readonly writtenBy: string;
  readonly format: number;
  readonly shards: readonly number[];
  readonly hex: string;
  readonly changes: readonly Change[];
}

const lines = readFileSync(new URL('./testdata/journal-rows.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const rows = lines.map((line) => JSON.parse(line) as OldRow);
const bytesOf = ({ hex }: OldRow) => Buffer.from(hex, 'hex');

/** Outcomes had other words once; their numbers have stayed. */
const words: Readonly<Record<string, string>> = { failed: 'transient', timed_out: 'timeout' };
const inWordsOfToday = (change: Change): object =>
  change.kind === 'AttemptEnded' ? { ...change, outcome: words[change.outcome] ?? change.outcome } : change;

test.each([...new Set(rows.map(({ writtenBy }) => writtenBy))])('rows that %s wrote are read truly', (commit) => {
  const own = rows.filter(({ writtenBy }) => writtenBy === commit);
  expect(own.length).toBeGreaterThan(5);
  for (const row of own) {
    const { changes, unreadable } = readRow(row.format, bytesOf(row), row.shards);
    expect(unreadable).toBeNull();
    expect(changes).toMatchObject(row.changes.map(inWordsOfToday));
  }
});

test('a row of a newer format, and a damaged row have no changes, and say why', () => {
  const [row] = rows.filter(
    ({ format, changes }) => format === 3 && changes.some(({ kind }) => kind === 'AttemptEnded'),
  );
  if (row === undefined) throw new Error('There is no such row.');
  const bytes = bytesOf(row);
  const whyNot = (format: number, found: Buffer, shards = row.shards) => readRow(format, found, shards).unreadable;
  expect(whyNot(3, bytes)).toBeNull();
  expect(whyNot(JOURNAL_FORMAT + 1, bytes)).toMatchObject({ format: JOURNAL_FORMAT + 1, reason: 'newer_format' });
  for (const format of [0, 1, 2, 3, 4]) {
    expect(whyNot(format, bytes.subarray(0, bytes.length - 3))).toMatchObject({ format, reason: 'damaged' });
  }
  expect(whyNot(3, bytes, [63])).toMatchObject({ reason: 'damaged' });
  expect(whyNot(3, Buffer.from([99]))).toMatchObject({
    reason: 'damaged',
    problem: expect.stringContaining('kind 99'),
  });
});

test('no bytes whatever make the reading of a row throw', () => {
  for (const row of rows.filter((_, i) => i % 7 === 0)) {
    const bytes = bytesOf(row);
    for (let at = 0; at < bytes.length; at += 5) {
      const broken = Buffer.from(bytes);
      broken[at] = (broken[at] ?? 0) ^ 0xff;
      for (const format of [row.format, JOURNAL_FORMAT])
        expect(() => readRow(format, broken, row.shards)).not.toThrow();
    }
  }
});
