/**
 * Holds that each new kind, field and word of the journal comes with a new format. For each format from 4 on a file records
 * the words of fixed lists, the kinds, their fields, and bytes of some changes. Servers of several versions work on one database during an
 * upgrade: an older one skips rows of a format that it does not know, but takes those of a known format at their word.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Change, WORDS } from '@signalbox/engine';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeChanges, encodeChanges, JOURNAL_FORMAT } from './journal.ts';
import { changeOf, fieldsOf, KIND_NAMES } from './journal-samples.testing.ts';

interface RecordedKind {
  readonly kind: Change['kind'];
  readonly fields: readonly string[];
  readonly samples: readonly { readonly change: Change; readonly hex: string }[];
}

interface Recorded {
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly kinds: readonly RecordedKind[];
}

const FIRST_RECORDED = 4;
const fileOf = (format: number) => new URL(`./testdata/journal-format-${format}.jsonl`, import.meta.url);

const REMEDY = `What the journal writes differs from the record of format ${JOURNAL_FORMAT}, or there is no such record.
A new kind or field has a "since": the format after the last one that is recorded. Record it:
RECORD_JOURNAL_FORMAT=1 npx vitest run packages/store/src/journal-formats.test.ts
Replace the record of a format only if no server outside this repository has ever written that format.`;

if (process.env.RECORD_JOURNAL_FORMAT === '1') record();

test.each(['fields', 'bytes'] as const)('the current format writes the %s that are recorded for it', (what) => {
  expect(existsSync(fileOf(JOURNAL_FORMAT)), REMEDY).toBe(true);
  const { words, kinds: recorded } = read(JOURNAL_FORMAT);
  expect(wordLists(), REMEDY).toEqual(words);
  expect(recorded.map(({ kind }) => kind).sort(), REMEDY).toEqual([...KIND_NAMES].sort());
  for (const { kind, fields, samples } of recorded) {
    if (what === 'fields') expect(fieldNames(kind), `${kind}. ${REMEDY}`).toEqual(fields);
    else
      expect(
        samples.map(({ change }) => hexOf(change)),
        `${kind}. ${REMEDY}`,
      ).toEqual(samples.map(({ hex }) => hex));
  }
});

test('all formats that are recorded can be read', () => {
  for (let format = FIRST_RECORDED; format <= JOURNAL_FORMAT; format++) {
    for (const { samples } of read(format).kinds) {
      for (const { change, hex } of samples) {
        expect(decodeChanges(format, Buffer.from(hex, 'hex'))).toMatchObject([change]);
      }
    }
  }
});

/** The journal holds the number of a kind, so that a kind may get another name. A record keeps the name of its time. */
const NAMED_NOW: Readonly<Record<string, Change['kind']>> = {
  SecondClaimed: 'SpeculativeClaimed',
  SecondReturned: 'SpeculativeReturned',
  SecondEnded: 'SpeculativeEnded',
  SecondTookOver: 'SpeculativeTookOver',
};

function read(format: number): Recorded {
  const rename = (key: string, value: unknown) => (key === 'kind' ? (NAMED_NOW[value as string] ?? value) : value);
  const [first = '', ...lines] = readFileSync(fileOf(format), 'utf8').trim().split('\n');
  return { words: JSON.parse(first), kinds: lines.map((line) => JSON.parse(line, rename) as RecordedKind) };
}

/** A word is written as its number, so a reader that does not know the word can't read the row. */
function wordLists(): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(WORDS).map(([name, { words }]) => [name, words]));
}

function fieldNames(kind: Change['kind']): string[] {
  return Object.keys(fieldsOf(kind)).sort();
}

function hexOf(change: Change): string {
  return encodeChanges([change]).toString('hex');
}

function record(): void {
  const lines = KIND_NAMES.toSorted().map((kind) => {
    const drawn = fc.sample(changeOf(kind), { seed: 4, numRuns: 4 });
    const samples = drawn.map((change) => ({ change, hex: hexOf(change) }));
    const line = JSON.stringify({ kind, fields: fieldNames(kind), samples });
    // Only ASCII in the file, whatever the texts hold.
    return line.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  });
  lines.unshift(JSON.stringify(wordLists()));
  writeFileSync(fileOf(JOURNAL_FORMAT), `${lines.join('\n')}\n`);
}
