import { MAX_LOG_LINE_BYTES } from '@signalbox/protocol/grpc';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AttemptLog, LINE_COST } from './attempt-log.ts';
import { LineSplitter } from './line-splitter.ts';
import { Mask } from './mask.ts';
import { Needles } from './needles.ts';

/** Pieces of a text, cut at random. */
const cutText = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.nat({ max: 40 }), { maxLength: 20 })).map(([whole, cuts]) => {
    const bytes = Buffer.from(whole);
    const places = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b);
    return { whole, chunks: [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length)) };
  });

function splitLines(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line) > 0);
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

test('lines are the same wherever the chunks were cut', () => {
  const text = fc
    .array(fc.constantFrom('a', 'ä', '€', '𝄞', '\n', '\r\n', 'x y'), { maxLength: 30 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(cutText(text), ({ whole, chunks }) => {
      const lines = whole.split(/\r?\n/);
      if (lines.at(-1) === '') lines.pop();
      expect(splitLines(chunks)).toEqual(lines);
    }),
  );
});

test.each([
  ['ASCII', 'x'.repeat(100_000)],
  ['characters of several bytes', '€𝄞'.repeat(10_000)],
])('a long line of %s is cut into lines that can be stored, and loses nothing', (_, text) => {
  const lines = splitLines([Buffer.from(text.slice(0, 9_999)), Buffer.from(`${text.slice(9_999)}\nnext`)]);
  expect(lines.pop()).toBe('next');
  expect(lines.join('').length).toBe(text.length);
  for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_LOG_LINE_BYTES);
});

test('bytes that are no text are replaced, and the line that they make is still not too long', () => {
  const lines = splitLines([Buffer.alloc(20_000, 0xff), Buffer.from('\na\0b')]);
  expect(lines.at(-1)).toBe('a\u{fffd}b');
  for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_LOG_LINE_BYTES);
});

function masked(values: readonly string[], chunks: readonly Buffer[]): string {
  const out: Buffer[] = [];
  const stream = new Mask(values).stream((bytes) => out.push(Buffer.from(bytes)));
  for (const chunk of chunks) stream?.push(chunk);
  stream?.end();
  return Buffer.concat(out).toString();
}

test('a secret is masked wherever the chunks were cut (I67)', () => {
  const text = fc
    .array(fc.constantFrom('abc', 'ab', 'c', 'abd', 'x', 'bcd', 'd', '\n'), { maxLength: 20 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(cutText(text), ({ whole, chunks }) => {
      const out = masked(['abc', 'bcd'], chunks);
      expect(out).toBe(masked(['abc', 'bcd'], [Buffer.from(whole)]));
      expect(out).not.toMatch(/abc|bcd/);
      expect(out.replaceAll('***', '').length).toBeLessThanOrEqual(whole.length);
    }),
  );
});

test.each([
  [['abcdef', 'cd'], ['ab', 'cd', 'ef!'], '***!'],
  [['abcdef', 'cd'], ['ab', 'cd', 'xx'], 'ab***xx'],
  [['abcd', 'cdef'], ['ab', 'cdef'], '***'],
  [['aab'], ['aaab'], 'a***'],
  [['line one\nline two'], ['x line one\nli', 'ne two y'], 'x *** y'],
  [['line one\nline two'], ['only line two'], 'only ***'],
  [['a"b'], ['{"k":"a\\"b"}'], '{"k":"***"}'],
])('of %j nothing is left in %j', (values, chunks, expected) => {
  expect(
    masked(
      values,
      chunks.map((chunk) => Buffer.from(chunk)),
    ),
  ).toBe(expected);
});

test('of secrets that overlap in a text no part is shown', () => {
  expect(new Mask(['abcd', 'cdef']).text('x abcdef y')).toBe('x *** y');
});

// Looking for every secret behind every match took minutes for this, and the worker stood still meanwhile.
test('a flood of secrets costs in proportion to its length', () => {
  const secrets = ['ab"12345', 'another one', 'and a third'];
  expect(masked(secrets, [Buffer.from('ab"12345\n'.repeat(100_000))])).toBe('***\n'.repeat(100_000));
});

test('only what may be the beginning of a needle is held back', () => {
  const needles = new Needles([Buffer.from('secret')]);
  const out: string[] = [];
  const listener = { onBytes: (bytes: Buffer) => out.push(bytes.toString()), onNeedle: () => out.push('*') };
  needles.push(Buffer.from('a line\nsec'), listener);
  expect(out).toEqual(['a line\n']);
  needles.push(Buffer.from('ond'), listener);
  expect(out.join('')).toBe('a line\nsecond');
});

function logInto(
  sink: { take: (line: { stream: string; text: string }) => boolean },
  limits: { keptBytes: number; tailBytes: number },
) {
  return new AttemptLog({ take: (line) => sink.take(line), isBehind: false }, () => 7, limits);
}

test('beyond its limit a log keeps its end, and says how much is missing between', () => {
  const lines: string[] = [];
  const log = logInto(
    { take: ({ stream, text }) => lines.push(`${stream}: ${text}`) > 0 },
    { keptBytes: 3 * (LINE_COST + 6), tailBytes: 16 },
  );
  for (let i = 0; i < 1_000; i++) log.bytes('stdout', Buffer.from(`line ${String(i).padStart(1, '0').slice(-1)}\n`));
  log.end();
  expect(lines).toEqual([
    'stdout: line 0',
    'stdout: line 1',
    'stdout: line 2',
    'system: The log is longer than 114 bytes: of what follows only the last 16 bytes are kept.',
    'system: 7 KiB of the log were left out here.',
    'stdout: line 8',
    'stdout: line 9',
  ]);
});

test('the beginning of a line that was not whole when the limit came stays where it was', () => {
  const lines: string[] = [];
  const log = logInto({ take: ({ text }) => lines.push(text) > 0 }, { keptBytes: LINE_COST + 1, tailBytes: 1_000 });
  log.bytes('stderr', Buffer.from('half'));
  log.bytes('stdout', Buffer.from('a\nb\nc\nha'));
  log.bytes('stdout', Buffer.from('lf\nend\n'));
  log.bytes('stderr', Buffer.from(' of it\n'));
  log.end();
  expect(lines.slice(2)).toEqual(['b', 'c', 'half', 'end', 'half of it']);
});

test('lines that there was no room for are counted, and the log says so where they are missing', () => {
  const lines: string[] = [];
  let isFull = false;
  const log = logInto({ take: ({ text }) => !isFull && lines.push(text) > 0 }, { keptBytes: 10_000, tailBytes: 100 });
  log.line('log', 'a');
  isFull = true;
  log.line('log', 'b');
  log.line('log', 'c');
  isFull = false;
  log.line('log', 'd');
  log.end();
  log.line('log', 'after the end');
  expect(lines).toEqual(['a', '2 lines were left out here: they could not be sent in time.', 'd']);
});
