import { expect, test } from 'vitest';
import { batchOf, findFrom, LineList, looksBad, type SentLine } from './lines.ts';

const AT = '2026-11-16T10:00:00.250Z';
const sent = (no: number, text: string, more: Partial<SentLine> = {}): SentLine => ({
  ...{ no, at: AT, stream: 'stdout', text },
  ...more,
});

test('lines come out of their batches as they went in, empty ones and those with line ends too', () => {
  const lines = new LineList();
  const first = [sent(0, 'one'), sent(1, ''), sent(2, 'two\nthree', { stream: 'stderr', task: 'load' })];
  const second = [sent(0, 'Grüße \u{1f600}', { stream: 'log', task: 'extract' }), sent(3, 'end', { task: 'load' })];
  lines.push(batchOf(first));
  lines.push(batchOf([]));
  lines.push(batchOf(second));
  const read = Array.from({ length: lines.length }, (_, i) => lines.at(i));
  expect(read).toEqual([...first, ...second].map((line) => ({ ...line, at: Date.parse(AT) })));
  expect([lines.at(-1), lines.at(5)]).toEqual([undefined, undefined]);
});

test('a search goes on at the other end', () => {
  const lines = new LineList();
  lines.push(batchOf([sent(0, 'fine'), sent(1, 'Error: no'), sent(2, 'fine')]));
  expect([findFrom(lines, 2, 1, looksBad), findFrom(lines, 0, -1, looksBad)]).toEqual([1, 1]);
  expect(findFrom(lines, 0, 1, ({ text }) => text === 'none')).toBeNull();
});

test.each([
  ['Error: no', 'stdout', true],
  ['Error: no', 'system', false],
  ['fine', 'stderr', false],
  ['{"level":"error","message":"no"}', 'log', true],
  ['{"level":"info","message":"no error"}', 'log', false],
  ['{"level":"info","message":"fine"}', 'log', false],
] as const)('the first line that looks bad is told with the lines: %s in %s', (text, stream, isBad) => {
  const lines = new LineList();
  lines.push(batchOf([sent(0, 'one'), sent(1, 'two')]));
  lines.push(batchOf([sent(2, 'three'), sent(3, text, { stream }), sent(4, 'Error: later')]));
  lines.push(batchOf([sent(5, 'Error: last')]));
  expect(lines.firstBad).toBe(isBad ? 3 : 4);
});
