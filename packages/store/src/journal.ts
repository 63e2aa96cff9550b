/**
 * The changes of one commit, packed for the journal: about 17 bytes per change. Texts of params, outputs and errors are left
 * out. Whether there was one is kept, as an empty text, because state depends on it. How a kind is written follows from the
 * list of its fields, in `change/` of the engine.
 *
 * A format never changes once rows of it exist: a new kind or field is a new format, and this file keeps reading the old
 * ones. `journal-formats.test.ts` compares the bytes with those recorded for each format. To read rows, use `readRow` of
 * `journal-read.ts`, which turns an unreadable row into a marker.
 */
import { CHANGE_KINDS, type Change, shardOfRun } from '@signalbox/engine';
import { ByteReader, ByteWriter } from './journal-bytes.ts';
import { layoutsOf } from './journal-layouts.ts';
import { readerOf } from './journal-reader.ts';
import { writerOf } from './journal-writer.ts';

/**
 * 2: dags are retired and revived, tasks retried; schedules have faults, and say what they had decided when they are
 * removed; runs begin by events. 3: facts of params and outputs; runs made by tasks of others. Within format 3 some kinds
 * were added without a new number; that is the mistake that format 4 ends. From 4 on each new kind and each new field
 * names the format that it came with, and the newest of these is the format that is written.
 */
export const JOURNAL_FORMAT = Math.max(
  4,
  ...CHANGE_KINDS.flatMap(({ since, fields }) => [since, ...Object.values(fields).map((field) => field.since)]),
);
const OLDEST_FORMAT = 1;

const KINDS = CHANGE_KINDS.map(({ kind, no, since, fields }) => ({
  ...{ kind, no, since },
  write: writerOf(fields),
  read: readerOf(fields),
}));
const BY_NAME = new Map(KINDS.map((kind) => [kind.kind, kind]));
/** Numbers may have gaps, but no number is given twice. */
const BY_NUMBER = new Map(KINDS.map((kind) => [kind.no, kind]));
if (BY_NUMBER.size < KINDS.length) throw new Error('Two kinds of changes have the same number.');

export function encodeChanges(changes: readonly Change[]): Buffer {
  const to = new ByteWriter();
  for (const change of changes) {
    const kind = BY_NAME.get(change.kind);
    if (kind === undefined) throw new Error(`The journal does not know ${change.kind}.`);
    to.uint(kind.no);
    kind.write(to, change);
  }
  return to.done();
}

/**
 * The changes of a row of this format, in this row's own layout; throws when there is none. Rows of old formats are
 * read in each layout of that format. Only if all layouts that fit give the same changes are these the row's changes.
 */
export function decodeChanges(format: number, bytes: Buffer, shards: readonly number[] | null = null): Change[] {
  if (format < OLDEST_FORMAT || format > JOURNAL_FORMAT) {
    const known = `formats ${OLDEST_FORMAT} to ${JOURNAL_FORMAT}`;
    throw new Error(`A journal row has format ${format}; this version reads ${known}.`);
  }
  const lastKind = Math.max(...KINDS.filter(({ since }) => since <= format).map(({ no }) => no));
  const layouts = layoutsOf(format, lastKind + 1);
  const [only] = layouts;
  if (only !== undefined && layouts.length === 1) return decodeIn(only.layout, only.kindCount, bytes);
  const found = new Map<string, Change[]>();
  let problem: unknown;
  for (const { layout, kindCount } of layouts) {
    try {
      const changes = decodeIn(layout, kindCount, bytes);
      if (shards === null || isWithin(shards, changes)) found.set(JSON.stringify(changes), changes);
    } catch (error) {
      problem ??= error;
    }
  }
  const [first, second] = found.values();
  if (second !== undefined) throw new Error(`A journal row of format ${format} can be read in two ways.`);
  if (first !== undefined) return first;
  throw problem ?? new Error(`A journal row of format ${format} speaks of shards that its commit did not touch.`);
}

function decodeIn(layout: number, kindCount: number, bytes: Buffer): Change[] {
  const from = new ByteReader(bytes);
  const changes: Change[] = [];
  while (!from.atEnd) {
    const number = from.uint();
    const kind = number < kindCount ? BY_NUMBER.get(number) : undefined;
    if (kind === undefined || kind.since > layout)
      throw new Error(`A journal row holds a change of unknown kind ${number}.`);
    changes.push(kind.read(from, layout, { kind: kind.kind }) as unknown as Change);
  }
  return changes;
}

/** A row that is read in another layout than its own soon speaks of shards that its commit did not touch. */
function isWithin(shards: readonly number[], changes: readonly Change[]): boolean {
  return changes.every((change) =>
    shards.includes(
      'runId' in change && change.runId !== null ? shardOfRun(change.runId) : (change as { shard: number }).shard,
    ),
  );
}
